"""The fast lane: well-formed records read without a look at what decides nothing, to the same verdicts.

Only the fields that the declaration reads are decoded, and a selection is compared with the strings of its object
instead of every returned ID being resolved. Whatever is not plain goes back to the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from rop_otel.core.profile.declaration import Declaration
from rop_otel.core.profile.fieldpath import FieldPath
from rop_otel.core.profile.ranking import Ranking

Row: TypeAlias = "tuple[str, str, list[str]]"
"""Record ID, selected key and returned IDs of a well-formed record; each may still be empty."""

_Tree: TypeAlias = "dict[str, Any]"


class Taken(NamedTuple):
    """What the lane makes of some lines: record IDs with their ranks, and the places of the lines left over."""

    record_ids: list[str]
    ranks: list[int]
    left: list[int]


class FastLane:
    """Ranks well-formed records with one known selected key.

    Args:
        layout: The type of a record, as far as it is read.
        read: Takes the row out of a record.
        ranking: The membership rule.
    """

    def __init__(self, layout: type[Any], read: Callable[[Any], Row], ranking: Ranking) -> None:
        self._decode, self._read, self._ranking = msgspec.json.Decoder(layout).decode, read, ranking

    @classmethod
    def compile(cls, declaration: Declaration, record_field: FieldPath) -> FastLane | None:
        """Return the lane for a declaration's paths, None where they are not plain enough for one."""
        selection, output = declaration.selection_field, declaration.output_field
        if declaration.witness is not None or record_field.tail or selection.tail:
            return None
        tree: _Tree = {}
        hit: _Tree = {}
        try:
            _plant(tree, record_field.head, str)
            _plant(tree, selection.head, str)
            if output.tail:
                _plant(hit, output.tail, str)
            _plant(tree, output.head, list[_struct(hit)] if hit else list[str])  # type: ignore[misc] # made at run time
            layout = _struct(tree)
        except ValueError:
            return None
        read = _reader(tree, record_field, selection, output)
        if hit:
            read = _mapping(read, _attribute(hit, output.tail))
        return cls(layout, read, Ranking(declaration))

    def take(self, lines: Sequence[bytes], each: Callable[[int, str, Sequence[str], int], None] | None) -> Taken:
        """Rank the records of lines.

        Args:
            lines: Without their LF, in UTF-8: strings that are skipped are not looked into.
            each: Called with a line's place, its record ID, its returned IDs and the rank.
        """
        decode, read, groups, rank_in = self._decode, self._read, self._ranking.groups, self._ranking.rank_in
        record_ids: list[str] = []
        ranks: list[int] = []
        left: list[int] = []
        for place, line in enumerate(lines):
            try:
                record_id, selection, ids = read(decode(line))
            except (msgspec.DecodeError, RecursionError):
                left.append(place)
                continue
            group = groups[selection]
            if group is None or not record_id:
                left.append(place)
                continue
            rank = rank_in(group, ids)
            record_ids.append(record_id)
            ranks.append(rank)
            if each is not None:
                each(place, record_id, ids, rank)
        return Taken(record_ids, ranks, left)

    def object_id(self, ids: Sequence[str], rank: int) -> str | None:
        """Return the object that the rule holds for: the one that the last ID of the prefix belongs to."""
        return self._ranking.object_id(ids, rank)


class RawRows(NamedTuple):
    """Rows whose selection and returned IDs are still JSON, and the places of the lines left over."""

    places: list[int]
    record_ids: list[str]
    selections: list[bytes]
    returned: list[bytes]
    left: list[int]


class RawLane:
    """Reads the fields of plain lines without making their strings.

    Args:
        layout: The type of a record, as far as it is read.
        read: Takes record ID, selection and returned IDs out of a record.
    """

    def __init__(self, layout: type[Any], read: Callable[[Any], Any]) -> None:
        decoder = msgspec.json.Decoder(layout)
        self._decode, self._decode_lines, self._read = decoder.decode, decoder.decode_lines, read

    @classmethod
    def compile(cls, declaration: Declaration, record_field: FieldPath) -> RawLane | None:
        """Return the lane for a declaration's paths, None where they are not plain enough for one."""
        selection, output = declaration.selection_field, declaration.output_field
        if declaration.witness is not None or record_field.tail or selection.tail or output.tail:
            return None
        tree: _Tree = {}
        try:
            _plant(tree, record_field.head, str)
            _plant(tree, selection.head, msgspec.Raw)
            _plant(tree, output.head, msgspec.Raw)
            return cls(_struct(tree), _reader(tree, record_field, selection, output))
        except ValueError:
            return None

    def take_whole(self, block: bytes, lines: int) -> RawRows | None:
        """Read a block in which every LF ends a record, None where a line must be looked at by itself.

        Args:
            block: In UTF-8, without a backslash; a record ends before each LF and another begins after it.
            lines: How many there are.
        """
        try:
            found = list(map(self._read, self._decode_lines(block)))
        except (msgspec.DecodeError, RecursionError):
            return None
        if len(found) != lines:
            return None
        record_ids, selections, returned = map(list, zip(*found, strict=True))
        return RawRows(list(range(lines)), record_ids, selections, returned, [])

    def take(self, lines: Sequence[bytes]) -> RawRows:
        """Read lines one by one; one with a backslash is left over.

        Args:
            lines: Without their LF, in UTF-8.
        """
        decode, read = self._decode, self._read
        rows = RawRows([], [], [], [], [])
        for place, line in enumerate(lines):
            try:
                record_id, selection, returned = read(decode(line))
            except (msgspec.DecodeError, RecursionError):
                rows.left.append(place)
                continue
            if b"\\" in line:
                rows.left.append(place)
                continue
            rows.places.append(place)
            rows.record_ids.append(record_id)
            rows.selections.append(selection)
            rows.returned.append(returned)
        return rows


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are valid UTF-8."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _plant(tree: _Tree, names: tuple[str, ...], leaf: Any) -> None:
    for name in names[:-1]:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise ValueError("a path runs through a value that another one reads")
    if names[-1] in tree:
        raise ValueError("two paths read one value")
    tree[names[-1]] = leaf


def _struct(tree: _Tree) -> type[msgspec.Struct]:
    types = [_struct(part) if isinstance(part, dict) else part for part in tree.values()]
    names = dict(zip(_PLACES, tree, strict=False))
    fields = list(zip(names, types, strict=True))
    return msgspec.defstruct("Part", fields, rename=names, gc=False)


def _attribute(tree: _Tree, names: tuple[str, ...]) -> str:
    places = []
    for name in names:
        places.append(_PLACES[list(tree).index(name)])
        tree = tree[name]
    return ".".join(places)


def _reader(tree: _Tree, *fields: FieldPath) -> Callable[[Any], Any]:
    return attrgetter(*(_attribute(tree, field.head) for field in fields))


def _mapping(read: Callable[[Any], tuple[str, str, Iterable[Any]]], name: str) -> Callable[[Any], Row]:
    item = attrgetter(name)

    def row(record: Any) -> Row:
        record_id, selection, hits = read(record)
        return record_id, selection, list(map(item, hits))

    return row


_PLACES: Final = ("first", "second", "third")
"""Attribute names of a struct; three paths give a record at most three fields at any depth."""
