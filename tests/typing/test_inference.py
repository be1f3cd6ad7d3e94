"""What users' type checkers must infer; mypy checks this file, and running it shows that nothing in it raises."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, assert_type, overload

import rop_otel as rop
from rop_otel import Stage
from rop_otel.runs.live import Run
from rop_otel.runs.live_report import LiveReport


@rop.stage("vector")
def search(question: str, k: int = 10) -> list[str]:
    return [question] * k


@rop.stage("vector", id="chunk_id", score=lambda hit: hit[1])
async def search_async(question: str, *, k: int = 10) -> list[str]:
    return [question] * k


@rop.stage("vector", input_arg=["question"])
def search_yielding(question: str) -> Iterator[str]:
    yield question


@rop.stage("vector", id=["a", "b"], fed_by=["first"])
async def search_yielding_async(question: str) -> AsyncIterator[str]:
    yield question


@overload
def search_many(question: str) -> list[str]: ...
@overload
def search_many(question: list[str]) -> list[list[str]]: ...
@rop.stage("vector")
def search_many(question: str | list[str]) -> list[str] | list[list[str]]:
    return [question] if isinstance(question, str) else [[each] for each in question]


class Store:
    @rop.stage("vector")
    def method(self, question: str) -> list[str]:
        return [question]

    @rop.stage("vector")
    @classmethod
    def of_class(cls, question: str) -> list[str]:
        return [question]

    @rop.stage("vector")
    @staticmethod
    def static(question: str) -> list[str]:
        return [question]


partial = rop.stage("vector")(functools.partial(search, k=2))
carried = rop.carry_context(search)


async def test_types_stay_as_they_are() -> None:
    """A decorated function keeps its parameters and its result, in the type checker's eyes and at run time."""
    assert_type(search("q"), list[str])
    assert_type(search("q", 3), list[str])
    pending: Coroutine[Any, Any, list[str]] = search_async("q", k=3)
    pending.close()
    assert_type(await search_async("q"), list[str])
    assert_type(search_yielding("q"), Iterator[str])
    assert_type(search_yielding_async("q"), AsyncIterator[str])
    assert_type(search_many("q"), list[str])
    assert_type(search_many(["q"]), list[list[str]])
    assert_type(Store().method("q"), list[str])
    assert_type(Store.of_class("q"), list[str])
    assert_type(Store.static("q"), list[str])
    assert_type(partial("q"), list[str])
    assert_type(carried("q", k=3), list[str])
    assert_type(rop.carry_context(lambda: 3), Callable[[], int])


def test_wrong_calls_are_still_wrong() -> None:
    """What a type checker refused before it refuses after: each ignore here would otherwise be unused."""
    calls = [
        lambda: search(3),  # type: ignore[arg-type]
        lambda: search("q", "k"),  # type: ignore[arg-type]
        lambda: Store().method(),  # type: ignore[call-arg]
        lambda: carried("q", j=3),  # type: ignore[call-arg]
    ]
    assert len(calls) == 4


def test_keywords_are_known() -> None:
    """A keyword that does not exist, or has a value of another type, is seen before anything runs."""
    calls = [
        lambda: rop.stage("vector", implementation=3),  # type: ignore[arg-type]
        lambda: rop.stage("vector", nmae="a"),  # type: ignore[call-arg]
        lambda: rop.using_stage("vector", source="yes"),  # type: ignore[arg-type]
        lambda: rop.handoff("qa", cutoff="5"),  # type: ignore[arg-type]
        lambda: rop.start_handoff("qa", cutof=5),  # type: ignore[call-arg]
        lambda: rop.configure(max_ids="many"),  # type: ignore[arg-type]
        lambda: rop.current_handoff().answered("", abstained="no"),  # type: ignore[arg-type]
        lambda: rop.current_handoff().running_stage.returned([], shares=0.5),  # type: ignore[arg-type]
    ]
    assert len(calls) == 8


async def test_blocks_are_typed() -> None:
    """What a ``with`` block gives is a handoff or a stage."""
    with rop.handoff("qa", cutoff=5, judged={"a": 1}, selected=None) as handoff:
        assert_type(handoff, rop.Handoff)
        with rop.using_stage("packing", input=["a"]) as stage:
            assert_type(stage, Stage)
            stage.returned(["a"], labels=["S1"], shares=[0.5], basis="prompt")
    assert_type(handoff.assessment, rop.Assessment)
    assert_type(handoff.assessment.verdict, rop.Verdict | None)
    async with rop.handoff("qa") as again:
        assert_type(again, rop.Handoff)
    assert_type(rop.start_handoff("qa").close(), rop.Assessment)
    assert_type(rop.current_handoff(), rop.Handoff)


async def test_runs_are_typed() -> None:
    """A run's block gives the run, and its end the report."""
    with rop.run("nightly", expected=["a"], deadline=3600) as run:
        assert_type(run, Run)
        assert_type(run.missing, tuple[str, ...])
    assert_type(run.report, LiveReport | None)
    assert_type(run.close().to_bytes(), bytes)
    async with rop.run("nightly", expected=["a"]) as again:
        assert_type(again, Run)
