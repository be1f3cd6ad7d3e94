"""Applications whose own code raises wherever the monitor touches it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

import rop_otel as rop
from tests.tracing.watched import Watched


class Raises(str):
    """Raises on everything that a string of the application's may do."""

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __iter__(self) -> Any:
        raise RuntimeError("iter")


class Detached:
    """A lazy object whose every attribute raises, as a proxy without its request or a row without its session does."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("repr")


class Faceless(Detached):
    """One that does not even tell its class."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise RuntimeError("class")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        raise RuntimeError("hash")


HOSTILE: dict[str, Callable[[], Any]] = {
    "text": Raises,
    "detached": Detached,
    "faceless": Faceless,
    "huge": lambda: 10**5000,
}
ARGUMENTS = "name cutoff rule mode selected judged grades record_id run_id scope expected starved_ratio".split()


def _open(**arguments: Any) -> rop.Handoff:
    """Open a handoff with these arguments beside plain ones."""
    return rop.handoff(**{"name": "qa", "judged": ["a"], **arguments})


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_handoff_takes_any_argument(watched: Watched, argument: str, make: Callable[[], Any]) -> None:
    """No argument of a handoff raises into the application, whatever its own code does."""
    value = make()
    for given in (value, [value], {"a": value}):
        with _open(**{argument: given}) as handoff:
            handoff.select(given)
    assert len(watched.heard.assessments) == 3


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    "tell",
    [
        lambda stage, value: stage.returned(value),
        lambda stage, value: stage.returned([value, value]),
        lambda stage, value: stage.returned(["a"], tokens=value, token_budget=value),
        lambda stage, value: stage.returned(["a"], labels=value, scores=value, scopes=value, id_tokens=value),
        lambda stage, value: stage.returned(["a"], labels=[value], scores=[value], scopes=[value], id_tokens=[value]),
        lambda stage, value: stage.input(value, [value]),
        lambda stage, value: stage.implementation(value, fallback=value),
        lambda stage, value: stage.query_form(value),
    ],
)
def test_stage_takes_any_value(
    watched: Watched, tell: Callable[[rop.Stage, Any], None], make: Callable[[], Any]
) -> None:
    """Nothing that a stage is told raises into the application."""
    value = make()
    with rop.handoff("qa") as handoff:
        with rop.using_stage("packing") as stage:
            tell(stage, value)
        handoff.answered(value, sources=value, labels=value, citations=value)
    assert watched.assessment.verdict is rop.Verdict.NOT_APPLICABLE


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("argument", ["kind", "name", "fed_by", "id", "score", "scope", "input", "implementation"])
def test_block_takes_any_argument(watched: Watched, argument: str, make: Callable[[], Any]) -> None:
    """No argument of a block raises into the application."""
    value = make()
    arguments: dict[str, Any] = {"kind": "rerank", argument: value}
    with rop.handoff("qa"):
        with rop.using_stage(**arguments) as stage:
            stage.returned(["a"])
        with rop.using_round(value):
            pass
    assert len(watched.heard.assessments) == 1


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_generator_yields_anything(watched: Watched, make: Callable[[], Any]) -> None:
    """A document that raises when it is looked at passes through a monitored generator."""
    value = make()

    @rop.stage("vector", top_k_arg="k")
    def search(k: object) -> Any:
        yield value
        yield "a"

    with rop.handoff("qa"):
        assert [type(each) for each in search(value)] == [type(value), str]
    assert watched.stage("vector").returned == ("", "a")


def test_logging_that_raises_is_kept_from_the_application(watched: Watched) -> None:
    """A filter or handler of the application's that raises does not raise out of the monitor."""

    def broken(record: logging.LogRecord) -> bool:
        raise RuntimeError("filter")

    logger = logging.getLogger("rop_otel")
    logger.addFilter(broken)
    try:
        with rop.handoff("qa"), rop.using_stage("vector") as stage:
            stage.returned(object())
    finally:
        logger.removeFilter(broken)
    assert watched.errors("ids") == 1
