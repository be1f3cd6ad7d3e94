"""Alerts about single stages: recall, the reranker's fallback, the context, the scope."""

from __future__ import annotations

from rop_otel import semconv
from rop_otel.core.handoff import ContextFinding, ListFinding, kinds
from rop_otel.core.measures import NDCG, RECALL
from rop_otel_grafana.alerts.alert import Alert, Page, asked_of, subject, value_of
from rop_otel_grafana.page_views import found, named
from rop_otel_grafana.promql import (
    FINDING,
    MEASURE,
    STAGE,
    TARGET,
    K,
    equal,
    growth,
    handoff_labels,
    recorded,
    select,
    sum_increase,
)
from rop_otel_grafana.recording import FINDING_SHARE, SCORE
from rop_otel_grafana.settings import Settings

DROPPED, FALLBACK, STARVED, LEAK = "StageRecallDropped", "RerankerFallback", "ContextStarved", "ScopeLeak"

_SHARE = "{{ $value | humanizePercentage }}"


def alerts(settings: Settings) -> list[Alert]:
    """Return the rules."""
    return [_recall(settings), _fallback(settings), _starved(settings), _leak(settings)]


def pages(settings: Settings) -> list[Page]:
    """Return what the runbook says."""
    return [_recall_page(settings), _fallback_page(settings), _starved_page(settings), _leak_page(settings)]


def _recall(settings: Settings) -> Alert:
    drop = settings.recall
    at = (equal(MEASURE, RECALL.name), equal(K, str(drop.k)))
    now = recorded(SCORE.over(drop.window), *at)
    labels = handoff_labels(settings, STAGE, TARGET, MEASURE, K)
    lists = select(settings, semconv.STAGE_SCORED.prometheus, *at)
    return Alert(
        name=DROPPED,
        expression=(
            f"{now} offset {drop.earlier} - {now} > {drop.by:g}\n"
            f"and {sum_increase(labels, lists, drop.window)} >= {drop.least}\n"
            f"and {sum_increase(labels, lists, drop.window, offset=drop.earlier)} >= {drop.least}"
        ),
        hold=drop.hold,
        severity="warning",
        view=named(asked_of),
        summary=f"Recall of stage {value_of(STAGE)} has dropped, {subject(settings)}",
        description=(
            f"{RECALL.at(drop.k)} of {value_of(TARGET)} objects at stage {value_of(STAGE)} of {subject(settings)},"
            f' taken over {drop.window}, is {{{{ printf "%.2f" $value }}}} lower than it was {drop.earlier} earlier'
            " (cause: the first stage in order that shows it)."
        ),
    )


def _recall_page(settings: Settings) -> Page:
    at = (equal(MEASURE, RECALL.name), equal(K, str(settings.recall.k)))
    score = recorded(SCORE.over(settings.recall.window), *at)
    return Page(
        name=DROPPED,
        means=(
            f"A stage finds clearly less of what it should find than the same stage did {settings.recall.earlier}"
            " earlier. `selected` is about the object that was selected, `judged` about all judged relevant ones."
        ),
        see=(
            ("How much has each stage lost?", f"{score} offset {settings.recall.earlier} - {score}"),
            ("At which stage does it begin?", score),
        ),
        attempts=(
            (
                "Find the first stage in order with the drop: the later ones only inherit it. Reranking cannot find"
                " what no source returned."
            ),
            "Is the drop in one arm only? Then was its index built again, or its model or tokenizer replaced?",
            (
                "Is the drop in fusion while both arms are stable? The weights suit another corpus. Which arm is better"
                " differs from corpus to corpus; do not set one global weight from one set of questions."
            ),
            "Have the questions changed? Compare the number of scored lists. A new kind of question is no regression.",
            "Is retrieval repeatable? Ask the same questions twice before you blame a change.",
            (
                "After the reorder stage a drop of recall at a small depth is intended: there, ranks are places in the"
                " context."
            ),
        ),
    )


def _fallback(settings: Settings) -> Alert:
    watch = settings.fallback
    share = recorded(
        FINDING_SHARE.over(watch.window), equal(FINDING, ContextFinding.FALLBACK_USED), equal(STAGE, kinds.RERANK)
    )
    return Alert(
        name=FALLBACK,
        expression=f"{share} > {watch.above:g}",
        hold=watch.hold,
        severity="warning",
        view=found(asked_of),
        summary=f"The reranker of {subject(settings)} runs its fallback",
        description=(
            f"In {_SHARE} of all handoffs, stage {value_of(STAGE)} of {subject(settings)} ran its fallback and not the"
            f" model (cause {value_of(FINDING)})."
        ),
    )


