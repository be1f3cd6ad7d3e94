"""ROP's membership rule: which prefix of a returned list holds an acceptable object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final, Literal

from rop_otel.core.profile.resolver import Resolver

Rule = Literal["any", "all"]

_FEW: Final = 8
"""IDs that are looked for one by one; of more, one walk along the list finds them all."""


class Membership:
    """The rule for one selection, prepared for many lists.

    Args:
        selected: The acceptable keys, each known to the resolver.
        rule: ``any``: one returned ID resolves to an acceptable object. ``all``: every raw member of one
            acceptable object is returned; aliases do not stand in for members.
        resolver: None: an ID stands for itself.
    """

    __slots__ = ("_group_of", "_sizes", "accepted")

    def __init__(self, selected: Sequence[str], *, rule: Rule, resolver: Resolver | None) -> None:
        every = rule == "all"
        groups: list[tuple[str, ...]]
        if resolver is None:
            groups = [(key,) for key in dict.fromkeys(selected)]
        else:
            owned = resolver.members if every else resolver.strings
            groups = [owned(name) for name in dict.fromkeys(map(resolver.canonical, selected))]
        self.accepted = frozenset(chain.from_iterable(groups))
        # No ID is a member of two objects.
        self._group_of = {raw: place for place, group in enumerate(groups) for raw in group} if every else None
        self._sizes = [len(group) for group in groups] if every else []

    def holds(self, ids: AbstractSet[str]) -> bool:
        """Return whether the rule is met by a whole list, given as the set of its IDs."""
        if self._group_of is None:
            return not self.accepted.isdisjoint(ids)
        if len(self._sizes) == 1:
            return self.accepted <= ids
        found = Counter(map(self._group_of.__getitem__, self.accepted & ids))
        return any(count == self._sizes[place] for place, count in found.items())

    def rank(self, ids: Sequence[str], held: AbstractSet[str] | None = None) -> int | None:
        """Return the length of the shortest prefix on which the rule holds, None where none does.

        Args:
            ids: In rank order; may be empty.
            held: The same as a set, where the caller has it.
        """
        found = frozenset(ids) if held is None else held
        if self._group_of is not None:
            return _end_of_first_group(ids, self._group_of, self._sizes) if self.holds(found) else None
        accepted = self.accepted & found
        return first_of(accepted, ids) + 1 if accepted else None


def first_of(wanted: AbstractSet[str], ids: Sequence[str]) -> int:
    """Return the place of the first of some IDs in a list that holds them all.

    Args:
        wanted: At least one.
        ids: The list.
    """
    if len(wanted) <= _FEW:
        return min(map(ids.index, wanted))
    return next(place for place, raw in enumerate(ids) if raw in wanted)


def last_of(wanted: AbstractSet[str], ids: Sequence[str]) -> int:
    """Return the place at which the last of some IDs comes for the first time, in a list that holds them all.

    Args:
        wanted: At least one.
        ids: The list.
    """
    if len(wanted) <= _FEW:
        return max(map(ids.index, wanted))
    left = set(wanted)
    for place, raw in enumerate(ids):
        left.discard(raw)
        if not left:
            return place
    raise ValueError("the list does not hold them all")


def _end_of_first_group(ids: Sequence[str], group_of: dict[str, int], sizes: Sequence[int]) -> int | None:
    left = list(sizes)
    seen: set[str] = set()
    for rank, raw in enumerate(ids, 1):
        place = group_of.get(raw)
        if place is None or raw in seen:
            continue
        seen.add(raw)
        left[place] -= 1
        if not left[place]:
            return rank
    return None
