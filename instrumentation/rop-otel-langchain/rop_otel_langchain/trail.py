"""Follows the documents of one call to the text in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import count
from typing import Final, TypeAlias, cast

from langchain_core.documents import Document
from opentelemetry.context import Context, create_key, get_value, set_value

import rop_otel as rop
from rop_otel.instrumenting import Turns, kinds, notes, places_in
from rop_otel_langchain.carrying import call_here
from rop_otel_langchain.documents import Documents, Shown, are_documents, shown_by
from rop_otel_langchain.labels import remember_labels
from rop_otel_langchain.watching import Watching

_Rounds: TypeAlias = tuple[int, ...]

_ROUNDS: Final = create_key("rop_otel_langchain rounds")
"""The rounds that the caller is inside of, one in another, as where a tool is an agent of its own."""


class Trail:
    """The documents that a call has, and where they were last shown.

    A chain may show documents several times, to grade them or to write a question, say. What counts is the last text
    that shows any: a model's input or a prompt, else what functions made of documents. Texts that show different
    documents count together, as those of a chain that has a model read one after another; but what a model was shown
    before a tool retrieves anew does not, since that model, an agent's, is then asked again.

    Args:
        at_once: True records what is shown as soon as it is, where nothing tells the end.

    Attributes:
        rounds: The numbers of its rounds.
    """

    def __init__(self, *, at_once: bool = False) -> None:
        self.rounds = count(1)
        self._at_once = at_once
        self._turns = Turns()  # branches of a chain run in threads, and a signal handler may run a chain
        self._live: dict[str | int, list[Document]] = {}
        self._left: dict[str | int, list[Document]] = {}
        self._formatted: list[tuple[Documents, Shown]] = []
        self._prompts: list[tuple[_Rounds, Shown]] = []
        self._texts: set[tuple[int, int]] = set()
        self._packed: dict[str | int, Document] = {}

    def moved(self, handed: Iterable[Documents], results: object) -> None:
        """Take in that something returned documents, perhaps in the place of those that it was handed."""
        old = {_key(document) for each in handed for document in each}
        new: dict[str | int, list[Document]] = {}
        for document in results if are_documents(results) else ():
            alike = new.setdefault(_key(document), [])
            if all(each.page_content != document.page_content for each in alike):
                alike.append(document)  # pieces of one document may all have its ID
        self._turns.do(partial(self._move, old, new, _rounds_here()))

    def _move(self, old: set[str | int], new: dict[str | int, list[Document]], rounds: _Rounds) -> None:
        for key in [key for key in self._live if key in old]:
            self._left[key] = self._live.pop(key)
        self._live.update(new)
        self._overruled(rounds, old)  # shown to somebody who chooses among them
        self._prompts = [each for each in self._prompts if each[0] == rounds or not _is_in(rounds, each[0])]

    def remembered(self, documents: Iterable[Document]) -> None:
        """Take in documents that were found before, and may still be shown."""
        self._turns.do(partial(self._remember, list(documents)))

    def _remember(self, documents: list[Document]) -> None:
        for document in documents:
            self._left.setdefault(_key(document), [document])

    def formatted(self, watching: Watching, handed: Documents, shown: Shown) -> None:
        """Take in a text that was made of documents."""
        self._turns.do(partial(self._format, handed, shown))
        if self._at_once:
            self.pack(watching)

    def _format(self, handed: Documents, shown: Shown) -> None:
        if self._texts:
            self._formatted, self._prompts, self._texts = [], [], set()
        self._formatted.append((handed, shown))

    def prompted(self, watching: Watching, text: str) -> None:
        """Take in a text that a model is given, or a prompt; it may show documents or none."""
        with self._turns.lock:
            live = [document for alike in list(self._live.values()) for document in alike]
            left = [document for alike in list(self._left.values()) for document in alike]
        self._turns.settle()
        texts = {document.page_content for document in live}
        held = places_in(text, {content for document in left if (content := document.page_content.strip())}) or {}
        for document in left:  # by one of several branches, say, or by a node whose documents are added to the others
            content = document.page_content
            if content not in texts and content.strip() in held:
                texts.add(content)
                live.append(document)
        told = hash(text), len(live)
        if not live or told in self._texts:
            return  # a model is given what the prompt before it was
        shown = shown_by(text, live)
        if shown is None:
            return
        self._turns.do(partial(self._prompt, told, live, shown, _rounds_here()))
        if self._at_once:
            self.pack(watching)

    def _prompt(self, told: tuple[int, int], live: Documents, shown: Shown, rounds: _Rounds) -> None:
        if self._overruled(rounds, _keys(shown)) or not self._prompts:
            self._texts = set()
        self._prompts.append((rounds, shown))
        self._texts.add(told)
        if len(self._prompts) > 1 and not self._at_once:  # each text has labels of its own
            shown = [(document, None) for _, each in self._prompts for document, _ in each]
        self._formatted = [(live, shown)]

    def _overruled(self, rounds: _Rounds, keys: set[str | int]) -> bool:
        """Take what was shown in these rounds for no part of the end, if it has one of these documents."""
        again = any(_is_in(at, rounds) and not keys.isdisjoint(_keys(shown)) for at, shown in self._prompts)
        if again:
            self._prompts = [each for each in self._prompts if not _is_in(each[0], rounds)]
        return again

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
            with watching.stage(kinds.PACKING, input=handed) as stage:
                stage.returned(documents, labels=labels if labelled else None)


def within(context: Context, number: int) -> Context:
    """Return a context that is inside of one more round."""
    return set_value(_ROUNDS, (*_rounds_here(), number), context)


def _rounds_here() -> _Rounds:
    return cast(_Rounds, get_value(_ROUNDS) or ())


_TRAIL: Final = "rop_otel_langchain trail"
"""Noted with a handoff that the application opened, for what it does in it outside of any call of a chain."""


def trail_here() -> Trail | None:
    """Return the trail of the call, else of the handoff, that the caller is in; None outside of any."""
    call = call_here()
    if call is not None:
        return call.trail
    handoff = rop.current_handoff()
    return cast(Trail, notes(handoff).setdefault(_TRAIL, Trail(at_once=True))) if handoff.id else None


def _is_in(inner: _Rounds, outer: _Rounds) -> bool:
    return inner[: len(outer)] == outer


def _keys(shown: Shown) -> set[str | int]:
    return {_key(document) for document, _ in shown}


def _key(document: Document) -> str | int:
    """Return what tells a document from others, and is the same for copies of it."""
    return id(document) if document.id is None else document.id
