"""Stages read out of other people's spans: one retrieval may have several of them, and counts once.

Frameworks call a retriever within a retriever and trace both; and where two instrumentations watch one call, ours and
somebody else's, each makes a span of it, side by side or one within the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.record import Ids, StageRecord


class Nesting(NamedTuple):
    """Which stages enclose which.

    Args:
        parents: The place of the stage that encloses each, None where there is none.
        outermost_first: The places, those of enclosing stages before those of what they enclose.
    """

    parents: Sequence[int | None]
    outermost_first: Sequence[int]


def leave_out_seen_twice(stages: Sequence[StageRecord], nesting: Nesting, counts: list[bool]) -> None:
    """Stop counting foreign stages that another stage tells of already.

    Args:
        stages: In order.
        nesting: Of these.
        counts: Which stages count; changed in place.
    """
    _leave_out_what_ours_tell(stages, nesting, counts)
    _leave_out_inner_retrievers(stages, nesting, counts)


def _leave_out_what_ours_tell(stages: Sequence[StageRecord], nesting: Nesting, counts: list[bool]) -> None:
    """Leave out a foreign stage within one of ours of its role, and one of which one of ours tells the list meanwhile.

    That is the same list or, where no ID can be read in the foreign one, the list of a stage of its role.
    """
    roles: list[frozenset[str]] = [frozenset()] * len(stages)
    own: dict[Ids | str, list[StageRecord]] = {}
    for place, stage in enumerate(stages):
        if counts[place] and not stage.foreign and stage.returned:
            own.setdefault(stage.returned, []).append(stage)
            own.setdefault(_role(stage), []).append(stage)
    for place in nesting.outermost_first:
        stage, parent = stages[place], nesting.parents[place]
        above = roles[place] if parent is None else roles[parent]
        roles[place] = above
        if not stage.foreign:
            roles[place] = above | {_role(stage)} if counts[place] and _role(stage) not in above else above
        else:
            alike = own.get(_role(stage) if stage.returned is None else stage.returned, ())
            if _role(stage) in above or any(_same_call(other, stage) for other in alike):
                counts[place] = False


def _role(stage: StageRecord) -> str:
    """Return what makes two stages alike: their kind, but sources are all alike, and fusion has sources within."""
    if kinds.is_source(stage) or (stage.kind == kinds.FUSION and not stage.foreign):
        return kinds.VECTOR
    return stage.kind


def _same_call(own: StageRecord, foreign: StageRecord) -> bool:
    """Return whether two spans that are alike tell of one call: one of them lasts within the other."""
    if kinds.is_custom(own) and not kinds.is_source(own):
        return False  # it may be a whole pipeline, of which the foreign stages tell more
    return _lasts_within(own, foreign) or _lasts_within(foreign, own)


def _lasts_within(inner: StageRecord, outer: StageRecord) -> bool:
    if inner.end_ns is None or outer.end_ns is None:
        return False
    return outer.start_ns <= inner.start_ns and inner.end_ns <= outer.end_ns


def _leave_out_inner_retrievers(stages: Sequence[StageRecord], nesting: Nesting, counts: list[bool]) -> None:
    """Leave out foreign sources within a foreign source that have no list, or no document that the outer one lacks.

    Not where another kind of stage runs within it too: that one is fed by them.
    """
    inner: dict[int, list[int]] = {}
    mixed: set[int] = set()
    for place in reversed(nesting.outermost_first):
        stage, parent = stages[place], nesting.parents[place]
        found = inner.pop(place, [])
        if counts[place] and _is_foreign_source(stage):
            if place not in mixed:
                have = None if stage.returned is None else frozenset(stage.returned)
                for below in found:
                    listed = stages[below].returned
                    counts[below] = listed is not None and (have is None or not have.issuperset(listed))
            found = [place]
        elif counts[place]:
            mixed.add(place)
        if parent is not None:
            inner.setdefault(parent, []).extend(found)
            if place in mixed:
                mixed.add(parent)


def within_sources(stages: Sequence[StageRecord], nesting: Nesting, counts: Sequence[bool]) -> tuple[int | None, ...]:
    """Return for each stage that counts the place, among those, of the foreign source that it ran within.

    Args:
        stages: In order.
        nesting: Of these.
        counts: Which stages count.
    """
    nearest: list[int | None] = [None] * len(stages)
    for place in nesting.outermost_first:
        parent = nesting.parents[place]
        if parent is not None:
            around = counts[parent] and _is_foreign_source(stages[parent])
            nearest[place] = parent if around else nearest[parent]
    places = {place: kept for kept, place in enumerate(compress(range(len(stages)), counts))}
    around_kept = (nearest[place] for place in places)
    return tuple(None if around is None else places[around] for around in around_kept)


def _is_foreign_source(stage: StageRecord) -> bool:
    return stage.foreign and kinds.is_source(stage)
