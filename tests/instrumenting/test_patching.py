"""The patcher of the instrumentation packages, as an application meets its wrappers."""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rop_otel.instrumenting import Block, Function, Patches, Take


class Chain:
    """A class of a framework."""

    def run(self, question: str) -> str:
        """Answer a question."""
        return f"answer to {question}"

    async def run_async(self, question: str) -> str:
        """Answer a question."""
        return self.run(question)


class Seen(list[str]):
    """What calls returned."""

    @contextmanager
    def block(self, instance: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Take]:
        """Watch one call."""
        yield self.append

    def around(self, original: Function) -> Any:
        """Watch each call."""
        return self.block


@pytest.fixture
def patches() -> Iterator[Patches]:
    """Return a patcher that puts everything back."""
    made = Patches("Example")
    yield made
    made.undo()


def watch(patches: Patches, seen: Any, *, family: bool = False) -> None:
    """Watch the chain's two methods."""
    wraps = patches.pair(seen.around, "run", "run_async")
    if family:
        patches.family(Chain, wraps)
        return
    for name, wrap in wraps.items():
        patches.replace(Chain, name, wrap)


def test_a_call_is_watched_and_put_back(patches: Patches) -> None:
    """What a call returned is taken in, awaited or not; afterwards nothing is left of it."""
    seen, before = Seen(), dict(vars(Chain))
    watch(patches, seen)
    chain = Chain()
    assert (chain.run("a"), asyncio.run(chain.run_async(question="b"))) == ("answer to a", "answer to b")
    assert seen == ["answer to a", "answer to b", "answer to b"]
    patches.undo()
    assert dict(vars(Chain)) == before


def test_a_bound_method_stays_what_it_is(patches: Patches) -> None:
    """An application may pickle, copy, compare and inspect a method that is watched."""
    watch(patches, Seen())
    run = Chain().run
    assert pickle.loads(pickle.dumps(run))("a") == copy.deepcopy(run)("a") == "answer to a"
    assert Chain.run is Chain.run
    assert list(inspect.signature(Chain.run).parameters) == ["self", "question"]
    assert inspect.iscoroutinefunction(Chain().run_async)


def test_classes_that_come_later_are_of_the_family(patches: Patches) -> None:
    """A subclass is watched as soon as it is defined, and each of its methods once."""
    seen = Seen()
    watch(patches, seen, family=True)

    class Later(Chain):
        def run(self, question: str) -> str:
            return "later " + super().run(question)

    assert Later().run("a") == "later answer to a"
    assert seen == ["answer to a", "later answer to a"]
    patches.undo()
    Later().run("a")
    assert len(seen) == 2
    assert "__init_subclass__" not in vars(Chain)


def test_what_others_wrapped_stays_theirs(patches: Patches, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrapper that others put over ours stays, and ours passes the call on."""
    seen = Seen()
    watch(patches, seen)
    ours: Any = Chain.run
    monkeypatch.setattr(Chain, "run", lambda self, question: "theirs: " + ours(self, question))
    patches.undo()
    assert (Chain().run("a"), seen) == ("theirs: answer to a", [])
    monkeypatch.setattr(Chain, "run", ours.__wrapped__)


def test_a_failure_of_ours_is_kept_from_the_application(patches: Patches, caplog: pytest.LogCaptureFixture) -> None:
    """Where a call cannot be watched, one line says so, and the call runs."""

    class Failing:
        def around(self, original: Function) -> Any:
            def begin(instance: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Block | None:
                raise RuntimeError("ours")

            return begin

    watch(patches, Failing())
    with caplog.at_level(logging.WARNING, "rop_otel"):
        assert [Chain().run("a") for _ in range(2)] == ["answer to a"] * 2
    assert len([line for line in caplog.messages if "Example, Chain" in line]) == 1


def test_an_argument_may_have_any_name(patches: Patches) -> None:
    """A keyword argument of the application's is never mistaken for one of the wrapper's."""

    class Odd(Chain):
        def run(self, question: str = "", **named: Any) -> str:
            return ",".join(named)

    for name, wrap in patches.pair(Seen().around, "run", "run_async").items():
        patches.replace(Odd, name, wrap)
    assert Odd().run(instance=1, args=2, original=3) == "instance,args,original"
