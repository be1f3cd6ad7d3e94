"""The exchangeable parts of the pipeline: a failure is injected by putting another part in the place of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rop_otel.reference.query import Query
from rop_otel.reference.stages import Hit, Packed, Passage, Placed
from rop_otel.reference.stages.ordering import expand, select_sentences
from rop_otel.reference.stages.packing import pack, write_context
from rop_otel.reference.stages.reranking import CrossEncoder, LateInteraction, Reranker
from rop_otel.reference.stages.retrieval import keep_scope
from rop_otel.reference.tools import Tools


def load_reranker(tools: Tools) -> Reranker | None:
    """Return the reranking model: the cross-encoder where one is named, else late interaction."""
    if tools.cross_encoder is not None:
        return CrossEncoder(tools.index, tools.cross_encoder)
    return LateInteraction(tools.index, tools.encoder)


def hand_over(hits: list[Hit]) -> list[Hit]:
    """Pass the reranker's list on whole."""
    return hits


def expand_within_budget(tools: Tools, hits: list[Hit]) -> list[Placed]:
    """Add siblings while they fit in the context."""
    return expand(tools.index, hits, tools.settings.token_budget, tools.count)


def select_by_stems(tools: Tools, query: Query, passages: list[Placed]) -> list[Passage]:
    """Keep the sentences that match the query's stems, directly or by their heading."""
    return select_sentences(tools.index, tools.stemmer, query, passages)


def pack_by_rank(tools: Tools, passages: list[Passage]) -> list[Packed]:
    """Fill the token budget by rank."""
    return pack(passages, tools.settings.token_budget, tools.count)


def continue_labels(packed: list[Packed]) -> int:
    """Number rescued passages after the packed ones."""
    return len(packed) + 1


def sources_as_shown(shown: list[Packed], _: list[Placed]) -> list[str]:
    """Attach to the answer what was shown, in the order of its labels."""
    return [passage.id for passage in shown]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One implementation of each exchangeable part; the defaults are the right ones.

    Args:
        keep_scope: Keeps the passages of one library.
        load_reranker: Gives the reranking model; None where it is missing.
        hand_over: What happens to the list between reranking and MMR.
        expand: Adds siblings.
        select: Chooses sentences.
        pack: Fills the context.
        write_context: Puts passages into the prompt.
        first_rescue_label: Number of the first rescued passage's label.
        sources: IDs that the answer attaches, from what was shown and the list before it was reordered.
    """

    keep_scope: Callable[[list[Hit], str], list[Hit]] = keep_scope
    load_reranker: Callable[[Tools], Reranker | None] = load_reranker
    hand_over: Callable[[list[Hit]], list[Hit]] = hand_over
    expand: Callable[[Tools, list[Hit]], list[Placed]] = expand_within_budget
    select: Callable[[Tools, Query, list[Placed]], list[Passage]] = select_by_stems
    pack: Callable[[Tools, list[Passage]], list[Packed]] = pack_by_rank
    write_context: Callable[[list[Packed]], str] = write_context
    first_rescue_label: Callable[[list[Packed]], int] = continue_labels
    sources: Callable[[list[Packed], list[Placed]], list[str]] = sources_as_shown
