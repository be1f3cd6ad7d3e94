"""What the reader has to be shown: one of the selected keys, or every one."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Protocol

from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.handoff.terms import EVERY, declaration_is_valid, usable_selection
from rop_otel.core.profile import Membership, Resolver


class Wanted(Protocol):
    """What a list is asked for."""

    def holds(self, ids: AbstractSet[str]) -> bool:
        """Return whether a whole list, given as the set of its IDs, has it."""

    def rank(self, ids: Sequence[str], held: AbstractSet[str] | None = None) -> int | None:
        """Return the length of the shortest prefix of a list that has it, None where none has."""


class Every:
    """The rule for each of several keys.

    Args:
        selected: At least one key, each known to the resolver.
        all_members: Whether every member of a key's object is needed; otherwise one ID of it is enough.
        resolver: None: an ID stands for itself.
    """

    __slots__ = ("_accepted", "_group_of", "_needed")

    def __init__(self, selected: Sequence[str], *, all_members: bool, resolver: Resolver | None) -> None:
        groups: list[tuple[str, ...]]
        if resolver is None:
            groups = [(key,) for key in dict.fromkeys(selected)]
        else:
            owned = resolver.members if all_members else resolver.strings
            groups = [owned(name) for name in dict.fromkeys(map(resolver.canonical, selected))]
        self._group_of = {raw: group for group, raws in enumerate(groups) for raw in raws}
        self._needed = [len(raws) if all_members else 1 for raws in groups]
        self._accepted = frozenset(chain.from_iterable(groups))

    def holds(self, ids: AbstractSet[str]) -> bool:
        """Return whether the rule is met for each key by a whole list, given as the set of its IDs."""
        missing = list(self._needed)
        for raw in self._accepted & ids:
            missing[self._group_of[raw]] -= 1
        return all(count <= 0 for count in missing)

    def rank(self, ids: Sequence[str], held: AbstractSet[str] | None = None) -> int | None:
        """Return the length of the shortest prefix on which the rule is met for each key, None where none is.

        Args:
            ids: In rank order; may be empty.
            held: The same as a set, where the caller has it.
        """
        if not self.holds(frozenset(ids) if held is None else held):
            return None
        missing, open_groups = list(self._needed), len(self._needed)
        seen: set[str] = set()
        for rank, raw in enumerate(ids, 1):
            group = self._group_of.get(raw)
            if group is None or raw in seen:
                continue
            seen.add(raw)
            missing[group] -= 1
            if not missing[group]:
                open_groups -= 1
                if not open_groups:
                    return rank
        return None


def selection_of(record: HandoffRecord, resolver: Resolver | None) -> Wanted | None:
    """Return what the reader has to be shown, None where there is no usable selection.

    Args:
        record: A handoff that names no resolver, or the one that is given.
        resolver: The resolver in force.
    """
    selected = record.selected or ()
    if not declaration_is_valid(record) or not usable_selection(record):
        return None
    if resolver is not None and any(resolver.resolve(key) is None for key in selected):
        return None
    if record.need == EVERY:
        return Every(selected, all_members=record.rule == "all", resolver=resolver)
    return Membership(selected, rule="all" if record.rule == "all" else "any", resolver=resolver)


def first_missing(record: HandoffRecord, resolver: Resolver | None, ids: Sequence[str]) -> Membership:
    """Return the rule of the first selected key for which it is not met by some IDs.

    Args:
        record: A handoff that needs every selected key, with a usable selection of which these IDs lack one.
        resolver: The resolver in force.
        ids: In any order; may be empty.
    """
    held = frozenset(ids)
    checked: dict[str, Membership] = {}
    rule = None
    for key in record.selected or ():
        name = key if resolver is None else resolver.canonical(key)
        if name not in checked:
            rule = checked[name] = Membership((key,), rule="all" if record.rule == "all" else "any", resolver=resolver)
            if not rule.holds(held):
                break
    if rule is None:
        raise ValueError("nothing was selected")
    return rule
