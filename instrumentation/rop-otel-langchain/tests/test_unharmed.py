"""An application whose objects are not to be touched, kept, or given other results."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import ref

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from rop_otel_langchain.containing import contains_retrieval
from rop_otel_langchain.documents import documents_in


class Asked:
    """Stands for an object that is loaded when anything is asked of it, its class too."""

    def __init__(self) -> None:
        self.times = 0

    @property
    def __class__(self) -> Any:
        self.times += 1
        return list

    @__class__.setter
    def __class__(self, other: Any) -> None:
        raise AssertionError

    def __getattr__(self, name: str) -> Any:
        self.times += 1
        raise AttributeError(name)


class Stored(Mapping[int, object]):
    """A mapping that reads each value from somewhere, and has no end."""

    reads = 0

    def __getitem__(self, key: int) -> object:
        self.reads += 1
        return [key]

    def __iter__(self) -> Iterator[int]:
        yield from range(1_000_000_000)

    def __len__(self) -> int:
        return 1_000_000_000


class Counted(list[Any]):
    """A list that counts how many of its elements are looked at."""

    looked = 0

    def __iter__(self) -> Iterator[Any]:
        for each in super().__iter__():
            self.looked += 1
            yield each


@dataclass(slots=True)
class Slotted:
    """A state without a dictionary."""

    context: list[Document]
    _lazy: int = 0


STORED = Stored()
ASKED = Asked()
MATRIX = [Counted([0] * 5000) for _ in range(300)]


def test_objects_that_are_loaded_when_they_are_asked(seen: Any) -> None:
    """None is asked, wherever it is: in what a chain is given or gives, and among what its functions refer to."""
    asked = ASKED, Asked(), Asked()
    for each in asked:
        each.times = 0
    assert RunnableLambda(lambda state: [ASKED, state][1]).invoke({"user": asked[1], "all": [asked[2]]})["all"]
    assert [each.times for each in asked] == [0, 0, 0]


def test_mappings_that_read_what_they_give(seen: Any) -> None:
    """Nothing is read from them."""
    assert RunnableLambda(lambda stored: [stored, STORED][0]).invoke(STORED) is STORED
    assert STORED.reads == 0


@pytest.mark.parametrize(
    "element",
    [[0.5, 0.25], ("word", 0.5), "word", 7, None, [["word"]]],
    ids=["vector", "scored", "text", "number", "none", "deep"],
)
def test_long_lists_that_hold_no_documents(element: object) -> None:
    """No more than the beginning is looked at."""
    matrix = Counted([element] * 1000)
    assert documents_in({"matrix": matrix}) == []
    assert matrix.looked < 10


def test_a_function_that_refers_to_a_large_matrix() -> None:
    """The search for what retrieves ends, though the same few numbers are at millions of places."""
    assert not contains_retrieval(RunnableLambda(lambda _: MATRIX))
    assert sum(row.looked for row in MATRIX) <= 60_000


def test_a_state_without_a_dictionary(parts: Any, seen: Any) -> None:
    """Its documents are seen as those of any other."""

    def keep(state: Slotted) -> Slotted:
        return Slotted(state.context[:1])

    chain = parts.Given(results=parts.notes[:2]) | RunnableLambda(Slotted) | RunnableLambda(keep)
    assert chain.invoke("n1").context == parts.notes[:1]
    assert seen.lists == [("retriever", ["n1", "n2"]), ("keep", ["n1"])]


class Own(Runnable[Any, Any]):
    """A chain that runs its batches by itself, and returns what it likes."""

    def __init__(self, make: Callable[[list[Any]], Any]) -> None:
        self._make = make

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Return what it is given."""
        return input

    def batch(self, inputs: list[Any], config: Any = None, **kwargs: Any) -> Any:
        """Return what it is told to."""
        return self._make(inputs)


@pytest.mark.parametrize("make", [iter, lambda _: None, lambda inputs: inputs[:1], tuple, lambda inputs: inputs * 2])
def test_batches_that_return_anything(parts: Any, seen: Any, make: Callable[[list[Any]], Any]) -> None:
    """What they return is left as it is, and each of their calls ends."""
    own = Own(make)
    own.retriever = parts.vector()  # type: ignore[attr-defined]
    found, plain = own.batch([1, 2, 3]), make([1, 2, 3])
    assert found == plain or list(found) == list(plain)
    assert len(seen.captured.assessments) == 3


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda config: pickle.loads(pickle.dumps(config))])
def test_copies_of_a_configuration(parts: Any, seen: Any, copied: Callable[[Any], Any]) -> None:
    """A step may copy its configuration, and go on with the copy."""

    def step(value: str, config: RunnableConfig) -> Any:
        return parts.vector().invoke(value, copied(config))

    chain = RunnableLambda(step) | RunnableLambda(len)
    assert chain.batch(["n1", "n2"]) == [3, 3]


class Input(dict[str, Any]):
    """An input that a weak reference can be made to."""


@pytest.mark.parametrize("way", ["invoke", "stream", "batch"])
@pytest.mark.parametrize("retrieves", [True, False])
def test_nothing_is_kept_when_a_call_is_over(parts: Any, seen: Any, way: str, retrieves: bool) -> None:
    """Its inputs are freed at once, without the garbage collector."""
    found = parts.vector() if retrieves else RunnableLambda(lambda _: None)
    chain = RunnableLambda(lambda given: found.invoke("n1") and len(given)) | RunnableLambda(lambda _: 1)
    uncollected = 0
    while uncollected < 3:
        collections = _collections()
        given: Any = Input(input="n1")
        kept = ref(given)
        if way == "batch":
            chain.batch([given])
        elif way == "stream":
            list(chain.stream(given))
        else:
            chain.invoke(given)
        del given
        assert kept() is None
        uncollected += _collections() == collections


def _collections() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())
