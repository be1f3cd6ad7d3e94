"""Reads documents in any form in which an attribute holds them: flattened, one JSON string, or structured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rop_otel.tracing.results import scalars

_MOST_DIGITS: Final = 9
"""Digits of a document's place in a flattened list; nobody records a list as long as that."""

_WRAPPER: Final = "document"


class Documents(NamedTuple):
    """A list of documents.

    Args:
        ids: In order; an empty one keeps the place of a document without an ID. None where no ID could be read.
        scores: Of each; None where one has none.
        total: How many there were, where the list is known to be cut.
    """

    ids: tuple[str, ...] | None = None
    scores: tuple[object, ...] | None = None
    total: int | None = None


UNREADABLE: Final = Documents()


def read_attribute(
    attributes: Mapping[str, object], name: str, *, id_keys: Sequence[str], lossy: bool
) -> Documents | None:
    """Read the documents of an attribute.

    Args:
        attributes: Of a span or an event.
        name: The attribute's name, or what the names of its flattened form begin with.
        id_keys: Keys of a document's metadata; the first that is present holds its ID and counts before its own.
        lossy: Whether attributes were lost, so that a document without an ID may have had one.

    Returns:
        The documents; None where there is no such attribute. A flattened list is cut at the first document that is
        missing, or that may have lost its ID.
    """
    value = attributes.get(name)
    if value is not None:
        items = items_of(value)
        return UNREADABLE if items is None else _read(items, id_keys)
    return _read_flattened(attributes, name + ".", id_keys=id_keys, lossy=lossy)


def read_events(events: Iterable[tuple[str, Mapping[str, object]]], *, id_keys: Sequence[str]) -> Documents:
    """Read events that hold one document each: name, and attributes that begin with it.

    Args:
        events: In order.
        id_keys: As for :func:`read_attribute`.
    """
    items = [{key.removeprefix(name + "."): value for key, value in attributes.items()} for name, attributes in events]
    return _read(items, id_keys)


def items_of(value: object) -> list[Any] | None:
    """Return the items of a list, structured or written as JSON, whole or one by one; None where it is none."""
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, Mapping):
        value = value.get("documents")
    if not isinstance(value, list | tuple):
        return None
    return list(value)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_flattened(
    attributes: Mapping[str, object], prefix: str, *, id_keys: Sequence[str], lossy: bool
) -> Documents | None:
    found: dict[int, dict[str, object]] = {}
    for name, value in attributes.items():
        if name.startswith(prefix):
            place, _, key = name[len(prefix) :].partition(".")
            if place.isascii() and place.isdecimal() and len(place) <= _MOST_DIGITS:
                found.setdefault(int(place), {})[key] = value
    if not found:
        return None
    total = max(found) + 1
    items: list[dict[str, object]] = []
    while (item := found.get(len(items))) is not None and not (lossy and not _id_of(item, id_keys)):
        items.append(item)
    if len(items) == total:
        return _read(items, id_keys)
    cut = _read(items, id_keys) if items else Documents(ids=())
    return cut._replace(total=total)


def _read(items: Sequence[object], id_keys: Sequence[str]) -> Documents:
    items = [_parsed(item) if isinstance(item, str) else item for item in items]
    ids = tuple(_id_of(item, id_keys) for item in items)
    if ids and not any(ids):
        return UNREADABLE
    scores = tuple(_field(item, "score") for item in items)
    return Documents(ids=ids, scores=None if any(score is None for score in scores) else scores)


def _id_of(item: object, id_keys: Sequence[str]) -> str:
    if id_keys:
        metadata = _field(item, "metadata")
        if isinstance(metadata, str):
            metadata = _parsed(metadata)
        for key in id_keys:
            if isinstance(metadata, Mapping) and (found := as_id(metadata.get(key))):
                return found
            if found := as_id(_field(item, f"metadata.{key}")):
                return found
    return as_id(_field(item, "id"))


def _field(item: object, key: str) -> object:
    """Return a field of a document, whose names may begin with ``document.``, or be those of a mapping below that."""
    if not isinstance(item, Mapping):
        return None
    for name in (f"{_WRAPPER}.{key}", key):
        if (value := item.get(name)) is not None:
            return value
    inner = item.get(_WRAPPER)
    return inner.get(key) if isinstance(inner, Mapping) else None


def as_id(value: object) -> str:
    """Return a text or a number as an ID; an empty one for anything else."""
    return str(value) if isinstance(value, float) else scalars.as_id(value) or ""
