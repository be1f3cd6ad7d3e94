"""Calls of the public API that are given very much of one thing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, Final

import numpy as np
from opentelemetry.trace import INVALID_SPAN

import rop_otel as rop
from rop_otel.testing import capture
from rop_otel.tracing.running.exceptions import record_exception
from tests.safety.growth import Call, Case
from tests.safety.many_facts import ids
from tests.tracing.watched import Hit


def _returned(count: int, *, results: Callable[[int], Any], **told: Callable[[int], Any]) -> Call:
    """Return a handoff with one packing that returns these, and says this of them."""
    given, said = results(count), {name: make(count) for name, make in told.items()}

    def call() -> None:
        with rop.handoff("q", selected="d1", judged=["d1"]), rop.using_stage("packing") as stage:
            stage.returned(given, **said)

    return call


def _input(count: int, *, lists: Callable[[int], Any]) -> Call:
    given = lists(count)

    def call() -> None:
        with rop.handoff("q", selected="d1"), rop.using_stage("fusion", input=given) as stage:
            stage.returned(["d1"])

    return call


def _declared(count: int, **told: Callable[[int], Any]) -> Call:
    """Return a handoff of two stages that says this when it is opened."""
    said = {name: make(count) for name, make in told.items()}

    def call() -> None:
        with rop.handoff("q", **{"selected": "d1", **said}):
            for kind in ("vector", "packing"):
                with rop.using_stage(kind) as stage:
                    stage.returned(["d1", "d2"])

    return call


def _selected(count: int, *, make: Callable[[int], Any]) -> Call:
    given = make(count)

    def call() -> None:
        with rop.handoff("q") as handoff:
            handoff.select(given)

    return call


def _answered(count: int, *, sources: Callable[[int], Any], **told: Callable[[int], Any]) -> Call:
    given, said = sources(count), {name: make(count) for name, make in told.items()}

    def call() -> None:
        with rop.handoff("q", selected="d1") as handoff:
            with rop.using_stage("packing") as stage:
                stage.returned(["d1"], labels=["S1"])
            handoff.answered("It waits [S1].", sources=given, **said)

    return call


def _stages(count: int, *, rounds: bool = False, kind: str = "packing", **told: Any) -> Call:
    def call() -> None:
        with rop.handoff("q", selected="d1"):
            for number in range(count):
                with ExitStack() as around:
                    if rounds:
                        around.enter_context(rop.using_round(number + 1))
                    around.enter_context(rop.using_stage(kind, **told)).returned(["d1"])

    return call


def _nested(count: int, *, error: Exception | None = None) -> Call:
    """Return stages within each other, through which an exception may go."""

    def call() -> None:
        try:
            with rop.handoff("q", selected="d1"), ExitStack() as around:
                for _ in range(count):
                    around.enter_context(rop.using_stage("expansion")).returned(["d1"])
                if error is not None:
                    raise error
        except ValueError:
            return

    return call


def _decorated(count: int) -> Call:
    """Return a decorated function that calls itself, and raises when it is deep."""

    @rop.stage("expansion")
    def deeper(left: int) -> list[str]:
        if not left:
            raise ValueError("deep")
        return deeper(left - 1)

    def call() -> None:
        try:
            with rop.handoff("q", selected="d1"):
                deeper(count)
        except ValueError:
            return

    return call


def _yielded(count: int) -> Call:
    @rop.stage("rerank")
    def rerank() -> Any:
        yield from (Hit(raw, 0.5) for raw in ids(count))

    def call() -> None:
        with rop.handoff("q", selected="d1"):
            deque(rerank(), maxlen=0)

    return call


def _captured(count: int) -> Call:
    run = _stages(count)

    def call() -> None:
        with capture(strict=False):
            run()

    return call


def _counted(count: int) -> Call:
    """Return a run that expects many records, and finds them."""
    names = ids(count, "r")

    def call() -> None:
        with rop.run("run", expected=names):
            for name in names[::10]:
                with rop.handoff("q", selected="d1", record_id=name):
                    pass

    return call


def _fed_by(count: int) -> Call:
    names = ids(count, "n")

    def call() -> None:
        with rop.handoff("q", selected="d1"), rop.using_stage("fusion", fed_by=names) as stage:
            stage.returned(["d1"])

    return call


def _traced(count: int) -> Call:
    """Return an exception whose traceback is long, written by each of as many spans."""

    def deeper(left: int) -> None:
        if left:
            deeper(left - 1)
        raise ValueError("deep")

    try:
        deeper(count)
    except ValueError as error:
        raised = error
    return lambda: record_exception(INVALID_SPAN, raised, text=True)


def _message(count: int) -> Call:
    error = ValueError("x" * count)

    def call() -> None:
        for _ in range(20):
            record_exception(INVALID_SPAN, error, text=True)

    return call


def _lists(count: int, each: int = 10) -> list[list[str]]:
    return [list(ids(each)) for _ in range(count)]


def _names(count: int) -> list[str]:
    return list(ids(count))


CASES: Final = [
    Case("strings returned", 30_000, partial(_returned, results=_names)),
    Case("hits returned", 20_000, partial(_returned, results=lambda count: [Hit(raw, 0.5) for raw in ids(count)])),
    Case(
        "dictionaries returned", 20_000, partial(_returned, results=lambda count: [{"id": raw} for raw in ids(count)])
    ),
    Case("pairs returned", 20_000, partial(_returned, results=lambda count: [(raw, 0.5) for raw in ids(count)])),
    Case(
        "things of several types returned",
        6000,
        partial(_returned, results=lambda count: [raw if len(raw) % 2 else {"id": raw} for raw in ids(count)]),
    ),
    Case(
        "things without IDs returned", 8000, partial(_returned, results=lambda count: [object() for _ in range(count)])
    ),
    Case("lists returned", 6000, partial(_returned, results=_lists)),
    Case("numbers of an array returned", 10_000, partial(_returned, results=np.arange)),
    Case("a lazy list returned", 30_000, partial(_returned, results=lambda count: deque(ids(count)))),
    Case("labels", 10_000, partial(_returned, results=_names, labels=_names)),
    Case(
        "scores, scopes and tokens",
        6000,
        partial(
            _returned,
            results=_names,
            scores=lambda count: [0.5] * count,
            scopes=_names,
            id_tokens=lambda count: [1] * count,
        ),
    ),
    Case("lists handed over", 3000, partial(_input, lists=_lists)),
    Case("arrays handed over", 500, partial(_input, lists=lambda count: [[raw] for raw in ids(count)])),
    Case("documents handed over", 30_000, partial(_input, lists=_names)),
    Case("objects selected", 5000, partial(_selected, make=_names)),
    Case("things selected", 2000, partial(_selected, make=lambda count: [Hit(raw) for raw in ids(count)])),
    Case("objects judged", 5000, partial(_declared, judged=_names)),
    Case("objects judged with grades", 3000, partial(_declared, judged=lambda count: dict.fromkeys(ids(count), 2))),
    Case("objects judged that have no ID", 3000, partial(_declared, judged=lambda count: [None] * count)),
    Case("stages expected", 3000, partial(_declared, expected=lambda count: list(ids(count)))),
    Case("feeds named", 15_000, _fed_by),
    Case("sources of an answer", 10_000, partial(_answered, sources=_names, labels=_names)),
    Case(
        "citations of an answer",
        10_000,
        partial(_answered, sources=lambda count: ["d1"], citations=lambda count: ["S1"] * count),
    ),
    Case("stages of a handoff", 150, _stages),
    Case("stages in rounds", 100, partial(_stages, rounds=True)),
    Case("stages within each other", 100, _nested),
    Case("an exception through blocks", 100, partial(_nested, error=ValueError("deep"))),
    Case("an exception through functions", 40, _decorated),
    Case("documents yielded", 1500, _yielded),
    Case("handoffs captured", 150, _captured),
    Case("records of a run", 400, _counted),
    Case("frames of a traceback", 150, _traced),
    Case("characters of an exception", 100_000, _message),
]
"""What may be much in one call."""
