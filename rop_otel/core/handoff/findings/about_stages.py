"""Findings about a stage's own report of how it ran: starved context, a fallback, a failure, a late end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Finding, FindingCode, Severity
from rop_otel.core.handoff.expected import Expected
from rop_otel.core.handoff.findings.making import finding_at, named
from rop_otel.core.handoff.stage_graph import StageGraph

STARVED_RATIO: Final = 0.1
"""Share of its token budget below which packing is starved, where the handoff does not say."""


class ContextFinding(FindingCode):
    """What a stage's own report, or its absence, may show."""

    STARVED_CONTEXT = (
        "starved_context",
        Severity.ERROR,
        "{stage} used {tokens} of {budget} tokens though it was handed documents",
    )
    FALLBACK_USED = "fallback_used", Severity.WARNING, "{stage} ran its fallback{ran}"
    STAGE_FAILED = "stage_failed", Severity.ERROR, "{stage} failed{then}"
    STAGE_NOT_OBSERVED = "stage_not_observed", Severity.WARNING, "the declared stage {entry} was not observed"
    STAGE_LATE = "stage_late", Severity.WARNING, "{stage} ended after its handoff and is left out"


def about_running(graph: StageGraph) -> Iterator[tuple[int, Finding]]:
    """Yield the place and finding of everything that is wrong with how a kept stage ran."""
    ratio = STARVED_RATIO if graph.record.starved_ratio is None else graph.record.starved_ratio
    for place, stage in enumerate(graph.stages):
        if stage.fallback:
            ran = f", {stage.implementation}" if stage.implementation else ""
            yield graph.places[place], finding_at(stage, ContextFinding.FALLBACK_USED, ran=ran)
        if stage.failed:
            yield graph.places[place], finding_at(stage, ContextFinding.STAGE_FAILED, then="")
    for place in graph.showing:
        stage = graph.stages[place]
        if stage.kind != kinds.PACKING or stage.tokens is None or stage.token_budget is None:
            continue
        if _is_less(stage.tokens, stage.token_budget, ratio) and graph.was_handed_documents(place):
            found = ContextFinding.STARVED_CONTEXT
            finding = finding_at(stage, found, tokens=stage.tokens, budget=stage.token_budget)
            yield graph.places[place], finding


def _is_less(tokens: int, budget: int, ratio: float) -> bool:
    """Return whether tokens are less than a share of a budget; never of a budget of nothing."""
    try:
        # Divided, not multiplied: 7 / 100 is the same float as 0.07, while 0.07 * 100 is more than 7.
        return budget > 0 and tokens / budget < ratio
    except OverflowError:
        return False


def about_left_out(graph: StageGraph) -> Iterator[tuple[int, Finding]]:
    """Yield the place and finding of everything about the stages that ended late or failed to pack."""
    if not graph.left_out:
        return
    for place, stage, late in graph.left_out:
        if late:
            yield place, finding_at(stage, ContextFinding.STAGE_LATE)
        if stage.failed:
            retried = bool(graph.showing) and not late
            severity = Severity.WARNING if retried else Severity.ERROR
            then = " and is left out; another packing or rescue is there" if retried else " and is left out"
            yield place, finding_at(stage, ContextFinding.STAGE_FAILED, severity=severity, then=then)


def not_observed(expected: Expected) -> Iterator[Finding]:
    """Yield one finding for each declared stage that no span showed."""
    code = ContextFinding.STAGE_NOT_OBSERVED
    for entry in expected.missing:
        message = code.message.format(entry=named(entry))
        yield Finding(code=code, severity=code.severity, stage=entry, message=message)
