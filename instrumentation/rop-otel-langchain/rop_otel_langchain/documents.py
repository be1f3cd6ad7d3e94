"""Finds documents in what goes through a chain, and their text in a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Final, TypeAlias, TypeGuard

from langchain_core.documents import Document
from pydantic import BaseModel

from rop_otel.instrumenting import plain_text, shown_in

Documents: TypeAlias = Sequence[Document]

Shown: TypeAlias = list[tuple[Document, str | None]]
"""Documents that a text shows, in its order, each with its label."""

_BEFORE: Final = 100
"""Characters before a text in which its label is looked for."""

_LABEL: Final = re.compile(r"\[([A-Za-z]{0,2}\d+)\]")
_LABEL_BEFORE: Final = re.compile(_LABEL.pattern + r"[\s:.]*$")


def are_documents(value: object) -> TypeGuard[Documents]:
    """Return whether something is a list of documents that has some."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Document) for each in value)


def documents_in(value: object) -> list[Documents]:
    """Return the lists of documents that a function is given or gives, in fields or in a list of such lists too.

    Each document may be in a pair with its score, as searches return them.
    """
    if are_documents(value):
        return [value]
    fields = fields_of(value)
    if fields is not None:
        return [each for item in fields.values() if isinstance(item, list | tuple) for each in documents_in(item)]
    if not isinstance(value, list | tuple) or not all(isinstance(item, list | tuple) for item in value):
        return []
    if value and all(_is_scored(item) for item in value):
        return [[document for document, _ in value]]
    found = [documents_in(item) for item in value if item]
    return [each for lists in found for each in lists] if all(found) else []


def fields_of(value: object) -> Mapping[Any, object] | None:
    """Return the fields of a mapping, or of a graph's state or command, which may be an object; None of others."""
    if type(value).__module__.startswith("langgraph.") and isinstance(getattr(value, "update", None), Mapping):
        value = value.update  # type: ignore[attr-defined]
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        return vars(value)
    return None


def _is_scored(value: Sequence[object]) -> bool:
    return len(value) == 2 and isinstance(value[0], Document) and not isinstance(value[1], Document)


def same_documents(one: Documents, other: Documents) -> bool:
    """Return whether two lists hold the same documents in the same order: objects, or copies with their IDs."""
    return len(one) == len(other) and all(
        left is right or (left.id is not None and left.id == right.id) for left, right in zip(one, other, strict=True)
    )


def shown_by(text: str, documents: Documents) -> Shown | None:
    """Return the documents whose text a prompt shows, in its order, with their labels; None where that cannot be told.

    A label, such as ``[S1]``, stands right before the text, or is its beginning.
    """
    prompt = plain_text(text)
    found = shown_in(prompt, [plain_text(document.page_content) for document in documents])
    return None if found is None else [(documents[place], _label(prompt, at)) for place, at in found.items()]


def _label(prompt: str, at: int) -> str | None:
    match = _LABEL.match(prompt, at) or _LABEL_BEFORE.search(prompt[max(0, at - _BEFORE) : at])
    return match[1] if match else None
