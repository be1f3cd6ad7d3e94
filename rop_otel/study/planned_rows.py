"""The planned rows of a study, one for each question and selector, and how each selection stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import msgspec

from rop_otel.core.profile.joint import Agreement, Comparison
from rop_otel.core.profile.resolver import Resolver
from rop_otel.errors import ConfigurationError, InputError
from rop_otel.study.frozen_files import QUESTIONS_FILE, FrozenFiles, decode_object

ALL_SELECTORS: Final = "all"
"""The name of the group of every row, where there are several selectors."""


class Standing(StrEnum):
    """How the selection of a planned row stands; each row has exactly one."""

    NO_SELECTION = "no_selection"
    UNRESOLVED = "unresolved"
    SAME = "same"
    DIFFERENT = "different"
    NO_TRACE = "no_trace"
    TRACE_UNRESOLVED = "trace_unresolved"


_STANDINGS: Final = {
    Agreement.SAME: Standing.SAME,
    Agreement.DIFFERENT: Standing.DIFFERENT,
    Agreement.NO_TRACE: Standing.NO_TRACE,
    Agreement.UNRESOLVABLE: Standing.TRACE_UNRESOLVED,
}
RESOLVED: Final = frozenset({Standing.SAME, Standing.DIFFERENT, Standing.NO_TRACE, Standing.TRACE_UNRESOLVED})
"""The standings of rows whose selected object is a page of the corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow:
    """A question and what one selector chose for it.

    Args:
        id: The question; rows of several selectors share it.
        selector: Who chose.
        selected_id: What was chosen; None for nothing.
        gold_ids: The dataset's judged objects; may be empty.
        standing: How the selection stands.
        traced: Whether there are judged objects, each a page of the corpus.
        fields: Everything that the line holds, for groups.
    """

    id: str
    selector: str
    selected_id: str | None
    gold_ids: tuple[str, ...]
    standing: Standing
    traced: bool
    fields: Mapping[str, Any] = field(repr=False)

    @property
    def key(self) -> tuple[str, str]:
        """Selector and question: no two rows share both."""
        return self.selector, self.id

    def record(self) -> dict[str, Any]:
        """Return what a record of a run holds of this row."""
        return {"record_id": self.id, "selected_id": self.selected_id, "gold_ids": list(self.gold_ids)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that are reported together.

    Args:
        name: The selector, or :data:`ALL_SELECTORS`.
        selectors: Whose rows they are.
        rows: In the order of the questions.
    """

    name: str
    selectors: tuple[str, ...]
    rows: tuple[PlannedRow, ...]

    def of(self, *standings: Standing) -> tuple[PlannedRow, ...]:
        """Return the rows of some standings."""
        return tuple(row for row in self.rows if row.standing in standings)

    @property
    def resolved(self) -> tuple[PlannedRow, ...]:
        """The rows whose selected object is a page of the corpus."""
        return self.of(*RESOLVED)


class _Question(msgspec.Struct, frozen=True):
    id: str
    selector: str = "default"
    selected_id: str | None = None
    gold_ids: tuple[str, ...] = ()
    resolves: bool | None = None


def read_planned_rows(files: FrozenFiles, resolver: Resolver) -> tuple[PlannedRow, ...]:
    """Read the planned rows.

    Args:
        files: The folder.
        resolver: Knows every page of the corpus that is selected or judged.

    Raises:
        InputError: A line is no question, two rows have one id and selector, a row contradicts the pages, or their
            number is not the planned one.
    """
    comparison, place = Comparison(resolver), files.place(QUESTIONS_FILE)
    rows: dict[tuple[str, str], PlannedRow] = {}
    for number, line in files.lines(QUESTIONS_FILE):
        fields = decode_object(line, file=place, line=number)
        try:
            given = msgspec.convert(fields, _Question)
        except msgspec.ValidationError as error:
            raise InputError(f"no question: {error}", file=place, line=number) from None
        if not given.id or not given.selector:
            raise InputError("a question needs an id and a selector that are not empty", file=place, line=number)
        row = _planned(given, fields, resolver, comparison)
        if given.resolves is not None and given.resolves != (row.standing in RESOLVED):
            why = f"'resolves' is {str(given.resolves).lower()}, and the pages say otherwise of {given.selected_id!r}"
            raise InputError(why, file=place, line=number)
        if row.key in rows:
            raise InputError(f"two rows of id {row.id!r} and selector {row.selector!r}", file=place, line=number)
        rows[row.key] = row
    if len(rows) != files.manifest.planned:
        raise InputError(f"holds {len(rows)} rows where {files.manifest.planned} are planned", file=place)
    if not rows:
        raise InputError("no row is planned", file=place)
    return tuple(rows.values())


def groups_of(rows: Sequence[PlannedRow]) -> tuple[Group, ...]:
    """Return a group for each selector in order of appearance and, where there are several, one of all rows.

    Raises:
        ConfigurationError: A selector among several has the name of that group.
    """
    names = tuple(dict.fromkeys(row.selector for row in rows))
    if len(names) > 1 and ALL_SELECTORS in names:
        raise ConfigurationError(f"a selector is called {ALL_SELECTORS!r}, which stands for all of them: rename it")
    each = [Group(name=name, selectors=(name,), rows=tuple(r for r in rows if r.selector == name)) for name in names]
    if len(names) > 1:
        each.append(Group(name=ALL_SELECTORS, selectors=names, rows=tuple(rows)))
    return tuple(each)


def _planned(given: _Question, fields: Mapping[str, Any], resolver: Resolver, comparison: Comparison) -> PlannedRow:
    gold = list(given.gold_ids)
    traced = bool(gold) and all(each and resolver.resolve(each) is not None for each in gold)
    if not given.selected_id:
        standing = Standing.NO_SELECTION
    elif resolver.resolve(given.selected_id) is None:
        standing = Standing.UNRESOLVED
    else:
        standing = _STANDINGS[comparison.compare((given.selected_id,), gold, (), rank=0).agreement]
    return PlannedRow(
        id=given.id,
        selector=given.selector,
        selected_id=given.selected_id,
        gold_ids=given.gold_ids,
        standing=standing,
        traced=traced,
        fields=fields,
    )
