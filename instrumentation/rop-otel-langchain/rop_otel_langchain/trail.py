"""Follows the documents of one call to the text in which they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain, count
from operator import attrgetter
from typing import Final, NamedTuple, cast

from langchain_core.documents import Document
from opentelemetry.context import Context, create_key, get_value, set_value

import rop_otel as rop
from rop_otel.instrumenting import (
    Kind,
    Prompted,
    Turns,
    kept_until_the_end,
    kinds,
    look,
    moment,
    passages_in,
    ran,
    record_shown,
)
from rop_otel_langchain.asking import Asked, Rounds, all_readers, readers
from rop_otel_langchain.carrying import call_here
from rop_otel_langchain.documents import Documents, are_documents, key_of
from rop_otel_langchain.labels import remember_labels
from rop_otel_langchain.runs import run_here
from rop_otel_langchain.watching import Watching, never_raising

_ROUNDS: Final = create_key("rop_otel_langchain rounds")
"""The rounds that the caller is inside of, one in another, as where a tool is an agent of its own."""

_NO_LABEL: Final = re.compile(r"(?!)")
"""Each text has labels of its own, so that several have none."""

_WHOLE: Final = 0.95
"""The share of a text from which on it is whole."""

_QUERIES: Final = 100
"""Questions that are remembered, the latest."""


class Before(NamedTuple):
    """What is in a prompt of the conversation until now.

    Args:
        said: By the model.
        asked: Before it said something; what shows documents whole is no question.
    """

    said: Sequence[str]
    asked: Sequence[str]


class Trail:
    """The documents that a call has, and the texts that may show them.

    A chain may show documents several times, to grade them or to write a question, say. What counts is the text that
    the answer came from, and those whose answers this text holds in turn, as where a model reads one after another.

    Attributes:
        rounds: The numbers of its rounds.
        readers: The texts that the answer came from, once that is known.
    """

    def __init__(self) -> None:
        self.rounds = count(1)
        self.readers: Sequence[Asked] = ()
        self._latest = 0
        self._found: set[str | int] = set()  # in the latest round of a graph
        self._turns = Turns()  # branches of a chain run in threads, and a signal handler may run a chain
        self._live: dict[str | int, list[Document]] = {}
        self._left: dict[str | int, list[Document]] = {}
        self._asked: list[Asked] = []
        self._beside: dict[str, None] = {}

    def moved(self, handed: Iterable[Documents], results: object) -> None:
        """Take in that something returned documents, perhaps in the place of those that it was handed."""
        old = {key_of(document) for each in handed for document in each}
        new: dict[str | int, list[Document]] = {}
        for document in results if are_documents(results) else ():
            _add(new.setdefault(key_of(document), []), document)
        self._turns.do(partial(self._move, old, new, _rounds_here()))

    def _move(self, old: set[str | int], new: dict[str | int, list[Document]], rounds: Rounds) -> None:
        for key in [key for key in self._live if key in old]:
            self._left[key] = self._live.pop(key)
        self._live.update(new)
        self._found.update(new)
        for each in self._asked:
            chosen = _is_in(each.rounds, rounds) and not old.isdisjoint(each.held or ())  # by whom it was shown to
            # A model, an agent's, is asked again after a tool retrieved.
            before = each.rounds != rounds and _is_in(rounds, each.rounds)
            each.overruled = each.overruled or chosen or before

    def begin_round(self) -> int:
        """Return the number of a round in which a graph retrieves."""
        self._found = set()
        self._latest = next(self.rounds)
        return self._latest

    def round_of(self, handed: object) -> int | None:
        """Return the latest of these rounds if there are several, and documents are all of it; None: they are not."""
        again = self._latest > 1 and are_documents(handed) and all(key_of(each) in self._found for each in handed)
        return self._latest if again else None

    def remembered(self, documents: Iterable[Document]) -> None:
        """Take in documents that were found before, and may still be shown."""
        self._turns.do(partial(self._remember, list(documents)))

    def _remember(self, documents: list[Document]) -> None:
        for document in documents:
            if (key := key_of(document)) not in self._live:
                _add(self._left.setdefault(key, []), document)

    def beside(self, texts: Iterable[str]) -> None:
        """Take in questions, which prompts may hold beside documents."""
        self._turns.do(partial(self._add_beside, [text for text in texts if text.strip()]))

    def _add_beside(self, texts: list[str]) -> None:
        self._beside.update(dict.fromkeys(texts))
        for text in list(self._beside)[:-_QUERIES]:
            del self._beside[text]

    def formatted(self, watching: Watching, handed: Documents, texts: tuple[str, ...]) -> None:
        """Take in what a function made of documents; a text that shows none is no prompt."""
        asked = self._made(watching, texts, handed, (), Before((), ()), "function")
        if asked.held is None or asked.share > _WHOLE or len(asked.held) > max(1, len(handed) // 2):
            # A function that answers from documents may quote one of them.
            self._turns.do(partial(self._asked.append, asked))

    def prompted(self, watching: Watching, texts: tuple[str, ...], before: Before, *, by_model: bool) -> Asked | None:
        """Take in what a model is given, or a prompt; None where there are no documents yet, or no more.

        Args:
            watching: The instrumentation's settings.
            texts: Of its messages.
            before: Those of these texts that are of the conversation until now.
            by_model: Whether a model is given it.
        """
        with self._turns.lock:
            live = [*chain.from_iterable(list(self._live.values()))]
            left = [*chain.from_iterable(list(self._left.values()))]
        self._turns.settle()
        by = "model" if by_model else "prompt"
        asked = next((each for each in reversed(self._asked) if _is_same(each, texts, live, left)), None)
        if asked is None:
            asked = self._made(watching, texts, live, left, before, by)
        if not asked.documents:
            return None
        if asked not in self._asked or asked.by != by:  # a model is given what the prompt before it was
            asked.by = by if by_model else asked.by
            self._turns.do(partial(self._ask, asked))
        return asked

    def _made(
        self,
        watching: Watching,
        texts: tuple[str, ...],
        documents: Documents,
        left: Documents,
        before: Before,
        by: str,
    ) -> Asked:
        """Return a text, in which messages that only ask, or are the model's own, are no sign of documents.

        Documents that were left may be in it all the same, as one of several branches or a node shows them: where it
        has them whole.
        """
        of = len(documents), len(left)
        contents = {each.page_content for each in documents}
        left = [*{each.page_content: each for each in left if each.page_content not in contents}.values()]
        beside = list(self._beside)
        known = [each.page_content for each in (*documents, *left)]
        others = {*before.said, *beside, *(each for each in before.asked if not passages_in((each,), (), whole=known))}
        showing = tuple(each for each in texts if each not in others)
        beside = [*{*beside}.difference(texts)]
        shown = _shown(watching, showing, documents, left, beside)
        found = [] if shown is None or not left else shown.documents
        call, run = call_here(), run_here()
        return Asked(
            texts,
            showing,
            [*documents, *(each for each in left if any(each is other for other in found))],
            shown,
            beside=beside,
            by=by,
            rounds=_rounds_here(),
            call=None if call is None else call.mark,
            given=() if run is None else run.given,
            at=moment(rop.current_handoff()),
            of=of,
        )

    def _ask(self, asked: Asked) -> None:
        """Put it behind all others; what was made before is what it was made of, whoever was to read that."""
        made = ("function", "prompt") if asked.by_model else ("function",)
        self._asked = [each for each in self._asked if each is not asked and each.by not in made]
        alike = [each for each in self._asked if _is_in(each.rounds, asked.rounds) and not each.settled]
        shared = [each for each in alike if not (each.held or {}).keys().isdisjoint(asked.held or ())]
        if any(asked.read(each) for each in shared):
            asked.overruled = True  # it is asked whether an answer is right
        elif shared:
            for each in alike:
                each.overruled = True
        self._asked.append(asked)

    def settle(self, call: object, result: str | None) -> None:
        """Take in that a call in the application's own handoff is over: of its texts only the reader's count."""
        self._turns.do(partial(self._settle, call, result))

    def _settle(self, call: object, result: str | None) -> None:
        kept = readers([each for each in self._asked if each.call is call], result)
        for each in kept:
            each.settled = each.shows
        self._asked = [each for each in self._asked if each.call is not call or each in kept]

    def pack(self, watching: Watching, result: str | None) -> None:
        """Record what the answer came from.

        Args:
            watching: The instrumentation's settings.
            result: What the call returned, as it is compared with the answers of models; None: it is not known.
        """
        with self._turns.lock:
            asked = list(self._asked)
        self._turns.settle()
        self.readers = readers(asked, result)
        self._pack(watching, self.readers)

    @never_raising
    def pack_all(self, watching: Watching) -> None:
        """Record the same at the end of a handoff that the application opened, where several calls may answer."""
        with self._turns.lock:
            asked = list(self._asked)
        self._turns.settle()
        self._pack(watching, all_readers(asked))

    def _pack(self, watching: Watching, asked: Sequence[Asked]) -> None:
        if not asked:
            return
        known = {(key_of(each), each.page_content): each for given in asked for each in given.documents}
        documents = [*known.values()]
        number = self.round_of([document for each in asked for document in each.given])
        within_it = nullcontext() if number is None else rop.using_round(number)
        at = max(each.at for each in asked)  # what is retrieved afterwards is not for the reader
        with within_it, ran(watching.stage(Kind(kinds.PACKING), input=documents), at, at) as stage:
            if len(asked) == 1 or watching.rewritten:
                shown = asked[0].shown
                record_shown(stage, documents, shown, watching.settings)
            else:
                shown = stage.shown_in(
                    [text for each in asked for text in each.showing],
                    documents,
                    text="page_content",
                    beside={text for each in asked for text in each.beside},
                    label_pattern=_NO_LABEL,
                )
        if shown is not None and shown.labels is not None:
            remember_labels(rop.current_handoff(), cast("Documents", shown.documents), shown.labels)


def within(context: Context, number: int) -> Context:
    """Return a context that is inside of one more round."""
    return set_value(_ROUNDS, (*_rounds_here(), number), context)


def _rounds_here() -> Rounds:
    return cast(Rounds, get_value(_ROUNDS) or ())


_TRAIL: Final = "rop_otel_langchain trail"
"""Noted with a handoff that the application opened, for all that it does in it."""


def trail_here(watching: Watching) -> Trail | None:
    """Return the trail of the call, else of the handoff, that the caller is in; None outside of any."""
    call = call_here()
    if call is not None:
        return call.trail
    handoff = rop.current_handoff()
    return trail_of(handoff, watching) if handoff.id else None


def trail_of(handoff: rop.Handoff, watching: Watching) -> Trail:
    """Return the trail of a handoff that the application opened, which reports what was shown at its end."""
    return kept_until_the_end(handoff, _TRAIL, Trail, lambda trail: trail.pack_all(watching))


def _shown(
    watching: Watching, texts: Sequence[str], documents: Documents, left: Documents, beside: Sequence[str]
) -> Prompted | None:
    """Return what texts show of documents, and of those that were left; None where that cannot be decided."""
    if watching.rewritten:
        return Prompted([*documents], [1.0] * len(documents), None)
    id_of = watching.settings.id or attrgetter("id")
    return look(
        texts,
        documents,
        [id_of(each) or "" for each in (*documents, *left)],
        text="page_content",
        beside=beside,
        label_pattern=watching.settings.label_pattern,
        whole=left,
    )


def _add(alike: list[Document], document: Document) -> None:
    """Add a document to those with its ID, which pieces of one document may all have."""
    if all(each.page_content != document.page_content for each in alike):
        alike.append(document)


def _is_same(asked: Asked, texts: tuple[str, ...], live: Documents, left: Documents) -> bool:
    of = len(live), len(left)
    return asked.texts == texts and asked.of == of and not asked.failed and asked.by != "function"


def _is_in(inner: Rounds, outer: Rounds) -> bool:
    return inner[: len(outer)] == outer
