"""A decorated function is the function, whatever else is done with it than to call it."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import logging
import pickle
import traceback
import types
import typing
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import rop_otel as rop
from tests.tracing.watched import Watched


def vector(function: Any) -> Any:
    """Decorate: types are checked elsewhere."""
    return rop.stage("vector")(function)


def plain(question: str, *, k: int = 2) -> list[str]:
    return [question] * k


async def awaited(question: str, *, k: int = 2) -> list[str]:
    await asyncio.sleep(0)
    return [question] * k


def yielded(question: str, *, k: int = 2) -> Iterator[str]:
    found = [question] * k
    yield from found


async def yielded_later(question: str, *, k: int = 2) -> AsyncIterator[str]:
    for each in [question] * k:
        yield each


@types.coroutine
def awaited_generator(question: str, *, k: int = 2) -> Any:
    yield from asyncio.sleep(0).__await__()
    return [question] * k


class Tool:
    """A tool of an agent: an object that is called."""

    name = "search"

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, question: str, *, k: int = 2) -> list[str]:
        self.calls += 1
        return [question] * k

    def described(self) -> str:
        """Return a text for a model."""
        return f"{self.name}, called {self.calls} times"


@vector
async def by_name() -> list[str]:
    return []


class Store:
    """A store whose search is decorated."""

    @vector
    async def search(self, question: str) -> list[str]:
        return [question]

    @vector
    @functools.lru_cache  # noqa: B019 - the point of the test
    def remembered(self, question: str) -> list[str]:
        return [question]


FUNCTIONS = [plain, awaited, yielded, yielded_later, awaited_generator]
PREDICATES: list[Callable[[Any], bool]] = [
    inspect.isfunction,
    inspect.iscoroutinefunction,
    asyncio.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
    callable,
]
of_partial = vector(functools.partial(plain, k=1))
STORE = Store()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("enabled", [True, False])
def test_a_wrong_call_raises_at_the_call(function: Any, enabled: bool, watch: Any) -> None:
    """The message is that of the function."""
    watch(enabled=enabled)
    with pytest.raises(TypeError) as bare:
        function("?", 2)
    with pytest.raises(TypeError) as decorated:
        vector(function)("?", 2)
    assert str(decorated.value) == str(bare.value)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_whoever_asks_what_it_is(function: Any) -> None:
    """Frameworks that look at a function find what they look for, bound to an object too."""
    decorated = vector(function)
    holder: Any = type("Holder", (), {"decorated": decorated, "bare": function})()
    for predicate in PREDICATES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            assert predicate(decorated) == predicate(function), predicate
            assert predicate(holder.decorated) == predicate(holder.bare), predicate
    assert inspect.ismethod(holder.decorated)
    assert inspect.signature(decorated) == inspect.signature(function)
    assert inspect.signature(holder.decorated) == inspect.signature(holder.bare)
    assert typing.get_type_hints(decorated) == typing.get_type_hints(function)
    assert decorated.__wrapped__ is function
    assert decorated.__kwdefaults__ == {"k": 2}
    assert isinstance(decorated, types.FunctionType)
    assert copy.copy(decorated) is copy.deepcopy(decorated) is decorated
    assert inspect.getsource(decorated) == inspect.getsource(function)
    assert holder.decorated.__self__ is holder


def test_what_a_call_gives_is_what_it_is(watched: Watched) -> None:
    """Generators and coroutines show their own frames, and say what they are."""
    generator: Any = vector(yielded)("?")
    bare: Any = yielded("?")
    assert inspect.isgenerator(generator)
    assert next(generator) == next(bare)
    assert dict(inspect.getgeneratorlocals(generator)) == dict(inspect.getgeneratorlocals(bare))
    assert (generator.__name__, generator.gi_code) == ("yielded", yielded.__code__)
    coroutine = vector(awaited)("?")
    assert inspect.iscoroutine(coroutine)
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED
    assert coroutine.cr_code is awaited.__code__
    coroutine.close()
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED
    assert inspect.isasyncgen(vector(yielded_later)("?"))
    with pytest.raises(TypeError, match="cannot pickle 'generator' object"):
        copy.copy(generator)


async def test_coroutines_wherever_they_go(watched: Watched) -> None:
    """A decorated coroutine can be awaited, made a task of, gathered and cancelled."""
    search = vector(awaited)
    assert await search("a") == ["a", "a"]
    assert await asyncio.create_task(search("b")) == ["b", "b"]
    assert await asyncio.wait_for(search("c", k=1), 60) == ["c"]
    assert await vector(awaited_generator)("d", k=1) == ["d"]
    task = asyncio.create_task(search("e"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [span.status.is_ok for span in watched.spans] == [True, True, True, True, False]
    again = search("f")
    await again
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        await again


def test_a_coroutine_that_nobody_awaits_says_so_once(watched: Watched) -> None:
    """Python warns of it by its own name; where it was closed there is nothing to warn of."""
    with pytest.warns(RuntimeWarning, match="coroutine 'awaited' was never awaited") as told:
        vector(awaited)("?")
    assert len(told) == 1
    vector(awaited)("?").close()
    assert watched.names == []


def test_what_is_no_plain_function_keeps_its_own(watched: Watched) -> None:
    """A cache, a partial and an object that is called have their methods and attributes, to read and to set."""
    cached = vector(functools.lru_cache(plain))
    assert cached("a") is cached("a")
    assert (cached.cache_info().hits, cached.cache_clear()) == (1, None)
    assert (of_partial.func, of_partial.keywords) == (plain, {"k": 1})
    tool = vector(Tool())
    tool("?")
    tool.name = "lookup"
    assert isinstance(tool, Tool)
    assert tool.described() == "lookup, called 1 times"
    assert STORE.remembered("a") is STORE.remembered("a")
    assert Store.remembered.cache_info().hits == STORE.remembered.cache_info().hits == 1
    assert watched.names == ["vector"] * 5


def test_functions_by_the_type_of_their_argument(watched: Watched) -> None:
    """A generic function stays one, decorated below or above."""

    @vector
    @functools.singledispatch
    def search(question: object) -> list[str]:
        return ["object"]

    @search.register  # type: ignore[untyped-decorator]
    @vector
    def _(question: int) -> Iterator[str]:
        yield "int"

    assert search("?") == ["object"]
    assert list(search(1)) == ["int"]


@pytest.mark.parametrize("thing", [by_name, STORE.search, vector(len)], ids=["function", "method", "built-in"])
def test_pickled_by_name(thing: Any) -> None:
    """What is pickled by its name is found again by it."""
    again = pickle.loads(pickle.dumps(thing))
    assert getattr(again, "__func__", again) == getattr(thing, "__func__", thing)


def test_a_partial_is_pickled_and_copied_as_one() -> None:
    """As without us, another process gets the partial."""
    assert pickle.loads(pickle.dumps(of_partial))("a") == ["a"]
    copied = copy.copy(of_partial)
    assert copied is not of_partial
    assert (copied.func, copied("a")) == (plain, ["a"])


def warn() -> list[str]:
    warnings.warn("old", DeprecationWarning, stacklevel=2)
    return []


def warn_and_yield() -> Iterator[str]:
    warnings.warn("old", DeprecationWarning, stacklevel=2)
    yield "a"


async def warn_later() -> list[str]:
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    logging.getLogger("application").error("old", stacklevel=2)
    return []


@pytest.mark.parametrize(
    "call", [vector(warn), vector(functools.lru_cache(warn)), lambda: list(vector(warn_and_yield)())]
)
def test_a_warning_of_the_caller_names_the_caller(call: Callable[[], Any], watched: Watched) -> None:
    """``stacklevel`` counts the application's own callers."""
    with pytest.warns(DeprecationWarning, match="old") as told:
        call()
    assert [each.filename for each in told] == [__file__]


