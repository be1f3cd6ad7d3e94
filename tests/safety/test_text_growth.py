"""What reads texts takes at most as much longer as there is more to read, whatever the texts hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rop_otel.core.prompt import passages_in, plain_text
from rop_otel.tracing.handoffs import citing
from rop_otel.tracing.handoffs.citing import find_citations
from tests.safety.growth import MOST, Case, growth

Texts = list[str]


def with_dots(size: int) -> Texts:
    """Return tables of contents, each with a number of its own at its end."""
    return ["." * (600 + 7 * each) + f" {each}" for each in range(size // 8)]


def of_one_letter(size: int) -> Texts:
    """Return texts that differ in their length only."""
    return ["0" * (400 + each % 100) for each in range(size // 4)]


def of_two_letters(size: int) -> Texts:
    """Return texts that repeat two letters."""
    return ["ab" * (200 + each % 50) for each in range(size // 4)]


def short_rulers(size: int) -> Texts:
    """Return texts of a few dashes each, several of them alike."""
    return ["-" * (1 + each % 40) for each in range(size)]


def one_text(size: int) -> Texts:
    """Return the same text many times."""
    return ["one and the same document that says little. " * 4] * size


def in_one_another(size: int) -> Texts:
    """Return texts of which each contains all those before it; as long in all as ``size`` says."""
    return [" ".join(f"word{word}" for word in range(10 * each)) for each in range(1, int(size**0.5) * 2)]


def with_one_title(size: int) -> Texts:
    """Return texts that begin and end alike."""
    return [f"{'A title that all of them have. ' * 9}Number {each}. {'And an end. ' * 9}" for each in range(size)]


def at_length(size: int) -> Texts:
    """Return one long text of a few words."""
    return [f"{'again and ' * size * 20}again"]


@pytest.fixture(params=["all", "some", "cut"])
def left(request: pytest.FixtureRequest) -> Callable[[Texts], str]:
    """Return what makes a prompt: of all texts, of every other one, or of what is left of them without the end."""
    kept: dict[str, Callable[[Texts], Sequence[str]]] = {
        "all": lambda texts: texts,
        "some": lambda texts: texts[::2],
        "cut": lambda texts: [text[:-1] for text in texts],
    }
    return lambda texts: " ".join(kept[request.param](texts))


def assert_linear(prepare: Callable[[int], Callable[[], object]], size: int) -> None:
    """Compare the shortest times that a size and a multiple of it take."""
    assert growth(Case("", size, prepare)) <= MOST


@pytest.mark.parametrize(
    "look",
    [
        lambda prompt, texts: passages_in([prompt], texts),
        lambda prompt, texts: passages_in([prompt], texts, beside=texts[::3]),
        lambda prompt, texts: passages_in([prompt.upper()], texts),
    ],
)
@pytest.mark.parametrize(
    "make",
    [with_dots, of_one_letter, of_two_letters, short_rulers, one_text, in_one_another, with_one_title, at_length],
)
def test_texts_in_a_prompt(
    look: Callable[[str, Texts], object], make: Callable[[int], Texts], left: Callable[[Texts], str]
) -> None:
    """Four times as many texts, or one that is four times as long, take about four times as long."""

    def prepare(size: int) -> Callable[[], object]:
        texts = [plain_text(text) for text in make(size)]
        prompt = left(texts)
        return lambda: look(prompt, texts)

    assert_linear(prepare, 160)


def test_texts_with_dots_are_found() -> None:
    """Texts that share nearly all they hold are still found, each at its place."""
    texts = with_dots(640)
    shown = passages_in([" ".join(texts)], texts)
    assert shown is not None
    assert [each.place for each in shown] == list(range(len(texts)))


@pytest.mark.parametrize("piece", ["\\", "\\u0041", "\\\\n", "&", "&amp", "&#65;", "&#9", "9", " ", " \n\t", "x", "é&"])
def test_plain_text(piece: str) -> None:
    """Four times as long a text takes about four times as long, be it all escapes or all spaces."""
    assert_linear(lambda size: lambda: plain_text("&#" + piece * size), 20_000)


def test_a_number_that_python_does_not_read_stays() -> None:
    """A reference of more digits than Python converts is left as it is."""
    assert plain_text("one &#" + "9" * 5000 + "; two") == "one &#" + "9" * 5000 + "; two"


def titles(size: int) -> list[str]:
    """Return labels that are titles, with what a pattern would take for its own."""
    return [f"On (what) remains*: volume {each}.{'+?' * 20} " for each in range(size)]


ANSWERS: dict[str, Callable[[int], tuple[str, list[str]]]] = {
    "open brackets": lambda size: ("[" * size, ["S1"]),
    "citations": lambda size: ("prose [S1, S2] " * (size // 8), ["S1"]),
    "letters in brackets": lambda size: (f"[{'a' * 150} " * (size // 100), ["S1"]),
    "spaces": lambda size: (f"[{' ' * 190}S1]" * (size // 100), ["S1"]),
    "digits": lambda size: (f"[{'1' * 190}x]" * (size // 100), ["S1", "1"]),
    "backticks": lambda size: ("` " * size, ["S1"]),
    "more backticks each time": lambda size: (" ".join("`" * each for each in range(int((4 * size) ** 0.5))), ["S1"]),
    "fences": lambda size: ("```\n[S1]\n``` x\n" * (size // 8), ["S1"]),
    "titles": lambda size: (" ".join(f"[{title}]" for title in titles(size // 16)), titles(size // 16)),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_citations(answer: str) -> None:
    """Four times as long an answer, with four times as many labels, takes about four times as long."""

    def prepare(size: int) -> Callable[[], object]:
        text, shown = ANSWERS[answer](size)
        return lambda: find_citations(text, shown=shown)

    assert_linear(prepare, 10_000)


def test_titles_are_labels() -> None:
    """A label may hold what means something in a pattern."""
    shown = [title.strip() for title in titles(3)]
    assert find_citations(f"As [{shown[1]}] says, [S1].", shown=shown) == (shown[1],)


def test_a_group_of_spaces() -> None:
    """What a user's pattern finds is taken apart in time."""
    pattern = re.compile(r"\(([^)]*)\)")
    assert_linear(lambda size: lambda: find_citations(f"({' ' * 3900}S1) " * (size // 100), pattern=pattern), 1_000)


class Clock:
    """A clock of the thread's time that goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Look at it."""
        self.now += 1
        return self.now


def test_a_pattern_that_goes_back_and_forth_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's pattern that takes too long is run on one part of a longer answer, and the rest is not read."""
    clock: Any = Clock()
    monkeypatch.setattr(citing, "thread_time", clock)
    with pytest.raises(TimeoutError, match="citation_pattern takes too long"):
        find_citations(" " * 20_000 + "[S1]", pattern=re.compile(r"\s*\[(S\d+)\]"))
    assert clock.now == 2


def test_a_pattern_is_run_on_all_of_a_long_answer() -> None:
    """A user's pattern finds citations wherever they stand, each once, also where two parts of the answer meet."""
    text = "".join(f"It is so [S{each}, S0]. " for each in range(2000))
    found = find_citations(text, pattern=re.compile(r"(?<=so )\[([^\]]+)\]"))
    assert found == tuple(label for each in range(2000) for label in (f"S{each}", "S0"))
