"""The dashboard *Stages*: how good is each stage, and which one became worse?"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as build

from rop_otel.core.handoff import ContextFinding
from rop_otel.core.measures import RECALL
from rop_otel.core.measures.every import MEASURES
from rop_otel.core.measures.measure import Measure
from rop_otel_grafana import queries
from rop_otel_grafana.dashboards.board import assemble, depth, handoff, page, stage
from rop_otel_grafana.dashboards.page_links import of_series, to_page
from rop_otel_grafana.page_views import found
from rop_otel_grafana.panels import Panel, Query, Scale, bad_above, neutral
from rop_otel_grafana.promql import FORM, HANDOFF, IMPLEMENTATION, ONLY, ROUND, STAGE, TARGET
from rop_otel_grafana.settings import Settings

_STAGE = f"{{{{{HANDOFF}}}}} {{{{{STAGE}}}}}"
_SCORE = Scale(unit="percentunit", steps=((0.0, "red"), (0.5, "orange"), (0.8, "green")), high=1.0)
_SLOW = 1.0


def board(settings: Settings) -> build.Dashboard:
    """Return the dashboard."""
    return assemble(
        settings,
        uid="rop-stages",
        title="Stages",
        description="How good is each stage, for selected and for judged objects, and how long does it take?",
        variables=(handoff(settings), stage(settings), depth(), *page(settings)),
        rows={
            "Quality: selected objects left, judged objects right": _quality(settings),
            "Sources, rounds and forms of the query": _arms(settings),
            "Work": _work(settings),
        },
    )


def _quality(settings: Settings) -> list[Panel]:
    return [
        Panel(
            title=f"{measure.title}{k and '@'}{k}, {target}",
            description=f"{measure.description} By stage; `shown` is what the reader was shown. A mean over the lists"
            " of which it is known; without such a list there is no value. After a reorder, ranks are places in the"
            " context.",
            kind="lines",
            queries=(
                Query(expression=queries.score(settings, target=target, measure=measure.name, k=k), legend=_STAGE),
            ),
            scale=_SCORE if measure.fills else neutral("percentunit"),
        )
        for measure, k in zip(MEASURES, map(_depth, MEASURES), strict=True)
        for target in ("selected", "judged")
    ]


def _depth(measure: Measure) -> str:
    """Return the depth at which a measure is shown: the dashboard's variable where it has those, else the largest."""
    return "$k" if measure.ks == RECALL.ks else str(measure.ks[-1] or "")


def _arms(settings: Settings) -> list[Panel]:
    return [
        Panel(
            title=f"Each arm against fusion, {RECALL.title}@$k",
            description="Recall of an arm minus recall of the fusion that it feeds. Above 0 the arm alone would find"
            " more than the hybrid does.",
            kind="lines",
            queries=(Query(expression=queries.arm_gain(settings), legend=f"{_STAGE} {{{{{TARGET}}}}}"),),
            scale=Scale(unit="percentunit", steps=((-1.0, "green"), (0.0, "orange"), (0.1, "red")), low=None),
        ),
        Panel(
            title="What each source is worth",
            description="Shown IDs for each handoff that a source returned. Without a source, the reader would not be"
            " shown what only this one returned (`only true`).",
            kind="stacked",
            queries=(Query(expression=queries.sources(settings), legend=f"{_STAGE} only {{{{{ONLY}}}}}"),),
            scale=neutral("short"),
        ),
        Panel(
            title=f"Rounds, {RECALL.title}@$k",
            description="Recall of each stage by round, where stages report rounds: does a further round find more?",
            kind="lines",
            queries=(
                Query(
                    expression=queries.recall_by_round(settings), legend=f"{_STAGE} {{{{{TARGET}}}}} {{{{{ROUND}}}}}"
                ),
            ),
            scale=_SCORE,
        ),
        Panel(
            title="Forms of the query, survival",
            description="Share of a source's lists that hold the selected object, by how the query was built.",
            kind="lines",
            queries=(Query(expression=queries.survival_by_form(settings), legend=f"{_STAGE} {{{{{FORM}}}}}"),),
            scale=_SCORE,
        ),
    ]


def _work(settings: Settings) -> list[Panel]:
    return [
        Panel(
            title="Duration",
            description="Median and 95th percentile of the time that a stage takes, from a histogram.",
            kind="lines",
            queries=(
                Query(expression=queries.duration(settings, 0.5), legend=f"{_STAGE} p50"),
                Query(expression=queries.duration(settings, 0.95), legend=f"{_STAGE} p95"),
            ),
            scale=bad_above(_SLOW, unit="s"),
        ),
        Panel(
            title="Executions",
            description="How often each stage runs. A stage that stops while others go on is left out or not observed.",
            kind="lines",
            queries=(Query(expression=queries.executions(settings), legend=_STAGE),),
            scale=neutral("ops"),
        ),
        Panel(
            title="What really runs",
            description="How often each implementation of a stage runs. A fallback that takes over shows here, and in"
            " the share below.",
            kind="stacked",
            queries=(Query(expression=queries.implementations(settings), legend=f"{_STAGE} {{{{{IMPLEMENTATION}}}}}"),),
            scale=neutral("ops"),
        ),
        Panel(
            title="Fallbacks",
            description="Share of handoffs in which a stage ran its fallback.",
            kind="lines",
            queries=(Query(expression=queries.found(settings, ContextFinding.FALLBACK_USED), legend=_STAGE),),
            scale=bad_above(settings.fallback.above, unit="percentunit"),
            links=to_page(settings, found(of_series)),
        ),
        Panel(
            title="Forms of the query, executions",
            description="How often each source looks for a query of each form.",
            kind="stacked",
            queries=(Query(expression=queries.forms(settings), legend=f"{_STAGE} {{{{{FORM}}}}}"),),
            scale=neutral("ops"),
        ),
        Panel(
            title="IDs returned",
            description="Mean length of each stage's list.",
            kind="gauge",
            queries=(Query(expression=queries.returned(settings), legend=_STAGE),),
            scale=neutral("short"),
        ),
    ]
