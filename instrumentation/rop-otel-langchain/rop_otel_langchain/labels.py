"""Remembers how a handoff's prompt labelled its documents, so that the answer's sources can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import rop_otel as rop
from rop_otel.instrumenting import notes
from rop_otel_langchain.documents import Documents

_KEY: Final = "rop_otel_langchain labels"
"""Noted with a handoff: where documents carry their labels (a key of the metadata, or None), and all labels shown."""

_AROUND: Final = "[](){}【】^ "


def remember_labels(handoff: rop.Handoff, documents: Documents, labels: Sequence[str]) -> None:
    """Take in that a prompt showed documents under these labels."""
    shared: set[str] | None = None
    for document, label in zip(documents, labels, strict=True):
        keys = {key for key, value in document.metadata.items() if _bare(value) == _bare(label)}
        shared = keys if shared is None else shared & keys
    notes(handoff)[_KEY] = min(shared, default=None) if shared else None, {_bare(label): label for label in labels}


def is_labelled(handoff: rop.Handoff) -> bool:
    """Return whether the labels that a prompt showed are known."""
    return _KEY in notes(handoff)


def labels_of(handoff: rop.Handoff, documents: Documents) -> list[str] | None:
    """Return the labels that an answer's sources carry; None where they carry none, and so are known by their place."""
    key, shown = notes(handoff).get(_KEY, (None, {}))
    if key is None or not all(key in document.metadata for document in documents):
        return None
    carried = (_bare(document.metadata[key]) for document in documents)
    return [shown.get(each, each) for each in carried]


def _bare(label: object) -> str:
    return str(label).strip(_AROUND)
