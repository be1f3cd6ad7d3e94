"""The stage kinds of the contract and what each may do."""

from __future__ import annotations

from typing import Final

from rop_otel.core.handoff.assessment import DropCause
from rop_otel.core.handoff.record import StageRecord

VECTOR: Final = "vector"
LEXICAL: Final = "lexical"
FUSION: Final = "fusion"
BOOST: Final = "boost"
CANDIDATES: Final = "candidates"
RERANK: Final = "rerank"
MMR: Final = "mmr"
EXPANSION: Final = "expansion"
REORDER: Final = "reorder"
SENTENCE_SELECTION: Final = "sentence_selection"
PACKING: Final = "packing"
RESCUE: Final = "rescue"
READER: Final = "reader"

SOURCES: Final = frozenset({VECTOR, LEXICAL})
SHOWING: Final = frozenset({PACKING, RESCUE})
LABELLING: Final = frozenset({PACKING, RESCUE, READER})
RESCORING: Final = frozenset({FUSION, BOOST, RERANK, MMR})
"""Kinds after which scores of an earlier stage no longer say what is best."""
KEEPING_ONLY: Final = frozenset({BOOST, CANDIDATES, RERANK, MMR, REORDER, SENTENCE_SELECTION, PACKING})
"""Kinds that may not add documents."""
KINDS: Final = SOURCES | LABELLING | KEEPING_ONLY | {FUSION, EXPANSION}

DROP_CAUSES: Final = {
    FUSION: DropCause.FUSED_OUT,
    BOOST: DropCause.TRUNCATED,
    CANDIDATES: DropCause.TRUNCATED,
    RERANK: DropCause.RERANKED_AWAY,
    MMR: DropCause.DIVERSIFIED_AWAY,
    EXPANSION: DropCause.DISPLACED,
    REORDER: DropCause.REORDERED_AWAY,
    SENTENCE_SELECTION: DropCause.NO_SENTENCE_KEPT,
    PACKING: DropCause.OVER_BUDGET,
}
"""Cause of a loss by the kind of the stage that lost it; any other kind: ``dropped``."""


def is_source(stage: StageRecord) -> bool:
    """Return whether a stage takes no documents."""
    return stage.kind in SOURCES or (stage.source and stage.kind not in KINDS)


def is_custom(stage: StageRecord) -> bool:
    """Return whether a stage's kind is none of the contract's."""
    return stage.kind not in KINDS
