from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

import rop_otel as rop
from rop_otel import semconv
from rop_otel.errors import UsageError
from tests.contracts.signatures import parameters
from tests.tracing.watched import Hit, Watched, hits


@rop.stage("vector")
def plain(question: str, k: int = 2) -> list[Hit]:
    """Search."""
    return hits("a", "b", "c")[:k]


@rop.stage("vector")
async def awaited(question: str, k: int = 2) -> list[Hit]:
    """Search."""
    return hits("a", "b", "c")[:k]


@rop.stage("vector")
def yielded(question: str, k: int = 2) -> Iterator[Hit]:
    """Search."""
    yield from hits("a", "b", "c")[:k]


@rop.stage("vector")
async def async_yielded(question: str, k: int = 2) -> AsyncIterator[Hit]:
    """Search."""
    for hit in hits("a", "b", "c")[:k]:
        yield hit


class Store:
    @rop.stage("vector")
    def method(self, question: str, k: int = 2) -> list[Hit]:
        """Search."""
        return hits("a", "b", "c")[:k]

    @rop.stage("vector")
    @classmethod
    def of_class(cls, question: str, k: int = 2) -> list[Hit]:
        """Search."""
        return hits("a", "b", "c")[:k]

    @classmethod
    @rop.stage("vector")
    def under_class(cls, question: str, k: int = 2) -> list[Hit]:
        """Search."""
        return hits("a", "b", "c")[:k]

    @rop.stage("vector")
    @staticmethod
    def static(question: str, k: int = 2) -> list[Hit]:
        """Search."""
        return hits("a", "b", "c")[:k]


class Searcher:
    def __call__(self, question: str, k: int = 2) -> list[Hit]:
        """Search."""
        return hits("a", "b", "c")[:k]


class AsyncSearcher:
    async def __call__(self, question: str, k: int = 2) -> list[Hit]:
        """Search."""
        return hits("a", "b", "c")[:k]


def bare(question: str, k: int = 2) -> list[Hit]:
    """Search."""
    return hits("a", "b", "c")[:k]


partial = rop.stage("vector")(functools.partial(bare, k=2))
searcher = rop.stage("vector")(Searcher())
async_searcher = rop.stage("vector")(AsyncSearcher())

KINDS: dict[str, Callable[..., Any]] = {
    "function": plain,
    "method": Store().method,
    "class method": Store.of_class,
    "function of a class method": Store.under_class,
    "static method": Store.static,
    "partial": partial,
    "callable": searcher,
    "generator": yielded,
    "coroutine": awaited,
    "asynchronous callable": async_searcher,
    "asynchronous generator": async_yielded,
}


async def drained(result: Any) -> list[Any]:
    if inspect.isasyncgen(result):
        return [hit async for hit in result]
    return list(await result if inspect.isawaitable(result) else result)


@pytest.mark.parametrize("search", KINDS.values(), ids=KINDS.keys())
async def test_every_kind_of_function_becomes_a_stage(search: Callable[..., Any], watched: Watched) -> None:
    """What a decorated function gives is unchanged, and its IDs and scores are recorded."""
    with rop.handoff("qa"):
        assert await drained(search("q", k=2)) == hits("a", "b")
    assert watched.names == ["vector", "handoff qa"]
    assert watched.stage("vector").returned == ("a", "b")
    assert watched.stage("vector").scores == (1.0, 0.9)


@pytest.mark.parametrize("search", [plain, awaited, yielded, async_yielded, Store.method, partial])
def test_signature_and_name_stay(search: Callable[..., Any]) -> None:
    """Tools that look at a decorated function see the function."""
    parameters = inspect.signature(search).parameters
    assert parameters["k"].default == 2
    assert parameters["question"].annotation == "str"
    if search is not partial:
        assert search.__doc__ == "Search."
        assert search.__name__ in ("plain", "awaited", "yielded", "async_yielded", "method")


def test_kind_of_function_stays() -> None:
    """A decorated coroutine function is one, and so is each kind of generator function."""
    assert inspect.iscoroutinefunction(awaited)
    assert inspect.isgeneratorfunction(yielded)
    assert inspect.isasyncgenfunction(async_yielded)
    assert not inspect.iscoroutinefunction(plain)
    assert isinstance(inspect.getattr_static(Store, "static"), staticmethod)
    assert isinstance(inspect.getattr_static(Store, "of_class"), classmethod)