def _fallback_page(settings: Settings) -> Page:
    finding = equal(FINDING, ContextFinding.FALLBACK_USED)
    return Page(
        name=FALLBACK,
        means=(
            "Reranking goes on, with a heuristic in place of the model. Nothing fails, so only the ranking shows it."
        ),
        see=(
            ("How often, and at which stage?", recorded(FINDING_SHARE.over(settings.window), finding)),
            (
                "What does it cost?",
                recorded(
                    SCORE.over(settings.window), equal(MEASURE, NDCG.name), equal(K, "10"), equal(STAGE, kinds.RERANK)
                ),
            ),
        ),
        attempts=(
            f"`{semconv.STAGE_IMPLEMENTATION}` on the stage span says what really ran.",
            "Are the model's file and its tokenizer both there, in every process? One missing file is enough.",
            "Does the model time out or run out of memory under load? Look at the duration of the stage.",
        ),
    )


def _starved(settings: Settings) -> Alert:
    watch = settings.starved
    share = recorded(FINDING_SHARE.over(watch.window), equal(FINDING, ContextFinding.STARVED_CONTEXT))
    return Alert(
        name=STARVED,
        expression=f"{share} > {watch.above:g}",
        hold=watch.hold,
        severity="warning",
        view=found(asked_of),
        summary=f"The reader of {subject(settings)} is shown next to nothing",
        description=(
            f"In {_SHARE} of all handoffs, stage {value_of(STAGE)} of {subject(settings)} was handed documents and"
            f" used almost nothing of its token budget (cause {value_of(FINDING)})."
        ),
    )


def _starved_page(settings: Settings) -> Page:
    labels = handoff_labels(settings)
    used = sum_increase(labels, select(settings, semconv.CONTEXT_TOKENS_USED.prometheus), "15m")
    budget = sum_increase(labels, select(settings, semconv.CONTEXT_BUDGET.prometheus), "15m")
    finding = equal(FINDING, ContextFinding.STARVED_CONTEXT)
    return Page(
        name=STARVED,
        means=(
            "Retrieval found documents, and the reader still gets almost no text: a heading, a file name. Every score"
            " of the stages before may be perfect."
        ),
        see=(
            ("How much of the budget is used?", f"{used} / {budget}"),
            ("In how many handoffs is it starved?", recorded(FINDING_SHARE.over(settings.window), finding)),
        ),
        attempts=(
            (
                "Does sentence selection match the question's words literally? Retrieval stems them, so what was found"
                " for *reprocessed* is thrown away for *reprocessing*."
            ),
            "Keep whole passages where selection leaves too little.",
            "Is the budget counted in the unit that the packer uses (tokens, not characters)?",
            (
                "Does this handoff need only little context? Open it with a `starved_ratio` of its own; if others make"
                f" its span, set `{semconv.STARVED_RATIO}` on it."
            ),
        ),
    )


def _leak(settings: Settings) -> Alert:
    labels = handoff_labels(settings, STAGE, FINDING)
    leaked = select(settings, semconv.FINDINGS_COUNT.prometheus, equal(FINDING, ListFinding.SCOPE_LEAK))
    return Alert(
        name=LEAK,
        expression=f"{growth(labels, leaked, settings.leak)} > 0",
        hold=settings.interval,
        severity="critical",
        view=found(asked_of),
        summary=f"Documents of another scope came into {subject(settings)}",
        description=(
            f"Stage {value_of(STAGE)} of {subject(settings)} returned documents of another scope than the handoff's"
            f" within {settings.leak} (cause {value_of(FINDING)})."
        ),
    )


def _leak_page(settings: Settings) -> Page:
    labels = handoff_labels(settings, STAGE)
    leaked = select(settings, semconv.FINDINGS_COUNT.prometheus, equal(FINDING, ListFinding.SCOPE_LEAK))
    return Page(
        name=LEAK,
        means=(
            "A query confined to one library, tenant or container got documents of another one. One document is enough"
            " for this alert, whatever the ranking did with it afterwards. After Prometheus was down for longer than"
            f" {settings.leak}, the alert may also report leaks from before."
        ),
        see=(("Where do they come in?", growth(labels, leaked, "1h")),),
        attempts=(
            "Take the first stage in order: usually a source whose filter is gone or is applied after the cut.",
            "Look at the finding's message on the trace: it names the documents.",
            "Treat it as an incident where scopes are tenants: find out who was shown what.",
            "Is the scope of some documents wrong in the index, rather than the query's?",
        ),
    )
