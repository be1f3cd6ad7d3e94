"""Follows the documents of one call to the text in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from weakref import WeakKeyDictionary

from langchain_core.documents import Document

import rop_otel as rop
from rop_otel_langchain.carrying import call_here
from rop_otel_langchain.documents import Documents, Shown, are_documents, shown_in
from rop_otel_langchain.labels import remember_labels
from rop_otel_langchain.watching import Watching


class Trail:
    """The documents that a call has, and where they were last shown.

    A chain may show documents several times, to grade them or to write a question, say. What counts is the last text
    that shows any: a model's input or a prompt, else what functions made of documents.

    Args:
        at_once: True records what is shown as soon as it is, where nothing tells the end.
    """

    def __init__(self, *, at_once: bool = False) -> None:
        self._at_once = at_once
        self._live: dict[str | int, Document] = {}
        self._formatted: list[tuple[Documents, Shown]] = []
        self._prompted = False
        self._text = ""
        self._packed: dict[str | int, Document] = {}

    def moved(self, handed: Iterable[Documents], results: object) -> None:
        """Take in that something returned documents, perhaps in the place of those that it was handed."""
        for each in handed:
            for document in each:
                self._live.pop(_key(document), None)
        if are_documents(results):
            self._live.update((_key(document), document) for document in results)

    def formatted(self, watching: Watching, handed: Documents, shown: Shown) -> None:
        """Take in a text that was made of documents."""
        if self._prompted:
            self._formatted, self._prompted, self._text = [], False, ""
        self._formatted.append((handed, shown))
        if self._at_once:
            self.pack(watching)

    def prompted(self, watching: Watching, text: str) -> None:
        """Take in a text that a model is given, or a prompt; it may show documents or none."""
        live = [*self._live.copy().values()]  # branches of a chain run in threads
        if not live or (text == self._text and len(live) == len(self._formatted[0][0])):
            return  # a model is given what the prompt before it was
        shown = shown_in(text, live)
        if shown is None:
            return
        self._text = text
        self._formatted, self._prompted = [(live, shown)], True
        if self._at_once:
            self.pack(watching)

    def pack(self, watching: Watching) -> None:
        """Record what was shown last, unless that is recorded."""
        handoff = rop.current_handoff()
        for handed, shown in self._formatted:
            documents = [document for document, _ in shown]
            if all(_key(document) in self._packed for document in documents):
                continue
            self._packed.update((_key(document), document) for document in documents)
            labels = [label for _, label in shown if label is not None]
            labelled = len(labels) == len(documents)
            if labelled:
                remember_labels(handoff, documents, labels)
            with watching.stage("packing", input=handed) as stage:
                stage.returned(documents, labels=labels if labelled else None)


_trails: Final[WeakKeyDictionary[rop.Handoff, Trail]] = WeakKeyDictionary()
"""Of handoffs that the application opened, for what it does in them outside of any call of a chain."""


def trail_here() -> Trail | None:
    """Return the trail of the call, else of the handoff, that the caller is in; None outside of any."""
    call = call_here()
    if call is not None:
        return call.trail
    handoff = rop.current_handoff()
    return _trails.setdefault(handoff, Trail(at_once=True)) if handoff.id else None


def _key(document: Document) -> str | int:
    """Return what tells a document from others, and is the same for copies of it."""
    return id(document) if document.id is None else document.id
