"""Spans put together as handoffs: which stage belongs to which, and what belongs nowhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rop_otel.core.handoff import HandoffRecord, StageRecord
from rop_otel.core.handoff.attributes import handoff_id, handoff_record, named_handoff_id, stage_record
from rop_otel.replay.ancestry import Key, NearestAbove, nearest_alike
from rop_otel.replay.intake import TakenIn
from rop_otel.replay.meant import handoffs_meant
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """What a set of spans amounts to.

    Args:
        handoffs: In order of their spans' start.
        orphan_stages: Stage spans with neither a handoff ID nor a handoff above them.
        incomplete: IDs of handoffs whose own span is missing, sorted.
        duplicates: IDs that more than one handoff span has, sorted; only the first to start is in ``handoffs``.
        unreadable: Spans of others that cannot be read, which are left out.
    """

    handoffs: tuple[HandoffRecord, ...] = ()
    orphan_stages: int = 0
    incomplete: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    unreadable: int = 0


def assemble(spans: Iterable[Span], rules: Rules | None = None) -> Assembled:
    """Put spans together as handoffs.

    A stage belongs to the handoff that it names, else to the nearest handoff span above it. Where several handoff
    spans have one ID, a stage below one of them belongs to that one. A stage of another convention without a handoff
    makes one of the topmost span above it, or of itself where there is none.

    Args:
        spans: In any order; those with one trace and span ID count once. Of spans that are no stages only what could
            make a handoff of them is kept.
        rules: How spans of other conventions are read; None: as their conventions say.
    """
    rules = rules or Rules()
    taken = TakenIn(rules)
    for span in spans:
        taken.add(span)
    parents, stage_spans = taken.parents(), taken.stages
    handoffs = taken.handoffs | handoffs_meant(taken, parents, rules)
    first, duplicates = _first_of_each_id(handoffs)
    handoff_above = NearestAbove(parents, handoffs)
    owners: dict[Key, Key] = {}
    incomplete: set[str] = set()
    orphans = 0
    for key, span in stage_spans.items():
        above, named = key if key in handoffs else handoff_above(key), named_handoff_id(span.attributes)
        if named is not None and (above is None or _id(handoffs[above]) != named):
            above = first.get(named)
        if above is not None:
            owners[key] = above
        elif named is not None:
            incomplete.add(named)
        else:
            orphans += 1
    stages: defaultdict[Key, list[StageRecord]] = defaultdict(list)
    enclosing = nearest_alike(parents, owners)
    for key, above in owners.items():
        record = _stage(stage_spans[key], enclosing[key])
        if record is not None:
            stages[above].append(record)
    return Assembled(
        handoffs=tuple(_handoff(handoffs[key], stages[key]) for key in first.values()),
        orphan_stages=orphans,
        incomplete=tuple(sorted(incomplete)),
        duplicates=duplicates,
        unreadable=taken.unreadable,
    )


def _first_of_each_id(handoffs: Mapping[Key, Span]) -> tuple[dict[str, Key], tuple[str, ...]]:
    first: dict[str, Key] = {}
    repeated: set[str] = set()
    for key in sorted(handoffs, key=lambda key: (handoffs[key].start_ns, key)):
        name = _id(handoffs[key])
        if first.setdefault(name, key) != key:
            repeated.add(name)
    return first, tuple(sorted(repeated))


def _id(span: Span) -> str:
    return handoff_id(span.attributes, trace_id=span.trace_id, span_id=span.span_id)


def _handoff(span: Span, stages: list[StageRecord]) -> HandoffRecord:
    return handoff_record(
        span.attributes,
        trace_id=span.trace_id,
        span_id=span.span_id,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        stages=stages,
        failed=span.failed,
    )


def _stage(span: Span, enclosing: Key | None) -> StageRecord | None:
    return stage_record(
        span.attributes,
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_id=None if enclosing is None else enclosing[1],
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        failed=span.failed,
        dropped_attributes=span.dropped_attributes,
    )
