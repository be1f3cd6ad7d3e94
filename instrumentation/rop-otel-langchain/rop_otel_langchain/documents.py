"""Finds documents in what goes through a chain, and their text in a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, TypeGuard

from langchain_core.documents import Document

Documents: TypeAlias = Sequence[Document]

_HEAD: Final = 100
"""Characters at the beginning of a longer text by which it is known where a prompt shows a part of it."""


def are_documents(value: object) -> TypeGuard[Documents]:
    """Return whether something is a list of documents that has some."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Document) for each in value)


def documents_in(value: object) -> list[Documents]:
    """Return the lists of documents that a function is given: the value itself, or values of a mapping."""
    if isinstance(value, Mapping):
        return [each for each in value.values() if are_documents(each)]
    return [value] if are_documents(value) else []


def same_documents(one: Documents, other: Documents) -> bool:
    """Return whether two lists hold the same objects in the same order."""
    return len(one) == len(other) and all(left is right for left, right in zip(one, other, strict=True))


def shown_in(text: str, documents: Documents) -> list[Document] | None:
    """Return the documents whose text a prompt shows, in its order; None where that cannot be told.

    A document is shown where its text, apart from white space, is in the prompt, or else the beginning of a longer one.
    What the prompt shows is not known where it shows none, or fewer of several that are alike.
    """
    prompt = _plain(text)
    texts = [_plain(document.page_content) for document in documents]
    found: dict[int, int] = {}
    for place in sorted(range(len(texts)), key=lambda each: -len(texts[each])):
        for part in dict.fromkeys((texts[place], texts[place][:_HEAD])):
            at = prompt.find(part) if part else -1
            if at >= 0:
                found[place] = at
                # It is blanked, so that no shorter text is found inside of this one.
                prompt = prompt[:at] + "\0" * len(part) + prompt[at + len(part) :]
                break
    if any(texts[place][:_HEAD] == texts[other][:_HEAD] for place in range(len(texts)) if place not in found for other in found):
        return None
    return [documents[place] for place in sorted(found, key=found.__getitem__)] or None


def _plain(text: str) -> str:
    return " ".join(text.split())
