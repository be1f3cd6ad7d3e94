"""Ranks of plain records: the membership rule, with the strings of each object laid out once."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.profile.declaration import Declaration
from rop_otel.core.profile.membership import Rule, last_of
from rop_otel.core.profile.resolver import Resolver


class Groups(dict[str, frozenset[str] | None]):
    """What the rule asks for by selected key; None for one that nobody knows.

    It holds object IDs and aliases, which is what selections mostly are, and finds members when they are asked for:
    the fewer there are, the closer together a look-up finds them.

    Args:
        resolver: The identity resolver.
        rule: The membership rule.
    """

    def __init__(self, resolver: Resolver, rule: Rule) -> None:
        super().__init__()
        self._resolve = resolver.resolve
        aliases, strings = resolver.aliases, resolver.members if rule == "all" else resolver.strings
        for name in resolver.objects():
            self[name] = group = frozenset(strings(name))
            for alias in aliases(name):
                self[alias] = group

    def __missing__(self, key: str) -> frozenset[str] | None:
        name = self._resolve(key)
        return None if name is None else self[name]


class Ranking:
    """The membership rule of a declaration, for one selected key at a time.

    Agrees with :class:`~rop_otel.core.profile.membership.Membership`.

    ``groups`` holds what the rule asks for by selected key. ``rank_in`` takes that and returned IDs, and gives the
    length of the shortest prefix on which the rule holds, 0 where there is none.

    Args:
        declaration: A valid one.
    """

    def __init__(self, declaration: Declaration) -> None:
        self.groups = Groups(declaration.resolver, declaration.rule)
        self.rank_in = _rank_of_all if declaration.rule == "all" else rank_of_any
        self._resolve = declaration.resolver.resolve

    def object_id(self, ids: Sequence[str], rank: int) -> str | None:
        """Return the object that the rule holds for: the one that the last ID of the prefix belongs to.

        Args:
            ids: The returned IDs.
            rank: As :attr:`rank_in` gave it.
        """
        return self._resolve(ids[rank - 1]) if rank else None


def rank_of_any(group: frozenset[str], ids: Sequence[str]) -> int:
    """Return the place, from 1 on, of the first ID that is in a group, 0 where none is."""
    for rank, raw in enumerate(() if group.isdisjoint(ids) else ids, 1):
        if raw in group:
            return rank
    return 0


def _rank_of_all(group: frozenset[str], ids: Sequence[str]) -> int:
    return last_of(group, ids) + 1 if group.issubset(ids) else 0
