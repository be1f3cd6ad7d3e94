"""Ranks of plain records: the membership rule with every object's strings laid out once."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.profile.declaration import Declaration


class Ranking:
    """The membership rule of a declaration, for one selected key at a time.

    Agrees with :class:`~rop_otel.core.profile.membership.Membership`; it holds a set per object, so that nothing is
    built per record.

    ``group_of`` takes a selected key and gives what the rule asks for, None for an unknown key. ``rank_in`` takes that
    and returned IDs, and gives the length of the shortest prefix on which the rule holds, 0 where there is none.

    Args:
        declaration: A valid one.
    """

    def __init__(self, declaration: Declaration) -> None:
        resolver = declaration.resolver
        every = declaration.rule == "all"
        groups: dict[str, frozenset[str]] = {}
        for name in resolver.objects():
            strings = resolver.strings(name)
            group = frozenset(resolver.members(name) if every else strings)
            groups.update(dict.fromkeys(strings, group))
        self.group_of = groups.get
        self.rank_in = _rank_of_all if every else _rank_of_any
        self._resolve = resolver.resolve

    def object_id(self, ids: Sequence[str], rank: int) -> str | None:
        """Return the object that the rule holds for: the one that the last ID of the prefix belongs to.

        Args:
            ids: The returned IDs.
            rank: As :attr:`rank_in` gave it.
        """
        return self._resolve(ids[rank - 1]) if rank else None


def _rank_of_any(group: frozenset[str], ids: Sequence[str]) -> int:
    if group.isdisjoint(ids):
        return 0
    for rank, raw in enumerate(ids, 1):
        if raw in group:
            return rank
    return 0


def _rank_of_all(group: frozenset[str], ids: Sequence[str]) -> int:
    return max(map(ids.index, group)) + 1 if group.issubset(ids) else 0
