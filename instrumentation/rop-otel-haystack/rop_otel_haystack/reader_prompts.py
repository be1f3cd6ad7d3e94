"""The prompts of a handoff: with which of them its reader was asked, and what those show of the documents.

A prompt that another one follows is not the reader's: one to which a component adds, or a question that a model is
asked on the way to the answer. What only takes up a reply, as a translation of the answer does, follows none. All of
this is known at the end of the handoff, or when the application reports its answer, and recorded there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final, Self

import rop_otel as rop
from rop_otel.instrumenting import (
    Kind,
    Prompted,
    Settings,
    guarded,
    kept_until_the_end,
    kinds,
    ran,
    record_shown,
    stage_of,
    unlabelled,
    using_context,
)
from rop_otel_haystack.kinds import ASKED, MADE
from rop_otel_haystack.one_prompt import Prompt
from rop_otel_haystack.plan import Step
from rop_otel_haystack.showing import labels_by_place, shown_by

UNSCORED: Final = "no score"
"""Where stages look for scores: no document has such a name, so that only given scores count."""

_MOST: Final = 200
"""Prompts of one handoff that are kept; of more nobody says which are the reader's."""

_NOBODY: Final = "no stage"
"""Feeds a prompt of which nobody knows what does: no stage has this name."""


class Prompts:
    """What is kept of one handoff until its end.

    Args:
        settings: The user's.
    """

    __slots__ = (
        "_settings",
        "_shows",
        "answers",
        "at_hand",
        "cites",
        "last_answer",
        "number",
        "prompts",
        "sources",
        "tools",
    )

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.prompts: list[Prompt] = []
        self.number = 0
        """How many there were."""
        self._shows: dict[int, tuple[list[Any], Prompted | None]] = {}
        self.answers: list[Callable[[Mapping[str, str]], None]] = []
        self.at_hand: dict[tuple[int, str], list[Any]] = {}
        """What no other stage has taken yet, by the run and the name of the stage that returned it."""
        self.sources = 0
        self.last_answer: Callable[[], None] | None = None
        """What has to be reported of the answer of an agent, of several the last one's."""
        self.cites = False
        """Whether an answer refers to documents by their number."""
        self.tools: dict[object, list[Any]] = {}
        """What an agent's tools retrieved; their messages say what they show."""

    @classmethod
    def of(cls, handoff: rop.Handoff, settings: Settings) -> Self:
        """Return what is kept of a handoff that is open."""
        if not handoff.id:
            return cls(settings)  # of which nothing is recorded
        return kept_until_the_end(handoff, cls, partial(cls, settings), cls.settle)

    def took(self, run: object, step: Step, documents: list[Any], *, name: str) -> None:
        """Take in what a stage returned, in the place of what feeds it.

        Args:
            run: Of the pipeline.
            step: The component.
            documents: The list.
            name: Of the stage.
        """
        if step.source:
            self.sources += 1
        elif step.fed_by:
            for each in step.fed_by:
                self.at_hand.pop((id(run), each), None)
        elif not step.arms:
            self.at_hand = {}
        self.at_hand[id(run), name] = documents

    def add(self, prompt: Prompt) -> None:
        """Take in a prompt."""
        self.number += 1
        if self.number <= _MOST:
            asked = prompt.what == ASKED and not prompt.lists
            self.prompts.append(self._with_makers(prompt) if asked else prompt)

    def answer(self, report: Callable[[Mapping[str, str]], None], *, cites: bool) -> None:
        """Take in an answer.

        Args:
            report: Reports it, with the labels that were shown by their numbers.
            cites: Whether it refers to documents by their number.
        """
        self.answers.append(report)
        self.cites = self.cites or cites

    def _with_makers(self, prompt: Prompt) -> Prompt:
        """Return a prompt with what those that it was made of were made of."""
        made = {each.node: each for each in self.prompts if each.run is prompt.run and each.what == MADE}
        models = {each.node for each in self.prompts if each.run is prompt.run and each.what == ASKED}
        before = [] if prompt.graph is None else [made[each] for each in _upstream(prompt, made, models)]
        if not any(each.lists for each in before):
            before += [each for each in self.prompts if each.what == MADE and each.text.strip() in prompt.text]
        makers = [each for each in before if each.lists]
        beside = (*prompt.beside, *(text for each in before for text in each.beside))
        given = (*prompt.given, *(text for each in before for text in each.given))
        if not makers:
            return replace(prompt, beside=beside, given=given)
        return replace(
            prompt,
            name=makers[0].name,
            implementation=makers[0].implementation,
            fed_by=tuple(name for each in makers for name in each.fed_by),
            lists=tuple(found for each in makers for found in each.lists),
            beside=beside,
            given=given,
        )

    def settle(self) -> None:
        """Record what the reader was shown, and what it answered."""
        labels: dict[str, str] = {}
        try:
            with guarded("Haystack pipeline", "what its reader was shown cannot be read"):
                readers = list(self._readers())
                own = _own_labels([(prompt, shown) for prompt, _, shown in readers])
                for prompt, documents, shown in readers:
                    # Of several prompts that no connection feeds, each is handed its part of what was found.
                    part = len(readers) > 1 and not prompt.fed_by and not prompt.behind
                    labels |= self._pack(prompt, documents, shown, own=own, part=part)
                for answer in self.answers:
                    answer(labels)
                if self.last_answer is not None:
                    self.last_answer()
        finally:
            self.last_answer = None
            self.prompts, self.answers, self.at_hand, self._shows = [], [], {}, {}

    def _readers(self) -> Iterator[tuple[Prompt, list[Any], Prompted | None]]:
        """Yield the prompts that the reader was asked with, with the documents that they may show and do."""
        if self.number > _MOST:
            yield self.prompts[-1], self.prompts[-1].documents, None
            return
        without: tuple[Prompt, list[Any], Prompted | None] | None = None
        packed = False
        for prompt in self._asked([each for each in self._last() if not self._judges(each)]):
            documents, shown = self._look(prompt)
            if self._holds(prompt) or (prompt.lists and not self._aside(prompt)):
                packed = True
                yield prompt, documents, shown
            elif not self._aside(prompt):
                without = prompt, documents, shown
        if without is not None and not packed and (self.sources or without[1]):
            yield without

    def _asked(self, prompts: list[Prompt]) -> list[Prompt]:
        """Return the prompts that a model was asked with, for the answer; where none is seen, those that were made."""
        asked = {
            id(each.within) for each in prompts if each.what == ASKED and (self._holds(each) or not self._aside(each))
        }
        return [each for each in prompts if each.what == ASKED or id(each.within) not in asked]

    def _holds(self, prompt: Prompt) -> bool:
        """Return whether a prompt holds documents, or may."""
        shown = self._look(prompt)[1]
        return shown is None or any(shown.shares)

    def _aside(self, prompt: Prompt) -> bool:
        """Return whether a prompt without documents asks for something else than the answer."""
        earlier = self.prompts[: self.prompts.index(prompt)]
        later = prompt.asks_for_more and prompt.sources < self.sources
        return later or bool(self.tools) or any(prompt.takes_up(each) for each in earlier)

    def _judges(self, prompt: Prompt) -> bool:
        """Return whether a prompt asks about an answer: it holds the reply to a prompt that was shown documents."""
        earlier = self.prompts[: self.prompts.index(prompt)]
        same = [each for each in earlier if each.sources == prompt.sources and not prompt.is_again(each)]
        return any(prompt.takes_up(each) and self._holds(each) for each in same)

    def _last(self) -> list[Prompt]:
        """Return the prompts that no other one comes after, in no round of a loop."""
        last: list[Prompt] = []
        over: set[tuple[int, str]] = set()
        for place, prompt in enumerate(self.prompts):
            if prompt.within in self.tools and not prompt.lists:
                continue
            later = [each for each in self.prompts[place + 1 :] if prompt.comes_before(each)]
            if all(each.takes_up(prompt) and not self._mends(each, prompt) for each in later):
                last.append(prompt)
            elif prompt.graph is not None and any(each.node != prompt.node for each in later):
                over.add((id(prompt.run), prompt.node))
        return [each for each in last if (id(each.run), each.node) not in over]

    def _mends(self, prompt: Prompt, other: Prompt) -> bool:
        """Return whether a model is asked again, with its own reply and all that it was shown."""
        if not prompt.is_again(other):
            return False
        shows, less = (self._look(each)[1] for each in (prompt, other))
        if shows is None or less is None or not any(shows.shares):
            return False
        kept = {id(each) for each in shows.documents}
        return all(id(each) in kept for each in less.documents)

    def _look(self, prompt: Prompt) -> tuple[list[Any], Prompted | None]:
        """Return the documents that a prompt may show, and those that it does."""
        found = self._shows.get(id(prompt))
        if found is None:
            found = self._shows[id(prompt)] = self._looked(prompt)
        return found

    def _looked(self, prompt: Prompt) -> tuple[list[Any], Prompted | None]:
        found = [*prompt.documents, *self.tools.get(prompt.within, ())]
        documents = list({id(each): each for each in found}.values())
        return documents, shown_by(prompt.texts, documents, self._settings, beside=prompt.beside, more=prompt.pictures)

    def _pack(
        self, prompt: Prompt, documents: list[Any], shown: Prompted | None, *, own: bool, part: bool
    ) -> dict[str, str]:
        """Record a prompt as a stage, and return its labels by their numbers.

        Args:
            prompt: The prompt.
            documents: That it may show.
            shown: What it does.
            own: Whether its labels are those of no other prompt.
            part: Whether it is made of a part of what was found, and nobody knows of which.
        """
        labels = shown.labels if shown is not None and own else None
        if shown is not None and own and self.cites and any(shown.shares) and not any(map(_number, labels or ())):
            labels = labels_by_place(shown, documents)
            if labels is None:
                unlabelled("Haystack", prompt.name)
        made = stage_of(
            self._settings,
            Kind(kinds.PACKING, name=prompt.name),
            fed_by=(_NOBODY,) if part else prompt.fed_by,
            score=UNSCORED,
            implementation=prompt.implementation,
        )
        with using_context(prompt.context), _running(ran(made, *prompt.times), prompt.error) as stage:
            if prompt.lists and not part and not prompt.behind:
                stage.input(*prompt.lists)
            if prompt.fallback is not None:
                stage.implementation(prompt.fallback, fallback=True)
            if prompt.error is None:
                record_shown(stage, documents, shown and shown._replace(labels=labels), self._settings)
        return {number: label for label in labels or () if (number := _number(label))}


