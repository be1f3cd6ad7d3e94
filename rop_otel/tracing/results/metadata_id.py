"""Reads a document's ID from a key of its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rop_otel.tracing.results.result_reader import Reader
from rop_otel.tracing.results.scalars import as_id

_OWN_ID: Final = Reader(ids_only=True)


@dataclass(frozen=True, slots=True)
class ByKeys:
    """What to give as ``id=`` or ``scope=``: the first of these keys that a document's metadata has.

    Equal ones are alike, so that what is prepared for one is kept for all.

    Args:
        keys: In the order in which they are looked for.
        own: Whether the document's own ID is taken where it has none of them.

    >>> ByKeys(("page", "source"))({"id": 7, "metadata": {"source": "a"}})
    'a'
    """

    keys: tuple[str, ...]
    own: bool = True

    def __call__(self, document: Any) -> str | None:
        """Return the value as an ID, None where there is none."""
        held = _metadata(document[0] if isinstance(document, tuple) and document else document)
        if isinstance(held, Mapping):
            for key in self.keys:
                if raw := as_id(held.get(key)):
                    return raw
        return (self.own and _OWN_ID.read_one(document)[0]) or None


def _metadata(document: Any) -> object:
    """Return the metadata of a document of any framework; of a mapping without any, the mapping."""
    if isinstance(document, Mapping):
        return document.get("metadata", document.get("meta", document))
    held = getattr(document, "metadata", None)
    return getattr(document, "meta", None) if held is None else held