def test_stage_span_says_what_the_decorator_says(watched: Watched) -> None:
    """Everything that a decorator tells is on the span, under the names of the contract."""

    @rop.stage(
        "graph",
        name="neighbours",
        source=True,
        fed_by="seed",
        data_source="citations",
        top_k_arg="k",
        query_form="title",
        implementation="breadth first",
        scope=lambda hit: "library",
    )
    def search(question: str, *, k: int) -> list[Hit]:
        return hits("a")

    with rop.handoff("qa") as handoff, rop.using_round(2):
        search("q", k=7)
    (span, _) = watched.spans
    assert span.name == "retrieval citations"
    assert span.kind is SpanKind.CLIENT
    assert dict(span.attributes or {}) == {
        semconv.STAGE: "graph",
        semconv.STAGE_NAME: "neighbours",
        semconv.STAGE_SOURCE: True,
        semconv.STAGE_FED_BY: ("seed",),
        semconv.GEN_AI_OPERATION: "retrieval",
        semconv.GEN_AI_DATA_SOURCE_ID: "citations",
        semconv.GEN_AI_TOP_K: 7,
        semconv.QUERY_FORM: "title",
        semconv.STAGE_IMPLEMENTATION: "breadth first",
        semconv.ROUND: 2,
        semconv.HANDOFF_ID: handoff.id,
        semconv.RETURNED_IDS: ("a",),
        semconv.RETURNED_SCORES: (1.0,),
        semconv.RETURNED_SCOPES: ("library",),
    }


def test_span_and_record_hold_the_same_times(watched: Watched) -> None:
    """Span and record have the same start and end, so that replay orders stages as the live door does."""
    with rop.handoff("qa"):
        plain("q")
    (stage, handoff) = watched.spans
    assert (stage.start_time, stage.end_time) == (watched.stage("vector").start_ns, watched.stage("vector").end_ns)
    record = watched.heard.records[0]
    assert (handoff.start_time, handoff.end_time) == (record.start_ns, record.end_ns)
    assert handoff.start_time is not None
    assert stage.start_time is not None
    assert handoff.start_time <= stage.start_time


@pytest.mark.parametrize("search", ["sync", "async"])
async def test_exception_of_the_application_passes_unchanged(search: str, watched: Watched) -> None:
    """The application sees its own exception; the span has status ERROR and the record says failed."""
    error = ValueError("no index")

    @rop.stage("vector")
    def fail() -> list[str]:
        raise error

    @rop.stage("vector")
    async def fail_later() -> list[str]:
        raise error

    with rop.handoff("qa"):
        with pytest.raises(ValueError, match="no index") as caught:
            await fail_later() if search == "async" else fail()
        assert caught.value is error
    (stage, handoff) = watched.spans
    assert stage.status.status_code is StatusCode.ERROR
    assert [event.name for event in stage.events] == ["exception"]
    assert handoff.status.status_code is StatusCode.UNSET
    assert watched.stage("vector").failed
    assert watched.stage("vector").returned is None


def test_nothing_stays_current_after_a_stage(watched: Watched) -> None:
    """The next span that nobody decorated carries no attribute of ours, and is a child of the handoff."""
    tracer = watched.provider.get_tracer("application")
    with rop.handoff("qa"):
        plain("q")
        with tracer.start_as_current_span("next"):
            pass
    (_, following, handoff) = watched.spans
    assert following.name == "next"
    assert dict(following.attributes or {}) == {}
    assert following.parent is not None
    assert handoff.context is not None
    assert following.parent.span_id == handoff.context.span_id


def test_stages_within_stages_know_their_parent(watched: Watched) -> None:
    """A stage's parent is the nearest enclosing stage of its handoff, across spans that are none."""
    tracer = watched.provider.get_tracer("application")

    @rop.stage("retrieval", source=True)
    def retrieve() -> list[Hit]:
        with tracer.start_as_current_span("between"):
            return plain("q")

    with rop.handoff("qa"):
        retrieve()
    assert watched.stage("vector").parent_id == watched.stage("retrieval").span_id
    assert watched.stage("retrieval").parent_id is None


