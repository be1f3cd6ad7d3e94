"""Finds documents in what goes through a chain, and their text in a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Final, TypeAlias, TypeGuard, cast

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


def is_a(value: object, kind: type | UnionType) -> bool:
    """Return whether something is of a class by its type alone.

    ``isinstance`` asks the object too, and one that stands for another, as a row of a database, would be loaded then.
    """
    return issubclass(type(value), kind)


def are_documents(value: Any) -> TypeGuard[Documents]:
    """Return whether something is a list of documents that has some."""
    return is_a(value, list | tuple) and bool(value) and all(is_a(each, Document) for each in value)


def documents_in(value: Any) -> list[Documents]:
    """Return the lists of documents that a function is given or gives, in fields or in a list of such lists too.

    Each document may be in a pair with its score, as searches return them.
    """
    if are_documents(value):
        return [value]
    held = fields_of(value)
    if held is not None:
        return [each for item in held.values() if is_a(item, list | tuple) for each in documents_in(item)]
    if not is_a(value, list | tuple):
        return []
    if value and all(_is_scored(item) for item in value):
        return [[document for document, _ in value]]
    found: list[Documents] = []
    for item in value:  # until the first that is none: a matrix has a million
        lists = documents_in(item) if is_a(item, list | tuple) else []
        if not lists and not (is_a(item, list | tuple) and not item):
            return []
        found += lists
    return found


def fields_of(value: Any) -> Mapping[Any, Any] | None:
    """Return the fields of a dict, or of a graph's state or command, which may be an object; None of others.

    Other mappings may read what they give out of a file.
    """
    if type(value).__module__.startswith("langgraph.") and is_a(getattr(value, "update", None), dict):
        value = value.update
    if is_a(value, dict):
        return cast("Mapping[Any, Any]", value)
    if is_a(value, BaseModel):
        return cast("Mapping[str, Any]", vars(value))
    if is_dataclass(type(value)):
        return {each.name: getattr(value, each.name, None) for each in fields(value)}  # one with slots has no vars()
    return None


def _is_scored(value: Any) -> bool:
    return is_a(value, list | tuple) and len(value) == 2 and is_a(value[0], Document) and not is_a(value[1], Document)


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
