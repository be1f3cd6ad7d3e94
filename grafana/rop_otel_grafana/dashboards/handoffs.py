"""The dashboard *Handoffs*: do the selected objects reach the reader, and where are the others lost?"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as build

from rop_otel import Verdict
from rop_otel.core.handoff import LabelFinding, PassageFinding
from rop_otel_grafana import queries
from rop_otel_grafana.dashboards import traces
from rop_otel_grafana.dashboards.board import assemble, handoff, page, stage
from rop_otel_grafana.dashboards.page_links import of_row, of_series, to_page
from rop_otel_grafana.page_views import found, lost, of_run, of_verdict
from rop_otel_grafana.panels import Panel, Query, Scale, bad_above, good_when_high, neutral
from rop_otel_grafana.promql import (
    AGREEMENT,
    CAUSE,
    DROPPED_AT,
    FINDING,
    HANDOFF,
    JOINT,
    OUTCOME,
    RUN,
    STAGE,
    STATUS,
    VERDICT,
)
from rop_otel_grafana.settings import Settings

_LOST = f"{{{{{DROPPED_AT}}}}} {{{{{CAUSE}}}}}"


def board(settings: Settings) -> build.Dashboard:
    """Return the dashboard."""
    return assemble(
        settings,
        uid="rop-handoffs",
        title="Handoffs",
        description="Do selected objects reach the reader, and where are the others lost?",
        variables=(handoff(settings), stage(settings), *page(settings)),
        rows={
            "Now": _now(settings),
            "Selected objects": _selected(settings),
            "Judged objects": _judged(settings),
            "Findings, citations and answers": _checks(settings),
            "Runs": _runs(settings),
        },
    )


def _named(label: str) -> str:
    return f"{{{{{HANDOFF}}}}} {{{{{label}}}}}"


def _now(settings: Settings) -> list[Panel]:
    by_handoff = f"{{{{{HANDOFF}}}}}"
    returned = good_when_high(settings.target)
    return [
        Panel(
            title="Selected-return rate",
            description=f"Share of selected objects that reached the reader over {settings.window}, among the handoffs"
            f" that were PASS or FAIL. Green from the target ({settings.target:.1%}) on.",
            kind="stat",
            queries=(Query(expression=queries.return_rate(settings), legend=by_handoff),),
            scale=returned,
            links=to_page(settings, of_verdict(of_series, Verdict.FAIL)),
            width=6,
            height=5,
        ),
        Panel(
            title="Decided handoffs",
            description="Handoffs in the shown time that were PASS or FAIL. None: the shares beside it have no data.",
            kind="stat",
            queries=(Query(expression=queries.decided(settings), legend="decided"),),
            scale=Scale(unit="short", steps=((0.0, "orange"), (1.0, "blue"))),
            width=4,
            height=5,
        ),
        Panel(
            title="Selected objects lost",
            description="Handoffs in the shown time that were FAIL.",
            kind="stat",
            queries=(Query(expression=queries.losses(settings), legend="lost"),),
            scale=bad_above(1, unit="short"),
            links=to_page(settings, {"verdict": Verdict.FAIL.value}),
            width=4,
            height=5,
        ),
        Panel(
            title="Wrong citations",
            description=f"Share of citations over {settings.window} that resolve to another passage than the reader saw"
            " under their label.",
            kind="stat",
            queries=(Query(expression=queries.wrong_citations(settings), legend=by_handoff),),
            scale=bad_above(settings.misattributed.above, unit="percentunit"),
            links=to_page(settings, found(of_series, LabelFinding.LABEL_MISATTRIBUTED)),
            width=5,
            height=5,
        ),
        Panel(
            title="Errors found",
            description=f"Findings of severity error per handoff over {settings.window}.",
            kind="stat",
            queries=(Query(expression=queries.errors_found(settings), legend=by_handoff),),
            scale=bad_above(settings.starved.above, unit="percentunit"),
            width=5,
            height=5,
        ),
    ]


def _selected(settings: Settings) -> list[Panel]:
    return [
        Panel(
            title="Selected-return rate over time",
            description="Share of selected objects that reached the reader. The dashed line is the target; a gap is"
            " missing data and says nothing about losses.",
            kind="lines",
            queries=(Query(expression=queries.return_rate(settings), legend=f"{{{{{HANDOFF}}}}}"),),
            scale=good_when_high(settings.target),
            links=to_page(settings, of_verdict(of_series, Verdict.FAIL)),
        ),
        Panel(
            title="Verdicts",
            description="Share of handoffs with each verdict. UNVERIFIABLE and the errors are neither PASS nor FAIL.",
            kind="stacked",
            queries=(Query(expression=queries.verdicts(settings), legend=_named(VERDICT)),),
            scale=neutral("percentunit"),
            links=to_page(settings, of_verdict(of_series)),
        ),
        Panel(
            title="Losses by stage and cause",
            description="Selected objects that did not reach the reader. A point is one of them, and leads to its"
            " trace. Each bar links to its handoffs on the page, and to their traces.",
            kind="bars",
            queries=(Query(expression=queries.misses(settings), legend=_LOST),),
            scale=bad_above(1, unit="short"),
            links=(*to_page(settings, lost(of_series)), traces.from_series(settings)),
            exemplars=True,
        ),
        Panel(
            title="Where are they lost?",
            description="The losses of the shown time by stage and cause. A row links to its handoffs on the page, and"
            " to their traces. An empty table is no loss only where the number of decided handoffs is not 0.",
            kind="table",
            queries=(Query(expression=queries.misses_in_range(settings)),),
            scale=bad_above(1, unit="short"),
            links=(*to_page(settings, lost(of_row)), traces.from_row(settings)),
        ),
        Panel(
            title="Survival funnel",
            description=f"Share of each stage's lists that hold the selected object, over {settings.window}. A fall"
            " from one stage to the next is a loss there.",
            kind="gauge",
            queries=(Query(expression=queries.survival(settings), legend=_named(STAGE)),),
            scale=good_when_high(settings.target),
        ),
        Panel(
            title="Context use",
            description="Share of the token budget that packing used. Near 0 the reader is starved, at 1 it is full.",
            kind="lines",
            queries=(Query(expression=queries.context(settings), legend=f"{{{{{HANDOFF}}}}}"),),
            scale=Scale(unit="percentunit", steps=((0.0, "red"), (0.1, "blue")), high=1.0),
        ),
    ]


def _judged(settings: Settings) -> list[Panel]:
    joint = f"{{{{{HANDOFF}}}}} {{{{{JOINT}}}}}, selected is judged: {{{{{AGREEMENT}}}}}"
    return [
        Panel(
            title="Judged objects lost for each handoff",
            description=f"Mean number of judged objects that the reader was not shown, by stage and cause, over"
            f" {settings.window}, of the handoffs with judged objects. An alert compares it with the day before.",
            kind="lines",
            queries=(Query(expression=queries.judged_misses(settings), legend=f"{{{{{HANDOFF}}}}} {_LOST}"),),
            scale=Scale(unit="short", steps=((0.0, "green"), (settings.judged.by, "orange"), (1.0, "red"))),
        ),
        Panel(
            title="Where is judged evidence lost?",
            description="The judged objects lost in the shown time by stage and cause.",
            kind="table",
            queries=(Query(expression=queries.judged_misses_in_range(settings)),),
            scale=bad_above(1, unit="short"),
        ),
        Panel(
            title="Both targets together",
            description="Which of both targets the reader was shown: the selected object, a judged one, both or"
            " neither; of the handoffs with both. `judged_only` is a selection that missed what retrieval found.",
            kind="stacked",
            queries=(Query(expression=queries.joints(settings), legend=joint),),
            scale=neutral("percentunit"),
        ),
        Panel(
            title="What the prompt holds",
            description="Findings per handoff: no text of any document, or only a part of a selected or judged one.",
            kind="lines",
            queries=(
                Query(
                    expression=queries.found(
                        settings, PassageFinding.CONTEXT_NOT_IN_PROMPT, PassageFinding.PASSAGE_CUT
                    ),
                    legend=f"{{{{{STAGE}}}}} {{{{{FINDING}}}}}",
                ),
            ),
            scale=bad_above(settings.unseen.above, unit="percentunit"),
            links=to_page(settings, found(of_series)),
        ),
    ]


def _checks(settings: Settings) -> list[Panel]:
    return [
        Panel(
            title="Findings",
            description="Findings per handoff, by stage and code.",
            kind="lines",
            queries=(Query(expression=queries.findings(settings), legend=f"{{{{{STAGE}}}}} {{{{{FINDING}}}}}"),),
            scale=bad_above(settings.starved.above, unit="percentunit"),
            links=to_page(settings, found(of_series)),
        ),
        Panel(
            title="Citations",
            description="Share of citations by what their label resolves to. Only `resolved` is right.",
            kind="stacked",
            queries=(Query(expression=queries.citations(settings), legend=_named(OUTCOME)),),
            scale=neutral("percentunit"),
        ),
        Panel(
            title="Answers and abstentions",
            description="Share of answers that say that they cannot answer, among those of which this is known.",
            kind="stacked",
            queries=(Query(expression=queries.answers(settings), legend=_named(OUTCOME)),),
            scale=neutral("percentunit"),
        ),
        Panel(
            title="Neither PASS nor FAIL",
            description="Share of handoffs with a due selection of which it is unknown whether the selected object"
            " arrived.",
            kind="lines",
            queries=(Query(expression=queries.undecided(settings), legend=f"{{{{{HANDOFF}}}}}"),),
            scale=bad_above(settings.undecided.above, unit="percentunit"),
            links=to_page(settings, of_verdict(of_series, Verdict.UNVERIFIABLE)),
        ),
    ]


def _runs(settings: Settings) -> list[Panel]:
    failing = Scale(unit="short", steps=((0.0, "blue"),))
    return [
        Panel(
            title="Runs",
            description="The status that each run has now. Only RUN_PASS is a success; a run that is not listed is not"
            " known.",
            kind="table",
            queries=(Query(expression=queries.run_status(settings), legend=f"{{{{{RUN}}}}} {{{{{STATUS}}}}}"),),
            scale=failing,
            links=to_page(settings, of_run(of_row)),
        ),
        Panel(
            title="Records of runs",
            description="Records of each run by verdict; MISSING ones were declared and not seen.",
            kind="gauge",
            queries=(Query(expression=queries.run_records(settings), legend=f"{{{{{RUN}}}}} {{{{{VERDICT}}}}}"),),
            scale=neutral("short"),
            links=to_page(settings, of_run(of_series)),
        ),
    ]
