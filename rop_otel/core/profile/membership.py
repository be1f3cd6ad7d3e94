"""ROP's membership rule: which prefix of a returned list holds an acceptable object."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from rop_otel.core.profile.resolver import Resolver

Rule = Literal["any", "all"]


class Membership:
    """The rule for one selection, ready to be asked about many lists.

    Args:
        selected: The acceptable keys, each known to the resolver.
        rule: ``any``: one returned ID resolves to an acceptable object. ``all``: every raw member of one
            acceptable object is returned; aliases do not stand in for members.
        resolver: None: an ID stands for itself.
    """

    __slots__ = ("_groups", "accepted")

    def __init__(self, selected: Sequence[str], *, rule: Rule, resolver: Resolver | None) -> None:
        groups: tuple[frozenset[str], ...]
        if resolver is None:
            groups = tuple(frozenset((key,)) for key in selected)
        else:
            objects = dict.fromkeys(resolver.canonical(key) for key in selected)
            owned = resolver.members if rule == "all" else resolver.strings
            groups = tuple(frozenset(owned(name)) for name in objects)
        self.accepted = frozenset().union(*groups)
        self._groups = groups if rule == "all" else None

    def holds(self, ids: AbstractSet[str]) -> bool:
        """Return whether the rule is met by a whole list, given as the set of its IDs."""
        if self._groups is None:
            return not self.accepted.isdisjoint(ids)
        return any(group <= ids for group in self._groups)

    def rank(self, ids: Sequence[str], held: AbstractSet[str] | None = None) -> int | None:
        """Return the length of the shortest prefix on which the rule holds, None where none does.

        Args:
            ids: In rank order; may be empty.
            held: The same as a set, where the caller has it.
        """
        found = frozenset(ids) if held is None else held
        if self._groups is None:
            accepted = self.accepted & found
            return min(map(ids.index, accepted)) + 1 if accepted else None
        ends = (max(map(ids.index, group)) + 1 for group in self._groups if group <= found)
        return min(ends, default=None)
