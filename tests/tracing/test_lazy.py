"""Documents that load what they are asked for, and whose loading ends in an exception that ends programs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rop_otel as rop
from tests.tracing.watched import Watched

ENDING = [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError]


class Lazy:
    """A document that loads its fields.

    Args:
        load: Is called for each.
    """

    def __init__(self, load: Callable[[], str]) -> None:
        self._load = load

    @property
    def id(self) -> str:
        """Its ID."""
        return self._load()

    @property
    def score(self) -> float:
        """Its score."""
        return float(len(self._load()))


@pytest.mark.parametrize("kind", ENDING)
def test_whoever_reads_the_document_meets_it(kind: type[BaseException], watched: Watched) -> None:
    """Reading by the monitor lets nothing out; the application's own reading raises as without us."""

    def load() -> str:
        raise kind("gone")

    documents: list[Any] = [Lazy(load), Lazy(lambda: "a")]

    @rop.stage("vector", input_arg=lambda given: given)
    def search(given: list[Any]) -> list[Any]:
        return given

    @rop.stage("lexical")
    def search_one_by_one() -> Iterator[Any]:
        yield from documents

    with rop.handoff("qa", selected=documents[0], judged=documents) as handoff:
        handoff.select("a")
        assert search(documents) is documents
        assert list(search_one_by_one()) == documents
        with rop.using_stage("packing", input=documents) as stage:
            stage.returned(documents, labels=documents, scores=documents)
        handoff.answered("It is a.", sources=documents, citations=documents)
    assert watched.stage("vector").returned == ("", "a")
    assert watched.stage("lexical").returned == ("", "a")
    with pytest.raises(kind, match="gone"):
        documents[0].id  # noqa: B018 - the point of the test


def test_an_input_that_cannot_be_found_out(watched: Watched) -> None:
    """The callable that gives the input is asked for the monitor alone."""

    def given(_: object) -> list[str]:
        raise SystemExit("gone")

    @rop.stage("rerank", input_arg=given)
    def rerank(hits: list[str]) -> list[str]:
        return hits

    assert rerank(["a"]) == ["a"]
    assert watched.errors("input") == 1


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="needs signals")
def test_an_interrupt_from_the_keyboard_goes_on(watched: Watched) -> None:
    """Whoever presses Ctrl-C while the monitor reads a document ends the program."""

    def load() -> str:
        signal.raise_signal(signal.SIGINT)
        return "a"

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), rop.using_stage("vector") as stage:
            stage.returned([Lazy(load)])
    finally:
        signal.signal(signal.SIGINT, before)