def test_a_log_record_of_the_caller_names_the_caller(caplog: pytest.LogCaptureFixture, watched: Watched) -> None:
    """Logging counts alike, and a traceback shows real lines."""

    @vector
    def fail() -> None:
        logging.getLogger("application").error("old", stacklevel=2)
        raise ValueError("no index")

    with pytest.raises(ValueError, match="no index") as raised:
        fail()
    record = next(each for each in caplog.records if each.name == "application")
    assert record.funcName == "test_a_log_record_of_the_caller_names_the_caller"
    assert all(frame.line for frame in traceback.extract_tb(raised.value.__traceback__))


@pytest.mark.parametrize("enabled", [True, False])
def test_an_async_generator_left_at_the_end_of_the_loop(
    enabled: bool, watch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The loop closes it once, and has nothing to log; its own end is waited for."""
    watched = watch(enabled=enabled)
    closed, kept = [], []

    @vector
    async def search() -> AsyncIterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    async def main() -> None:
        hits = search()
        kept.append(hits)
        async for _ in hits:
            break

    asyncio.run(main())
    assert closed == [True]
    assert [line for line in caplog.messages if "outside of any handoff" not in line] == []
    kept.clear()
    rop.current_handoff()
    assert watched.names == (["vector"] if enabled else [])


def test_switched_off_nothing_stands_between(watch: Any) -> None:
    """A generator, coroutine or asynchronous generator is the function's own."""
    watch(enabled=False)
    coroutine = vector(awaited)("?")
    coroutine.close()
    made = [vector(yielded)("?"), coroutine, vector(yielded_later)("?")]
    assert [type(each) for each in made] == [types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType]


def test_a_generator_that_calls_itself(watched: Watched) -> None:
    """Asked to go on while it runs, it refuses, and goes on as one stage."""

    @vector
    def search() -> Iterator[str]:
        with pytest.raises(ValueError, match="already executing"):
            next(hits[0])
        yield "a"
        yield "b"

    hits: list[Any] = []
    with rop.handoff("qa"):
        hits.append(search())
        assert list(hits[0]) == ["a", "b"]
    assert watched.stage("vector").returned == ("a", "b")


def test_decorated_generators_print_as_before() -> None:
    """A decorated generator function, or a callable object, prints as the bare one, so that logs stay as they were."""

    def found() -> Iterator[str]:
        yield "d1"

    tool = functools.partial(sorted, ["d1"])
    assert [repr(rop.stage("vector")(each)) for each in (found, tool)] == [repr(found), repr(tool)]
