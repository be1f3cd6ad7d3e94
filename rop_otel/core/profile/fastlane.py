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
from rop_otel.core.profile.fieldpath import ABSENT, FieldPath
from rop_otel.core.profile.joint import Compared, Comparison
from rop_otel.core.profile.ranking import Ranking
from rop_otel.core.profile.tally import Tally

Row: TypeAlias = "tuple[str, str, list[str]]"
"""Record ID, selected key and returned IDs of a well-formed record; each may still be empty."""

Each: TypeAlias = "Callable[[int, str, Sequence[str], int, Compared | None], None]"
"""Called with a line's place, its record ID, its returned IDs, the rank, and how it compares under a trace set."""

_Tree: TypeAlias = "dict[str, Any]"


class Taken(NamedTuple):
    """What the lane makes of some lines.

    Args:
        record_ids: Those of the records taken.
        ranks: Theirs.
        compared: How each compares; empty without a trace set.
        short: The places of those of rank 0 whose list is shorter than the stored depth.
        left: The places of the lines left over.
    """

    record_ids: list[str]
    ranks: list[int]
    compared: list[Compared]
    short: list[int]
    left: list[int]


class FastLane:
    """Ranks well-formed records with one known selected key.

    Args:
        layout: The type of a record, as far as it is read.
        read: Takes the row out of a record.
        ranking: The membership rule.
        traced: Takes the judged objects out of a record, whatever stands there; None without a trace set.
        comparison: Compares selections with them; None likewise.
        depth: How deep lists were stored; 0 where nothing says so.
    """

    def __init__(
        self,
        layout: type[Any],
        read: Callable[[Any], Row],
        ranking: Ranking,
        *,
        traced: Callable[[Any], object] | None,
        comparison: Comparison | None,
        depth: int,
    ) -> None:
        self._decode, self._read, self._ranking = msgspec.json.Decoder(layout).decode, read, ranking
        self._traced, self._comparison, self._depth = traced, comparison, depth

    @classmethod
    def compile(cls, declaration: Declaration, record_field: FieldPath, tally: Tally) -> FastLane | None:
        """Return the lane for the paths of a declaration and a tally, None where they are not plain enough for one."""
        selection, output, trace = declaration.selection_field, declaration.output_field, tally.trace_field
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
            traced = None if trace is None else _plant_anything(tree, trace)
            layout = _struct(tree)
        except ValueError:
            return None
        read = _reader(tree, record_field, selection, output)
        if hit:
            read = _mapping(read, _attribute(hit, output.tail))
        depth = tally.terms.depth or 0
        return cls(layout, read, Ranking(declaration), traced=traced, comparison=tally.comparison, depth=depth)

    def take(self, lines: Sequence[bytes], each: Each | None) -> Taken:
        """Rank the records of lines.

        Args:
            lines: Without their LF, in UTF-8: strings that are skipped are not looked into.
            each: What is done with each.
        """
        decode, read, groups, rank_in = self._decode, self._read, self._ranking.groups, self._ranking.rank_in
        taken = Taken([], [], [], [], [])
        record_ids, ranks, compared, short, left = taken
        traced, comparison, depth = self._traced, self._comparison, self._depth
        how: Compared | None = None
        for place, line in enumerate(lines):
            try:
                record = decode(line)
                record_id, selection, ids = read(record)
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
            if not rank and len(ids) < depth:
                short.append(place)
            if traced is not None and comparison is not None:
                how = comparison.compare((selection,), traced(record), ids, rank=rank)
                compared.append(how)
            if each is not None:
                each(place, record_id, ids, rank, how)
        return taken

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


def _plant_anything(tree: _Tree, path: FieldPath) -> Callable[[Any], object]:
    """Plant what may be anything, or not be there, as the last of a tree; return what reads a path out of a record."""
    whole, depth = tree, 1
    for name in path.head:
        if name not in tree:
            break
        tree, depth = tree[name], depth + 1
        if not isinstance(tree, dict):
            raise ValueError("a path runs through a value that another one reads")
    else:
        raise ValueError("a path ends where another one goes on")
    tree[name] = ABSENT
    found = attrgetter(_attribute(whole, path.head[:depth]))
    rest = FieldPath(text=path.text, head=path.head[depth:], tail=path.tail)
    return lambda record: rest.read(found(record))


def _struct(tree: _Tree) -> type[msgspec.Struct]:
    names = dict(zip(_PLACES, tree, strict=False))
    fields: list[Any] = []
    for name, part in zip(names, tree.values(), strict=True):
        if part is ABSENT:
            fields.append((name, Any, ABSENT))
        else:
            fields.append((name, _struct(part) if isinstance(part, dict) else part))
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


_PLACES: Final = ("first", "second", "third", "fourth")
"""Attribute names of a struct; four paths give a record at most four fields at any depth."""
