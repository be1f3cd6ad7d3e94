"""Failures that real pipelines had, each in one part, with the finding and drop cause that the monitor must report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final

from rop_otel.core.handoff import (
    ContextFinding,
    DropCause,
    FindingCode,
    LabelFinding,
    ListFinding,
    PassageFinding,
    RankingFinding,
    kinds,
)
from rop_otel.errors import PipelineError
from rop_otel.reference.parts import Parts
from rop_otel.reference.query import Query
from rop_otel.reference.stages import Hit, Packed, Passage, Placed
from rop_otel.reference.stages.ordering import expand_all, select_literally
from rop_otel.reference.stages.packing import pack_prefix, write_context
from rop_otel.reference.stages.reranking import Reranker
from rop_otel.reference.tools import Tools

PREFIX = 4
HANDED_OVER = 4
CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One injected failure.

    Args:
        name: What ``--fault`` calls it.
        description: What is wrong, and why nobody notices.
        finding: The finding that the monitor must report.
        cause: The drop cause of the objects that it loses; None if it need not lose any.
        stage: Where the finding stands.
        install: Puts the faulty part in.
    """

    name: str
    description: str
    finding: FindingCode
    cause: DropCause | None
    stage: str
    install: Callable[[Parts], Parts]


def _prefix_pack(tools: Tools, passages: list[Passage]) -> list[Packed]:
    return pack_prefix(passages, PREFIX, tools.count)


def _restarted(_: list[Packed]) -> int:
    return 1


def _prefix_sources(shown: list[Packed], ranked: list[Placed]) -> list[str]:
    return [passage.id for passage in ranked[: len(shown)]]


def _cut_unseen(hits: list[Hit]) -> list[Hit]:
    return hits[:HANDED_OVER]


def _no_context(_: list[Packed]) -> str:
    return ""


def _cut_context(packed: list[Packed]) -> str:
    return write_context(packed)[:CHARACTERS]


def _expand_unbounded(tools: Tools, hits: list[Hit]) -> list[Placed]:
    return expand_all(tools.index, hits)


def _select_starved(tools: Tools, query: Query, passages: list[Placed]) -> list[Passage]:
    return select_literally(tools.index, query, passages)


def _no_reranker(_: Tools) -> Reranker | None:
    return None


def _any_scope(hits: list[Hit], _: str) -> list[Hit]:
    return hits


class Injection:
    """A fault in the parts of a pipeline, with what it changes there noted.

    Args:
        fault: What to inject.

    Attributes:
        parts: The parts, the faulty one among them.
        acted: Whether the faulty part has given anything else than the right one would have.
    """

    def __init__(self, fault: Fault) -> None:
        right = Parts()
        faulty = fault.install(right)
        self.acted = False
        changed = {
            field.name: self._compared(getattr(faulty, field.name), getattr(right, field.name))
            for field in fields(Parts)
            if getattr(faulty, field.name) is not getattr(right, field.name)
        }
        self.parts = replace(right, **changed)

    def _compared(self, faulty: Callable[..., Any], right: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            result = faulty(*given)
            self.acted = self.acted or result != right(*given)
            return result

        return call


_ALL = (
    Fault(
        name="prefix_cut",
        description="Packing takes a fixed prefix of the reordered list, in which the best passage stands last.",
        finding=RankingFinding.TOP_RANKED_CUT,
        cause=DropCause.OVER_BUDGET,
        stage=kinds.PACKING,
        install=lambda parts: replace(parts, pack=_prefix_pack),
    ),
    Fault(
        name="rescue_restarts_labels",
        description="Rescued passages are labelled from S1 again, so that one label stands for two passages.",
        finding=LabelFinding.LABEL_DUPLICATE,
        cause=None,
        stage=kinds.RESCUE,
        install=lambda parts: replace(parts, first_rescue_label=_restarted),
    ),
    Fault(
        name="sources_as_prefix",
        description="The answer's sources are rebuilt as a prefix of the list from before the reorder.",
        finding=LabelFinding.LABEL_MISATTRIBUTED,
        cause=None,
        stage=kinds.READER,
        install=lambda parts: replace(parts, sources=_prefix_sources),
    ),
    Fault(
        name="hidden_cut",
        description="Between reranking and MMR a list is cut by code that no span shows.",
        finding=ListFinding.SILENT_CUT,
        cause=DropCause.SILENT_CUT,
        stage=kinds.MMR,
        install=lambda parts: replace(parts, hand_over=_cut_unseen),
    ),
    Fault(
        name="expansion_ignores_budget",
        description="Neighbouring passages are added without a limit, and push ranked passages out of the context.",
        finding=RankingFinding.EXPANSION_DISPLACED,
        cause=DropCause.OVER_BUDGET,
        stage=kinds.PACKING,
        install=lambda parts: replace(parts, expand=_expand_unbounded),
    ),
    Fault(
        name="starved_sentences",
        description="Sentences are kept only where they hold the question's words literally; little is left.",
        finding=ContextFinding.STARVED_CONTEXT,
        cause=None,
        stage=kinds.PACKING,
        install=lambda parts: replace(parts, select=_select_starved),
    ),
    Fault(
        name="empty_prompt",
        description="The prompt's template has no place for the passages: the reader is asked without any of them.",
        finding=PassageFinding.CONTEXT_NOT_IN_PROMPT,
        cause=None,
        stage=kinds.PACKING,
        install=lambda parts: replace(parts, write_context=_no_context),
    ),
    Fault(
        name="cut_prompt",
        description="The context is cut at a number of characters, in the middle of a passage and before others.",
        finding=PassageFinding.PASSAGE_CUT,
        cause=DropCause.OVER_BUDGET,
        stage=kinds.PACKING,
        install=lambda parts: replace(parts, write_context=_cut_context),
    ),
    Fault(
        name="missing_reranker",
        description="The reranking model is not there, and a word count quietly takes its place.",
        finding=ContextFinding.FALLBACK_USED,
        cause=DropCause.RERANKED_AWAY,
        stage=kinds.RERANK,
        install=lambda parts: replace(parts, load_reranker=_no_reranker),
    ),
    Fault(
        name="foreign_chunk",
        description="The scope filter is gone: passages of another library in the same index come in.",
        finding=ListFinding.SCOPE_LEAK,
        cause=None,
        stage=kinds.VECTOR,
        install=lambda parts: replace(parts, keep_scope=_any_scope),
    ),
)

FAULTS: Final = MappingProxyType({fault.name: fault for fault in _ALL})


def find_fault(name: str) -> Fault:
    """Return a fault by its name.

    Raises:
        PipelineError: There is none of that name; the message lists them.
    """
    try:
        return FAULTS[name]
    except KeyError:
        raise PipelineError(f"unknown fault {name!r}; there are {', '.join(FAULTS)}") from None
