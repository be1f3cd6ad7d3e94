"""Which texts a prompt shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pytest

from rop_otel.core.texts import places_in, shown_in, without

LONG = " ".join(f"word{place}" for place in range(40))


@pytest.mark.parametrize(
    ("prompt", "texts", "shown"),
    [
        ("two and one", ["one", "two"], {1: 0, 0: 8}),
        ("_a (b", ["_a", "(b"], {0: 0, 1: 3}),
        ("one", ["one", ""], {0: 0}),
        ("none", ["one", "two"], None),
        ("a part of it", ["a part of it", "part", "a part of"], {0: 0}),
        ("same one", ["same", "same", "one"], None),
        ("same same", ["same", "same"], {0: 0, 1: 5}),
        (f"{LONG[:120]} one", [LONG, "one"], {0: 0, 1: 121}),
        (f"{LONG[20:]} one", [LONG, "one"], None),
        ("one", [], None),
        ("", ["one"], None),
    ],
)
def test_shown(prompt: str, texts: list[str], shown: dict[int, int] | None) -> None:
    """Texts are told by their place, in the order of the prompt, where each stands whole or by its beginning."""
    found = shown_in(prompt, texts)
    assert found == shown
    assert found is None or list(found) == sorted(found, key=found.__getitem__)


@pytest.mark.parametrize(
    "prompt", ["one. two threefour five?", "one. four fivetwo three", "one. four fivetwo threefour"]
)
def test_texts_that_run_on_into_other_words(prompt: str) -> None:
    """Of a text that a prompt glues to what follows, or to the text before it, nobody can say that it is not shown."""
    assert shown_in(prompt, ["one.", "two three", "four five"]) is None


def test_every_place_is_told() -> None:
    """A text is found wherever a word begins, inside of another one too, and behind another one without a space."""
    assert places_in("a b a bc, xa (a", ["a", "a b", "c", "(a", "none"]) == {
        "a": [0, 4, 14],
        "a b": [0, 4],
        "(a": [13],
        "c": [7],
    }
    assert places_in("a b", []) == {}


def test_texts_with_the_same_beginning() -> None:
    """Of texts that begin alike each is found where it stands, once."""
    assert places_in("a longer text", ["a longer text", "a longer text still"]) == {"a longer text": [0]}
    assert places_in(f"{LONG} one {LONG} two", [f"{LONG} two", f"{LONG} one", LONG]) == {
        f"{LONG} one": [0],
        f"{LONG} two": [len(LONG) + 5],
        LONG: [0, len(LONG) + 5],
    }


@pytest.mark.parametrize(
    ("spans", "rest"),
    [([], "abcdef"), ([(4, 6), (0, 1)], "\0bcd\0"), ([(0, 4), (1, 2), (3, 5)], "\0f"), ([(0, 2), (2, 3)], "\0\0def")],
)
def test_without(spans: list[tuple[int, int]], rest: str) -> None:
    """Parts are left out in any order, and those that overlap as one."""
    assert without("abcdef", spans) == rest


def in_order(texts: Sequence[str]) -> Sequence[str]:
    """Return the texts as they are."""
    return texts


def every_other(texts: Sequence[str]) -> Sequence[str]:
    """Return half of the texts."""
    return texts[::2]


def backwards(texts: Sequence[str]) -> Sequence[str]:
    """Return the texts from the last to the first."""
    return texts[::-1]


@pytest.mark.parametrize("write", [in_order, every_other, backwards])
def test_twice_as_many_take_twice_as_long(write: Callable[[Sequence[str]], Sequence[str]]) -> None:
    """Sixteen times as many texts take about sixteen times as long, and far less than 256 times."""

    def seconds(count: int) -> float:
        texts = [" ".join(f"{place} says {word}" for word in range(80)) for place in range(count)]
        prompt = " ".join(write(texts))
        took = []
        for _ in range(3):
            before = time.process_time()
            found = shown_in(prompt, texts)
            took.append(time.process_time() - before)
            assert found is not None
            assert len(found) == len(write(texts))
        return min(took)

    assert seconds(1600) < 64 * seconds(100)
