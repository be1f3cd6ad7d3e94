"""Finds documents in what goes through a chain, and their text in a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, TypeAlias, TypeGuard, cast

from langchain_core.documents import Document
from pydantic import BaseModel

Documents: TypeAlias = Sequence[Document]


def is_a(value: object, kind: type | UnionType) -> bool:
    """Return whether something is of a class by its type alone.

    ``isinstance`` asks the object too, and one that stands for another, as a row of a database, would be loaded then.
    """
    return issubclass(type(value), kind)


def are_documents(value: Any) -> TypeGuard[Documents]:
    """Return whether something is a list of documents that has some."""
    return is_a(value, list | tuple) and bool(value) and all(is_a(each, Document) for each in value)


def stored_documents(value: Any) -> Documents:
    """Return a list of documents, also one that was stored, as a checkpointer does, and came back as mappings.

    Empty where it is something else.
    """
    found = [_stored(each) for each in value] if is_a(value, list | tuple) else []
    return [each for each in found if each is not None] if None not in found else []


def _stored(value: Any) -> Document | None:
    if is_a(value, Document):
        return cast("Document", value)
    held: Any = value.get("kwargs", value) if is_a(value, dict) else None
    text: Any = held.get("page_content") if is_a(held, dict) else None
    if not is_a(text, str):
        return None
    own, metadata = held.get("id"), held.get("metadata")
    return Document(text, id=None if own is None else str(own), metadata=metadata if is_a(metadata, dict) else {})


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


def key_of(document: Document) -> str | int:
    """Return what distinguishes a document from others, and is the same for copies of it."""
    return id(document) if document.id is None else document.id
