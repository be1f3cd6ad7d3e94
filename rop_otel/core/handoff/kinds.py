"""The stage kinds of the contract: one row for each, which holds all its properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

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


@dataclass(frozen=True, slots=True, kw_only=True)
class StageKind:
    """What a kind of stage does, and may do.

    Args:
        source: It takes no documents.
        adds: It may return documents that it was not handed.
        cuts: It may drop documents, but the best-scored one last.
        rescores: After it, the scores of an earlier stage no longer say what is best.
        shows: What it returns is what the reader is shown.
        labels: Its list has citation labels.
        drop_cause: Why it loses an object that it was handed.
    """

    source: bool = False
    adds: bool = True
    cuts: bool = False
    rescores: bool = False
    shows: bool = False
    labels: bool = False
    drop_cause: DropCause = DropCause.DROPPED


KINDS: Final[Mapping[str, StageKind]] = MappingProxyType(
    {
        VECTOR: StageKind(source=True),
        LEXICAL: StageKind(source=True),
        FUSION: StageKind(rescores=True, drop_cause=DropCause.FUSED_OUT),
        BOOST: StageKind(adds=False, rescores=True, drop_cause=DropCause.TRUNCATED),
        CANDIDATES: StageKind(adds=False, cuts=True, drop_cause=DropCause.TRUNCATED),
        RERANK: StageKind(adds=False, rescores=True, drop_cause=DropCause.RERANKED_AWAY),
        MMR: StageKind(adds=False, rescores=True, drop_cause=DropCause.DIVERSIFIED_AWAY),
        EXPANSION: StageKind(drop_cause=DropCause.DISPLACED),
        REORDER: StageKind(adds=False, cuts=True, drop_cause=DropCause.REORDERED_AWAY),
        SENTENCE_SELECTION: StageKind(adds=False, cuts=True, drop_cause=DropCause.NO_SENTENCE_KEPT),
        PACKING: StageKind(adds=False, cuts=True, shows=True, labels=True, drop_cause=DropCause.OVER_BUDGET),
        RESCUE: StageKind(shows=True, labels=True),
        READER: StageKind(labels=True),
    }
)
"""Every kind, in the order in which a pipeline usually runs them."""

OF_OWN: Final = StageKind()
"""What holds for a kind that is none of the contract's."""

SOURCES: Final = frozenset(kind for kind, row in KINDS.items() if row.source)
SHOWING: Final = frozenset(kind for kind, row in KINDS.items() if row.shows)
LABELLING: Final = frozenset(kind for kind, row in KINDS.items() if row.labels)
RESCORING: Final = frozenset(kind for kind, row in KINDS.items() if row.rescores)
KEEPING_ONLY: Final = frozenset(kind for kind, row in KINDS.items() if not row.adds)
CUTTING: Final = frozenset(kind for kind, row in KINDS.items() if row.cuts)


class _Kind(Protocol):
    """A stage, as far as its kind goes."""

    @property
    def kind(self) -> str: ...

    @property
    def source(self) -> bool: ...


def is_source(stage: _Kind) -> bool:
    """Return whether a stage takes no documents."""
    return stage.kind in SOURCES or (stage.source and stage.kind not in KINDS)


def is_custom(stage: StageRecord) -> bool:
    """Return whether a stage's kind is none of the contract's."""
    return stage.kind not in KINDS


def drop_cause(kind: str) -> DropCause:
    """Return why a stage of a kind loses an object that it was handed."""
    return KINDS.get(kind, OF_OWN).drop_cause
