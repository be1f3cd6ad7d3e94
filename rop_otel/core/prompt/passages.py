"""Which of some texts a prompt holds, how much of each, and in which order.

A text is looked for whole, first as it is, then without regard to spaces and escapes. Of what is left, six words in a
row or more are looked for, in any writing. Each part of the prompt is a sign of one text only: of the one of which it
holds the most there. What the application puts beside the texts, a question or a history, is a text of its own, and no
sign of any other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from rop_otel.core.prompt.plain import plain_text
from rop_otel.core.prompt.promising import promising
from rop_otel.core.prompt.steps import Steps, TooManyStepsError
from rop_otel.core.prompt.whole_texts import WholeTexts
from rop_otel.core.prompt.word_runs import RUN, Run, WordRuns, places_of_words, words_of

_LETTERS: Final = 20
"""Words in a row have at least so many letters where they are a sign of a text; others may stand anywhere."""

_BEFORE: Final = 200
"""Characters before a passage that are kept."""

_Places: TypeAlias = tuple[int, ...]
"""Where texts that are alike stand in the list of texts."""

_BESIDE: Final[_Places] = ()
"""In the place of that: a text that stands beside them."""


class Passage(NamedTuple):
    """What a prompt holds of a text.

    Args:
        place: Of the text in its list.
        share: How much of the text the prompt holds, above 0 and at most 1.
        before: What stands before it, behind the passage before it, of which its last 200 characters are given.
    """

    place: int
    share: float
    before: str


class _Part(NamedTuple):
    """A part of the prompts, with what orders it among the others."""

    key: tuple[int, ...]
    text: str


class _Found(NamedTuple):
    key: tuple[int, ...]
    share: float
    before: str


def passages_in(
    prompts: Iterable[str], texts: Sequence[str], *, beside: Iterable[str] = (), whole: Sequence[str] = ()
) -> tuple[Passage, ...] | None:
    """Return what prompts hold of some texts, in the order of the prompts; empty: nothing.

    A text that stands several times is given where it stands first. Texts that are alike are held together.

    Args:
        prompts: Are read one after the other.
        texts: An empty one is never held.
        beside: What else the prompts hold. A part of it is no sign of a text.
        whole: Texts that count only where they stand whole, and are none of the others; their places follow those.

    Returns:
        None if it cannot be decided: a part of the prompt belongs to several texts alike, the few words of a short
        text stand there in another writing, or the texts repeat themselves and one another so much that the search
        would take long.
    """
    places: dict[str, _Places] = {}
    for place, text in enumerate(texts):
        if stripped := text.strip():
            places[stripped] = (*places.get(stripped, ()), place)
    for place, text in enumerate(whole, count := len(texts)):
        if (stripped := text.strip()) and places.get(stripped, (count,))[0] >= count:
            places[stripped] = (*places.get(stripped, ()), place)
    parts = [_Part((number,), prompt) for number, prompt in enumerate(prompts)]
    others = {stripped for text in beside if (stripped := text.strip())}
    lengths = sum(len(part.text) for part in parts) + sum(map(len, places)) + sum(map(len, others))
    try:
        found = _find(parts, places, count, others, Steps(lengths))
    except TooManyStepsError:
        return None
    if found is None:
        return None
    ordered = sorted((each.key, place, each) for those, each in found.items() for place in those)
    return tuple(Passage(place, each.share, each.before) for _, place, each in ordered)


def _find(
    parts: list[_Part], texts: Mapping[str, _Places], partly: int, beside: set[str], steps: Steps
) -> dict[_Places, _Found] | None:
    found: dict[_Places, _Found] = {}
    rest = _take_whole(parts, texts, beside, found, steps)
    rest = [_Part(part.key, plain_text(part.text)) for part in rest]
    plain: dict[str, _Places] = {}
    for text in promising([text for text, those in texts.items() if those not in found], [part.text for part in rest]):
        if alike := plain_text(text):
            plain[alike] = tuple(sorted((*plain.get(alike, ()), *texts[text])))
    if not plain:
        return found
    beside = {alike for text in beside if (alike := plain_text(text))}
    rest = _take_whole(rest, plain, beside, found, steps)
    left = {those: text for text, those in plain.items() if those not in found and those[0] < partly}
    return found if not left or _take_runs(rest, left, beside, found, steps) else None


def _take_whole(
    parts: list[_Part],
    texts: Mapping[str, _Places],
    beside: set[str],
    found: dict[_Places, _Found],
    steps: Steps,
) -> list[_Part]:
    """Add the texts that stand whole to what was found, and return the parts without them.

    A text that is as long as what stands beside it is that, unless it stands there more than once.
    """
    longest = max((len(part.text) for part in parts), default=0)
    wanted = WholeTexts((text for text in (*texts, *beside) if len(text) <= longest), steps)
    rest: list[_Part] = []
    once = set(beside)
    for part in parts:
        last = 0
        for at, text in wanted.find(part.text):
            if text in once:
                once.discard(text)
                continue
            if (those := texts.get(text)) is None:
                continue
            between = part.text[last:at]
            if those not in found:
                found[those] = _Found((*part.key, at), 1.0, between[-_BEFORE:])
            rest.append(_Part((*part.key, last), between))
            last = at + len(text)
        rest.append(_Part((*part.key, last), part.text[last:]))
    return [part for part in rest if part.text and not part.text.isspace()]


def _take_runs(
    parts: list[_Part],
    texts: Mapping[_Places, str],
    beside: set[str],
    found: dict[_Places, _Found],
    steps: Steps,
) -> bool:
    """Add the texts of which the parts hold words in a row; False where nobody can say of which."""
    said = _Said(parts)
    owners = [*texts, *([_BESIDE] * len(beside))]
    words = [words_of(text) for text in (*texts.values(), *beside)]
    runs = WordRuns(said.words, steps)
    seen = [run for number, each in enumerate(words) for run in runs.of(number, each)]
    seen.sort(key=lambda run: (-run.length, run.at))
    held: dict[int, int] = {}
    first: dict[int, int] = {}
    unclear: set[int] = set()
    for (_, at), group in groupby(seen, key=lambda run: (run.length, run.at)):
        alike = {run.text: run for run in group}
        free = said.take(next(iter(alike.values())))
        if not free or any(owners[number] is _BESIDE for number in alike):
            continue
        if len(alike) > 1 or len(words[min(alike)]) < RUN:
            unclear.update(alike)
            continue
        [number] = alike
        held[number] = held.get(number, 0) + free
        first[number] = min(at, first.get(number, at))
    for number, count in held.items():
        key, before = said.place(first[number])
        found[owners[number]] = _Found(key, min(1.0, count / len(words[number])), before)
    return unclear <= held.keys()


class _Said:
    """The words of the parts, each of which is a sign of one text only.

    Args:
        parts: Of the prompts.
    """

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = parts
        self._starts: list[int] = []
        self.words: list[str | None] = []
        for part in parts:
            self._starts.append(len(self.words))
            self.words += words_of(part.text)
            self.words.append(None)
        self._taken = bytearray(len(self.words))
        self._places: dict[int, list[int]] = {}

    def take(self, run: Run) -> int:
        """Return how many words of a run are no sign of another text, and take them; 0 where they are too few."""
        end = run.at + run.length
        free = self._taken.count(0, run.at, end)
        self._taken[run.at : end] = b"\1" * run.length
        if free == run.length < RUN:
            return free
        letters = sum(len(word or "") for word in self.words[run.at : end])
        return free if free >= RUN and letters * free >= _LETTERS * run.length else 0

    def place(self, at: int) -> tuple[tuple[int, ...], str]:
        """Return where a word stands among the passages, and what stands before it."""
        number = bisect_right(self._starts, at) - 1
        part = self._parts[number]
        if number not in self._places:
            self._places[number] = places_of_words(part.text)
        first = self._starts[number]
        start = self._places[number][at - first]
        last = self._taken.rfind(1, first, at)  # of the passage before it
        end = 0 if last < 0 else self._places[number][last - first] + len(self.words[last] or "")
        return (*part.key, start), part.text[max(end, start - _BEFORE) : start]
