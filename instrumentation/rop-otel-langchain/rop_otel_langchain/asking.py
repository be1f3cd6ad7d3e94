"""Who was given which text, and from which of these texts the answer came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Final, TypeAlias, cast

from rop_otel.instrumenting import Prompted, plain_text
from rop_otel_langchain.documents import Documents, key_of

Rounds: TypeAlias = tuple[int, ...]

_SHORT: Final = 3
"""Words that an answer has to have for being known wherever it stands."""

_LONG: Final = 20
"""Letters that a part of an answer has to have for being known."""

_MOST: Final = 100_000_000
"""Characters in which answers are looked for, for one result."""


class Asked:
    """A text that a model was given, or that was made for whoever reads it.

    Args:
        texts: What it was given, of several messages each text.
        showing: Those of these texts that may show documents.
        documents: Those that the text may show.
        shown: What it shows of them; None where that cannot be decided.
        beside: What else is in the text, such as the question.
        by: ``model``; ``prompt`` or ``function`` where nobody is known to read what these made.
        rounds: Where it was given.
        call: Marks the call that it is a part of.
        given: The documents in the state of the graph's node that it is a part of.
        at: The moment when it was given.
        of: How many documents were looked for in it: that were there, and that were left before.

    Attributes:
        held: How much it shows of each document, by its key; None where that cannot be decided.
        answers: What came of it; None where that is not known.
        overruled: Somebody chose among its documents since, or was shown them too.
        settled: It is known to be a reader's.
        refused: The model refused to answer.
    """

    def __init__(
        self,
        texts: tuple[str, ...],
        showing: tuple[str, ...],
        documents: Documents,
        shown: Prompted | None,
        *,
        beside: Sequence[str],
        by: str,
        rounds: Rounds,
        call: object,
        given: Documents,
        at: int,
        of: tuple[int, int],
    ) -> None:
        self.texts, self.showing, self.documents, self.shown, self.beside = texts, showing, documents, shown, beside
        self.of = of
        self.held = None if shown is None else _held(shown)
        self.by, self.rounds, self.call, self.given, self.at = by, rounds, call, given, at
        self.answers: list[str] | None = None
        self.failed = self.overruled = self.settled = self.refused = False

    @property
    def shows(self) -> bool:
        """Whether the text shows documents, or may."""
        return self.held is None or bool(self.held)

    @property
    def share(self) -> float:
        """How much of a document it shows at most."""
        return max((self.held or {}).values(), default=0.0)

    @property
    def by_model(self) -> bool:
        """Whether a model was given it."""
        return self.by == "model"

    @cached_property
    def plain(self) -> str:
        """The text, as answers are looked for in it."""
        return plain_text("\n".join(self.texts))

    def answered(self, said: list[str] | None) -> None:
        """Take in what came of it."""
        if said is not None:
            plain = filter(None, map(plain_text, said))
            self.answers = [*dict.fromkeys([*(self.answers or ()), *plain])]  # a model's methods call one another

    def read(self, other: Asked) -> bool:
        """Return whether the text holds what came of another one, at some length."""
        return any(len(each.split()) >= _SHORT and each in self.plain for each in other.answers or ())


def _held(shown: Prompted) -> dict[str | int, float]:
    documents = cast("Documents", shown.documents)
    return {key_of(each): share for each, share in zip(documents, shown.shares, strict=True) if share}


def readers(asked: Sequence[Asked], result: str | None) -> list[Asked]:
    """Return the texts from which the answer came, in order; one that shows nothing where the context was lost.

    Args:
        asked: All of them, in order.
        result: What the call returned, as :func:`plain_text` writes it; None: it is not known.
    """
    asked = [each for each in asked if not each.failed]
    last = [*takewhile(lambda each: not each.by_model, reversed(asked))][::-1]
    shown = [each for each in last if each.shows]
    models = [each for each in asked if each.by_model]
    final = next((each for each in reversed(models) if result is not None and _is_of(result, each.answers)), None)
    if shown and (final is None or final.overruled):
        return shown
    if final is None:
        left = last[-1:] or [each for each in models if not each.overruled][-1:] or models[-1:]
        if not left:
            return []
        [final] = left
    return _behind(final, asked) or [final]


def all_readers(asked: Sequence[Asked]) -> list[Asked]:
    """Return the same where it is unknown which text is the last: all that show documents, if the last is no loss."""
    found = readers(asked, None)
    if not any(each.shows for each in found):
        return found
    return [each for each in asked if each in found or (each.by_model and each.shows and _counts(each))]


def _counts(asked: Asked) -> bool:
    return asked.settled or not (asked.overruled or asked.failed)


def _is_of(result: str, answers: Sequence[str] | None) -> bool:
    """Return whether a result holds an answer, or is a part of one; a stream's is not known, and may."""
    if answers is None:
        return True
    return any(each in result or (len(result) > _LONG and result in each) for each in answers)


def _behind(final: Asked, asked: Sequence[Asked]) -> list[Asked]:
    """Return what shows documents: the text, and those whose answers are in it, or in one of these."""
    found: set[Asked] = set()
    seen, waiting, left = {final}, [final], _MOST
    while waiting and left > 0:
        each = waiting.pop()
        if each.shows:
            found.add(each)
        before = [other for other in asked[: asked.index(each)] if other.answers and other not in seen]
        left -= len(each.plain) * (len(before) + 1)
        feeding = [other for other in before if each.read(other)]
        feeding += _short_ones(each, [other for other in before if other not in feeding])
        fresh = [other for other in feeding if not other.overruled]
        said = {tuple(other.answers or ()) for other in fresh}
        if not each.shows:  # of those that said the same, a grader and a reader perhaps, the reader
            fresh += [other for other in feeding if other.overruled and tuple(other.answers or ()) not in said]
        feeding = fresh
        seen.update(feeding)
        waiting += feeding
    return [each for each in asked if each in found]


def _short_ones(asked: Asked, others: Iterable[Asked]) -> list[Asked]:
    """Return those whose short answers are in a text, the latest of those that are alike.

    Of grades such as ``yes`` one may be there by chance: where the text shows no documents, all have to be there.
    """
    by_answer: dict[str, list[Asked]] = {}
    for each in others:
        if each.shows:
            by_answer.setdefault(" ".join(each.answers or ()), []).append(each)
    found: list[Asked] = []
    for answer, those in by_answer.items():
        if answer and len(answer.split()) < _SHORT:
            stands = len(re.findall(rf"(?<!\w){re.escape(answer)}(?!\w)", asked.plain))
            if asked.shows or stands >= len(those):
                found += those[len(those) - min(stands, len(those)) :]
    return found