def _own_labels(prompts: list[tuple[Prompt, Prompted | None]]) -> bool:
    """Return whether no label stands in two prompts, each of which begins to count anew, for two documents."""
    taken: dict[tuple[int | None, str], int] = {}
    for prompt, shown in prompts:
        mine = {} if shown is None else dict(zip(shown.labels or (), map(id, shown.documents), strict=False))
        if any(taken.get((prompt.round, label), document) != document for label, document in mine.items()):
            return False
        taken |= {(prompt.round, label): document for label, document in mine.items()}
    return True


@contextmanager
def _running(stage: rop.Stage, error: BaseException | None) -> Iterator[rop.Stage]:
    """Be in a stage that raised, where it did."""
    stage.__enter__()
    try:
        yield stage
    except BaseException as raised:
        stage.__exit__(type(raised), raised, None)
        raise
    stage.__exit__(None if error is None else type(error), error, None)


def _number(label: str) -> str:
    """Return the number in a label, empty where there is none."""
    digits = "".join(each for each in label if each.isdecimal())
    return str(int(digits)) if digits else ""


def _upstream(prompt: Prompt, made: Mapping[str, Prompt], models: set[str]) -> list[str]:
    """Return the components that made what a prompt was made of; what a model replied was made of nothing."""
    found: list[str] = []
    seen = {prompt.node}
    ahead = [prompt.node]
    while ahead:
        for each in prompt.graph.predecessors(ahead.pop()):
            if each in seen or each in models:
                continue
            seen.add(each)
            if each in made:
                found.append(each)
            if each not in made or not made[each].lists:
                ahead.append(each)
    return found