def test_decorated_function_says_what_its_result_does_not(watched: Watched) -> None:
    """Within a decorated function the running stage takes its fallback, and a list that is not what it returns."""

    @rop.stage("packing")
    def pack(found: list[Hit]) -> str:
        stage = rop.current_handoff().running_stage
        stage.implementation("whole chunks", fallback=True)
        stage.returned(found, labels=["S1"], tokens=10, token_budget=100)
        return "the prompt"

    with rop.handoff("qa"):
        assert pack(hits("a")) == "the prompt"
    packing = watched.stage("packing")
    assert (packing.returned, packing.labels, packing.tokens, packing.token_budget) == (("a",), ("S1",), 10, 100)
    assert (packing.implementation, packing.fallback) == ("whole chunks", True)
    assert watched.assessment.findings[0].code == "fallback_used"
    assert watched.errors("ids") == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": ""},
        {"kind": 3},
        {"kind": "vector", "name": ""},
        {"kind": "vector", "id": 3},
        {"kind": "vector", "score": ["score"]},
        {"kind": "vector", "fed_by": [""]},
        {"kind": "vector", "data_source": 7},
    ],
)
def test_wrong_argument_raises_where_the_decorator_stands(wrong: dict[str, Any]) -> None:
    """A decorator with an argument that cannot work raises at once, naming it."""
    with pytest.raises(UsageError, match="must be"):
        rop.stage(wrong.pop("kind"), **wrong)


@pytest.mark.parametrize("option", ["input_arg", "top_k_arg"])
def test_parameter_that_is_not_there_raises_where_a_function_is_decorated(option: str) -> None:
    """A parameter that the function lacks is named, with those that it has."""
    with pytest.raises(UsageError, match=f"{option}='hits': the function has no such parameter, only question, k"):
        rop.stage("vector", **{option: "hits"})(bare)  # type: ignore[arg-type] # the point of the test


@pytest.mark.parametrize("thing", [Store, 3, property(lambda self: [])])
def test_only_functions_are_decorated(thing: Any) -> None:
    """A class, a property or a value is no function."""
    with pytest.raises(UsageError, match="decorates a function"):
        rop.stage("vector")(thing)


def test_stage_outside_of_any_handoff_is_a_span(watched: Watched) -> None:
    """Without an open handoff a stage is a span without a handoff's ID, for a handoff of another process."""
    plain("q")
    (span,) = watched.spans
    assert (span.attributes or {})[semconv.RETURNED_IDS] == ("a", "b")
    assert semconv.HANDOFF_ID not in (span.attributes or {})


def test_decorated_before_configured_works(watch: Callable[..., Watched]) -> None:
    """Functions decorated when a module was imported use what is configured later."""
    first, second = watch(), watch()
    plain("q")
    assert first.names == []
    assert second.names == ["vector"]


def test_a_block_takes_what_the_decorator_takes(watched: Watched) -> None:
    """Told the same, a block and a decorated function are the same stage: no argument is left out."""
    told: dict[str, Any] = {
        "name": "mine",
        "source": True,
        "fed_by": "vector",
        "id": "key",
        "score": "weight",
        "scope": "tenant",
        "data_source": "notes",
        "query_form": "title",
        "implementation": "words",
    }
    assert told.keys() == set(parameters(rop.using_stage)) - {"kind", "input"}
    found = [{"key": "n1", "weight": 0.5, "tenant": "t"}]

    @rop.stage("custom", **told)
    def search() -> list[dict[str, Any]]:
        return found

    with rop.handoff("qa"):
        search()
        with rop.using_stage("custom", **told) as stage:
            stage.returned(found)
    function, block = (dict(span.attributes or {}) for span in watched.spans[:2])
    assert block == function
    assert block | {semconv.HANDOFF_ID: ""} == {
        semconv.STAGE: "custom",
        semconv.STAGE_NAME: "mine",
        semconv.STAGE_SOURCE: True,
        semconv.STAGE_FED_BY: ("vector",),
        semconv.STAGE_IMPLEMENTATION: "words",
        semconv.QUERY_FORM: "title",
        semconv.RETURNED_IDS: ("n1",),
        semconv.RETURNED_SCORES: (0.5,),
        semconv.RETURNED_SCOPES: ("t",),
        semconv.GEN_AI_OPERATION: "retrieval",
        semconv.GEN_AI_DATA_SOURCE_ID: "notes",
        semconv.HANDOFF_ID: "",
    }
