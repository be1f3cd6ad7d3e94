"""Ranks of plain records: the membership rule with every object's strings laid out once."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.core.profile.declaration import Declaration


class Ranking:
    """The membership rule of a declaration, for one selected key at a time.

    Agrees with :class:`~rop_otel.core.profile.membership.Membership`; it holds a set per object, so that nothing is
    built per record.

    Args:
        declaration: A valid one.
    """

    def __init__(self, declaration: Declaration) -> None:
        resolver = declaration.resolver
        self._every = declaration.rule == "all"
        self._resolve = resolver.resolve
        self.cutoff = declaration.cutoff
        groups: dict[str, frozenset[str]] = {}
        for name in resolver.objects():
            strings = resolver.strings(name)
            group = frozenset(resolver.members(name) if self._every else strings)
            groups.update(dict.fromkeys(strings, group))
        self._group = groups.get

    def rank(self, key: str, ids: Sequence[str]) -> int | None:
        """Return the length of the shortest prefix on which the rule holds; 0: none, None: the key is unknown.

        Args:
            key: A selected key.
            ids: The returned IDs in rank order.
        """
        group = self._group(key)
        if group is None:
            return None
        if self._every:
            return max(map(ids.index, group)) + 1 if group.issubset(ids) else 0
        return 0 if group.isdisjoint(ids) else min(map(ids.index, group.intersection(ids))) + 1

    def object_id(self, ids: Sequence[str], rank: int) -> str | None:
        """Return the object that the rule holds for: the one that the last ID of the prefix belongs to."""
        return self._resolve(ids[rank - 1]) if rank else None
