"""The fast lane: blocks of well-formed records judged at once, to the same verdicts as one by one.

Only the fields that the declaration reads are decoded, and a selection is compared with the strings of its object
instead of every returned ID being resolved. Whatever is not plain goes back to the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Final, TypeAlias

import msgspec

from rop_otel.core.profile.declaration import Declaration
from rop_otel.core.profile.fieldpath import FieldPath

Row: TypeAlias = "tuple[str, str | list[str], list[str]]"
"""Record ID, selection and returned IDs of a well-formed record; each may still be empty."""

_Tree: TypeAlias = "dict[str, Any]"


class FastLane:
    """Reads the rows of a block of lines.

    Args:
        layout: The type of a record, as far as it is read.
        read: Takes the rows out of records.
    """

    def __init__(self, layout: type[Any], read: Callable[[Iterable[Any]], Iterable[Row]]) -> None:
        decoder = msgspec.json.Decoder(layout)
        self._decode, self._decode_lines, self._read = decoder.decode, decoder.decode_lines, read

    @classmethod
    def compile(cls, declaration: Declaration, record_field: FieldPath) -> FastLane | None:
        """Return the lane for a declaration's paths, None where they are not plain enough for one."""
        selection, output = declaration.selection_field, declaration.output_field
        if declaration.witness is not None or record_field.tail or selection.tail:
            return None
        tree: _Tree = {}
        try:
            _plant(tree, record_field.head, str)
            _plant(tree, selection.head, str | list[str])
            if not output.tail:
                _plant(tree, output.head, list[str])
                return cls(_struct(tree), _reader(tree, record_field, selection, output))
            hit: _Tree = {}
            _plant(hit, output.tail, str)
            _plant(tree, output.head, list[_struct(hit)])  # type: ignore[misc] # a type made at run time
            return cls(_struct(tree), _mapping_reader(tree, hit, record_field, selection, output))
        except ValueError:
            return None

    def rows(self, block: bytes) -> list[Row] | None:
        """Return the rows of a block of whole lines, None where they must be read one by one.

        Args:
            block: Lines that each end with LF.
        """
        lines = block.count(b"\n")
        # With as many lone braces at line ends as lines, no record spans two of them, and so no line holds two.
        if block.count(b"}\n{") != lines - 1 or not _is_utf8(block):
            return None
        try:
            found = list(self._read(self._decode_lines(block)))
        except (msgspec.DecodeError, RecursionError):
            return None
        return found if len(found) == lines else None

    def row(self, line: bytes) -> Row | None:
        """Return the row of one line, None where the checks must read it."""
        try:
            return next(iter(self._read((self._decode(line),)))) if _is_utf8(line) else None
        except (msgspec.DecodeError, RecursionError):
            return None


def _is_utf8(data: bytes) -> bool:
    # Strings that are skipped are not looked into by the decoder.
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


def _reader(tree: _Tree, *fields: FieldPath) -> Callable[[Iterable[Any]], Iterable[Row]]:
    read = attrgetter(*(_attribute(tree, field.head) for field in fields))
    return lambda records: map(read, records)


def _mapping_reader(tree: _Tree, hit: _Tree, *fields: FieldPath) -> Callable[[Iterable[Any]], Iterable[Row]]:
    read = attrgetter(*(_attribute(tree, field.head) for field in fields))
    item = attrgetter(_attribute(hit, fields[-1].tail))

    def rows(records: Iterable[Any]) -> Iterable[Row]:
        for record_id, selection, hits in map(read, records):
            yield record_id, selection, list(map(item, hits))

    return rows


_PLACES: Final = ("first", "second", "third")
"""Attribute names of a struct; three paths give a record at most three fields at any depth."""
