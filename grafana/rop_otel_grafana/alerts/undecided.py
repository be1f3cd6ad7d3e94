"""``HandoffsUndecided``: handoffs that should be PASS or FAIL, and are neither."""

from __future__ import annotations

from rop_otel import Verdict, semconv
from rop_otel_grafana.alerts.alert import Alert, Page, asked_of, subject
from rop_otel_grafana.page_views import of_verdict
from rop_otel_grafana.promql import VERDICT, handoff_labels, one_of, recorded, select, sum_increase
from rop_otel_grafana.recording import DECIDED, UNDECIDED, UNDECIDED_SHARE
from rop_otel_grafana.settings import Settings

NAME = "HandoffsUndecided"


def alerts(settings: Settings) -> list[Alert]:
    """Return the rules: a share of many, and a handoff of which nothing else was seen, however rare it is."""
    watch, labels = settings.undecided, handoff_labels(settings)
    return [
        Alert(
            name=NAME,
            expression=f"{recorded(UNDECIDED_SHARE.over(watch.window))} > {watch.above:g}",
            hold=watch.hold,
            severity="warning",
            labels={"undecided": "share"},
            view=of_verdict(asked_of, Verdict.UNVERIFIABLE),
            summary=f"Many cases of {subject(settings)} are neither PASS nor FAIL",
            description=(
                f"{{{{ $value | humanizePercentage }}}} of all cases of {subject(settings)} were neither PASS nor FAIL:"
                " nobody knows whether the selected object reached the reader, or at which stage and for which cause it"
                " was lost."
            ),
        ),
        Alert(
            name=NAME,
            expression=(
                f"{_counted(settings, UNDECIDED)} > 0\n"
                f"unless on ({', '.join(labels)}) {_counted(settings, DECIDED)} > 0"
            ),
            hold="1m",
            severity="warning",
            labels={"undecided": "only"},
            view=of_verdict(asked_of, Verdict.UNVERIFIABLE),
            summary=f"Nothing is known of {subject(settings)}",
            description=(
                f"Every case of {subject(settings)} in the last {watch.only} was neither PASS nor FAIL: no loss can be"
                " seen, at any stage or for any cause."
            ),
        ),
    ]


def _counted(settings: Settings, verdicts: tuple[str, ...]) -> str:
    selector = select(settings, semconv.VERDICTS.prometheus, one_of(VERDICT, verdicts))
    return sum_increase(handoff_labels(settings), selector, settings.undecided.only)


def page(settings: Settings) -> Page:
    """Return what the runbook says."""
    verdicts = select(settings, semconv.VERDICTS.prometheus)
    return Page(
        name=NAME,
        means=(
            "A selection was due, and it is unknown whether it reached the reader. No share of losses counts such"
            " handoffs, so every other panel may look good. `undecided` is `share` if too many handoffs are undecided,"
            f" and `only` if all handoffs of a name were for {settings.undecided.only}. In most cases such a handoff is"
            " not monitored as intended."
        ),
        see=(
            ("Which verdicts?", sum_increase(handoff_labels(settings, VERDICT), verdicts, "1h")),
            ("What share?", recorded(UNDECIDED_SHARE.over(settings.window))),
        ),
        attempts=(
            (
                f"`{Verdict.UNVERIFIABLE.value}`: `rop-otel replay` says why for each handoff. No stage was seen, no ID"
                " could be read, packing failed, or the prompt holds no document (`ContextNotInPrompt`)."
            ),
            f"`{Verdict.SELECTOR_ERROR.value}`: the selector gave nothing, or something that is no ID.",
            (
                f"`{Verdict.RESOLUTION_ERROR.value}`: the resolver does not know the selected object. Is the resolver"
                " older than the index?"
            ),
            (
                f"`{Verdict.DECLARATION_INVALID.value}`: mode, need, rule or cutoff is not allowed, or is not the one"
                " of the declaration."
            ),
            "Is no selection due here? Then open the handoff without one.",
        ),
    )
