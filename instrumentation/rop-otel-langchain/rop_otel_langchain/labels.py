"""Remembers how a handoff's prompt labelled its documents, so that the answer's sources can be compared."""

from __future__ import annotations

from typing import Final

import rop_otel as rop
from rop_otel.instrumenting import notes
from rop_otel_langchain.documents import Documents

_KEY: Final = "rop_otel_langchain labels"
"""Noted with a handoff: where the documents of a labelled prompt carry their labels: a key of the metadata, or None."""


def remember_labels(handoff: rop.Handoff, documents: Documents, labels: list[str]) -> None:
    """Take in that a prompt showed documents under these labels."""
    shared: set[str] | None = None
    for document, label in zip(documents, labels, strict=True):
        keys = {key for key, value in document.metadata.items() if str(value) in (label, f"[{label}]")}
        shared = keys if shared is None else shared & keys
    notes(handoff)[_KEY] = min(shared, default=None) if shared else None


def is_labelled(handoff: rop.Handoff) -> bool:
    """Return whether the labels that a prompt showed are known."""
    return _KEY in notes(handoff)


def labels_of(handoff: rop.Handoff, documents: Documents) -> list[str] | None:
    """Return the labels that an answer's sources carry; None where they carry none, and so are told by their place."""
    key = notes(handoff).get(_KEY)
    if key is None or not all(key in document.metadata for document in documents):
        return None
    return [str(document.metadata[key]).strip("[]") for document in documents]
