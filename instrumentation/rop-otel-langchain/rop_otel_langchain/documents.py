"""Finds documents in what goes through a chain, and their text in a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, TypeGuard

from langchain_core.documents import Document

from rop_otel.instrumenting import holds_some_of, plain_text

Documents: TypeAlias = Sequence[Document]

Shown: TypeAlias = list[tuple[Document, str | None]]
"""Documents that a text shows, in its order, each with its label."""

_HEAD: Final = 100
"""Characters at the beginning of a longer text by which it is known where a prompt shows a part of it."""

_LABEL: Final = re.compile(r"\[([A-Za-z]{0,2}\d+)\]")
_LABEL_BEFORE: Final = re.compile(_LABEL.pattern + r"[\s:.]*$")


def are_documents(value: object) -> TypeGuard[Documents]:
    """Return whether something is a list of documents that has some."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Document) for each in value)


def documents_in(value: object) -> list[Documents]:
    """Return the lists of documents that a function is given or gives, in a mapping or in a list of such lists too.

    Each document may be in a pair with its score, as searches return them.
    """
    if are_documents(value):
        return [value]
    if isinstance(value, Mapping):
        return [each for item in value.values() if isinstance(item, list | tuple) for each in documents_in(item)]
    if not isinstance(value, list | tuple) or not all(isinstance(item, list | tuple) for item in value):
        return []
    if value and all(_is_scored(item) for item in value):
        return [[document for document, _ in value]]
    found = [documents_in(item) for item in value if item]
    return [each for lists in found for each in lists] if all(found) else []


def _is_scored(value: Sequence[object]) -> bool:
    return len(value) == 2 and isinstance(value[0], Document) and not isinstance(value[1], Document)


def same_documents(one: Documents, other: Documents) -> bool:
    """Return whether two lists hold the same documents in the same order: objects, or copies with their IDs."""
    return len(one) == len(other) and all(
        left is right or (left.id is not None and left.id == right.id) for left, right in zip(one, other, strict=True)
    )


def shown_in(text: str, documents: Documents) -> Shown | None:
    """Return the documents whose text a prompt shows, in its order, with their labels; None where that cannot be told.

    A document is shown where its text, apart from white space and escapes, is in the prompt, or else the beginning of a
    longer one. What the prompt shows is not known where it shows none, fewer of several that are alike, or of one only
    words in a row. A label, such as ``[S1]``, stands right before the text, or is its beginning.
    """
    prompt = rest = plain_text(text)
    texts = [plain_text(document.page_content) for document in documents]
    found: dict[int, int] = {}
    longest_first = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    for part in (slice(None), slice(_HEAD)):
        left = [place for place in longest_first if place not in found and len(texts[place]) > (part.stop or 0)]
        for place in left:
            piece = texts[place][part]
            at = _find(rest, piece)
            if at >= 0:
                found[place] = at
                # It is blanked, so that no shorter text is found inside of this one.
                rest = rest[:at] + "\0" * len(piece) + rest[at + len(piece) :]
        missing = {texts[place][part] for place in left if place not in found}
        if any(texts[place][part] in missing for place in left if place in found):
            return None
    if not found or holds_some_of((text for place, text in enumerate(texts) if place not in found), rest):
        return None
    return [(documents[place], _label(prompt, found[place])) for place in sorted(found, key=found.__getitem__)]


def _find(prompt: str, piece: str) -> int:
    """Return where a text is in a prompt, and not a part of other words; -1 where it is not."""
    at = prompt.find(piece)
    while at >= 0:
        end = at + len(piece)
        before, after = prompt[max(0, at - 1) : at], prompt[end : end + 1]
        if not (before.isalnum() and piece[0].isalnum()) and (len(piece) == _HEAD or not after.isalnum()):
            return at
        at = prompt.find(piece, at + 1)
    return -1


def _label(prompt: str, at: int) -> str | None:
    match = _LABEL.match(prompt, at) or _LABEL_BEFORE.search(prompt[max(0, at - _HEAD) : at])
    return match[1] if match else None
