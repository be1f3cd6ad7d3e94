"""One run of a program: what it works with, and everything that is seen of it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import gc
import inspect
import threading
import types
import warnings
import weakref
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Final

import numpy as np
from opentelemetry import baggage, trace
from opentelemetry.context import Context, attach, detach, get_current

from tests.safety.fuzz import values
from tests.safety.fuzz.describing import Names
from tests.safety.fuzz.doors import Bare, Door
from tests.safety.fuzz.values import Doc, Fleeting, Lazy, Odd, Once, Stop, Touchy

VARIABLES: Final = (
    contextvars.ContextVar("fuzz_one", default="unset"),
    contextvars.ContextVar("fuzz_two", default="unset"),
)
"""The application's own context variables."""


_LEARNING: Final = 3
"""Reads of the first document of a list, by which a stage learns where the parts of its type are."""


def passing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Be a decorator of the application's: it calls, and hands on what comes."""

    @functools.wraps(function)
    def handed_on(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return handed_on


_FIXED: Final[dict[str, Any]] = {
    **{name: value for name, value in vars(values).items() if isinstance(value, type)},
    **{name: getattr(asyncio, name) for name in "CancelledError TaskGroup gather create_task shield timeout".split()},
    **{name: getattr(contextlib, name) for name in "aclosing asynccontextmanager contextmanager suppress".split()},
    "V1": VARIABLES[0],
    "V2": VARIABLES[1],
    "asyncio": asyncio,
    "copy_context": contextvars.copy_context,
    "functools": functools,
    "inspect": inspect,
    "lru_cache": functools.lru_cache,
    "partial": functools.partial,
    "passing": passing,
    "pause": functools.partial(asyncio.sleep, 0),
    "ref": weakref.ref,
    "types": types,
    "warnings": warnings,
}


class World:
    """What a program finds in its globals, and the log of all that it does.

    Args:
        door: What decorates and opens handoffs, or nothing of that.
        leaky: Whether the program may leave something in OpenTelemetry's context.
    """

    def __init__(self, door: Door, *, leaky: bool) -> None:
        self.leaky = leaky
        self._names = Names()
        self._door = door
        self._lanes: dict[str, list[object]] = defaultdict(list)
        self._drained: list[Any] = []
        self._submitted: list[Future[Any]] = []
        self.too_many_reads: list[object] = []
        self.reads: dict[tuple[object, Lazy, str], int] = defaultdict(int)
        self.kept: list[object] = []
        self.pool: ThreadPoolExecutor | None = None
        self.start = get_current()
        self.is_bare = isinstance(door, Bare)

    def globals(self) -> dict[str, Any]:
        """Return the globals of the program."""
        public = {name: getattr(self, name) for name in _OFFERED}
        return {**_FIXED, **self._door.names(), **public, "keep": self.kept, "state": {}, "__name__": "program"}

    def settle(self) -> None:
        """Wait for the threads, evaluate what nobody has evaluated yet, and let go of what the program kept."""
        self._wait()
        if self.pool is not None:
            self.pool.shutdown()
        for each in sorted(self._drained, key=self._names.of):
            self.log("left", attempt(functools.partial(list, each)))
        self.kept.clear()

    def end(self) -> None:
        """Let go of everything that the program made."""
        self._drained.clear()
        self._names.forget()
        self.too_many_reads = [
            (document.raw, name, count)
            for (_, document, name), count in self.reads.items()
            if count > (_LEARNING if document.raw == "d0" else 1)
        ]
        self.reads.clear()

    def observed(self) -> dict[str, object]:
        """Return the log of each thread."""
        return {f"log {lane}".strip(): entries for lane, entries in self._lanes.items()}

    # What programs call.

    def log(self, *entry: object) -> None:
        self._lanes[self._names.lane].append(entry)

    def tell(self, value: object) -> None:
        self.log("told", self._names.describe(value))

    def saw(self, error: BaseException) -> None:
        self.log("saw", self._names.error(error))

    def look(self) -> None:
        self.log("variables", *[each.get() for each in VARIABLES], baggage.get_baggage("user"))

    def outside(self) -> None:
        """Look at OpenTelemetry's context where no handoff and no stage is around."""
        kept = _others(get_current()) == _others(self.start)
        self.log("outside", kept, trace.get_current_span() is trace.INVALID_SPAN)

    def new(self, kind: type[BaseException], *args: object) -> BaseException:
        made: BaseException = self._names.own("error", kind(*args))
        return made

    def ids(self, number: int) -> Any:
        return self._names.own("ids", [f"d{each}" for each in range(number)])

    def docs(self, number: int) -> Any:
        return self._names.own("docs", [self._names.own("doc", Doc(f"d{each}")) for each in range(number)])

    def dicts(self, number: int) -> Any:
        made = [{"id": f"d{each}", "score": 0.5, "metadata": {"page": each}} for each in range(number)]
        return self._names.own("dicts", made)

    def pairs(self, number: int) -> Any:
        return self._names.own("pairs", [(self._names.own("doc", Doc(f"d{each}")), 0.5) for each in range(number)])

    def array(self, number: int) -> Any:
        return self._names.own("array", np.arange(number))

    def search(self, number: int) -> Any:
        return self._names.own("search", (np.ones((1, number), dtype="float32"), np.arange(number)[None]))

    def default(self) -> Any:
        made: defaultdict[str, int] = defaultdict(int)
        made["page"] = 1
        return self._names.own("default", [self._names.own("entry", made)])

    def odd(self, error: type[BaseException]) -> Any:
        return self._names.own("odd", [self._names.own("lazy", Odd(error)), "d1"])

    def faceless(self) -> Any:
        return self._names.own("faceless", values.Faceless(RuntimeError))

    def touchy(self, number: int) -> Any:
        made = [self._names.own("touchy", Touchy(f"d{each}", self._report("touchy"))) for each in range(number)]
        return self._names.own("touchies", made)

    def lazy(self, number: int) -> Any:
        return self._names.own(
            "lazies", [self._names.own("lazy", Lazy(f"d{each}", self._read)) for each in range(number)]
        )

    def once(self, number: int) -> Any:
        made = self._names.own("once", Once([f"d{each}" for each in range(number)], self._report("once")))
        self._drained.append(made)
        return made

    def iterator(self, number: int) -> Any:
        made = self._names.own("iterator", iter([f"d{each}" for each in range(number)]))
        self._drained.append(made)
        return made

    def later(self) -> Any:
        return self._names.own("later", values.Later(self._report("later")))

    def fleeting(self) -> list[Fleeting]:
        return [Fleeting()]

    def gone(self, left: list[weakref.ref[Fleeting]]) -> None:
        """Look whether documents are gone. Exceptions that are kept would keep frames, and those what is in them."""
        self._names.let_go_of_frames()
        self.log("gone", [each() is None for each in left])

    def tool(self) -> values.Tool:
        return values.Tool()

    @contextlib.contextmanager
    def baggage(self, user: str) -> Iterator[None]:
        token = attach(baggage.set_baggage("user", user))
        try:
            yield
        finally:
            detach(token)

    def collect(self) -> None:
        """Collect garbage, in the first thread alone: in another one finalizers of any would run by chance."""
        if not self._names.lane:
            self._wait()
            gc.collect()

    def lose(self, thing: object) -> None:
        """Leave something to the garbage collector, in a cycle."""
        cycle: list[object] = [thing]
        cycle.append(cycle)

    def drive(self, coroutine: Coroutine[Any, Any, Any], steps: int) -> Any:
        """Run some steps of a coroutine by hand, in a context of its own as a task has, and close it."""
        inside = contextvars.copy_context()
        for _ in range(steps):
            try:
                self.tell(inside.run(coroutine.send, None))
            except StopIteration as over:
                return over.value
        inside.run(coroutine.close)
        return "closed"

    def submit(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        """Run in a thread of a pool, with a log of its own."""
        if self.pool is None:
            self.pool = ThreadPoolExecutor(32)  # work that waits for work has to find a free one
        future = self.pool.submit(self._in_lane(), function, *args, **kwargs)
        self._submitted.append(future)
        return future

    def thread(self, function: Callable[..., Any], *args: Any) -> None:
        """Run in a thread of its own."""
        started = threading.Thread(target=self._in_lane(), args=(function, *args))
        started.start()
        started.join()

    async def to_thread(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run in a thread of the loop's; a future never ends with StopIteration, so that one is given as a result."""
        in_lane = self._in_lane()

        def run() -> Any:
            try:
                return in_lane(function, *args)
            except StopIteration as error:
                return error

        return await asyncio.to_thread(run)

    def face(self, function: Any) -> None:
        """Look at what a function says of itself."""
        kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
        name = attempt(lambda: (function.__name__, function.__qualname__, function.__doc__, function.__module__))
        self.log(
            "face", name, [is_kind(function) for is_kind in kinds], attempt(lambda: str(inspect.signature(function)))
        )

    def _wait(self) -> None:
        while self._submitted:  # which may submit more
            wait([self._submitted.pop()])

    def _in_lane(self) -> Callable[..., Any]:
        lane = f"{self._names.lane}t{self._names.count('thread')} "

        def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            before, self._names.lane = self._names.lane, lane
            around = get_current()
            try:
                return function(*args, **kwargs)
            finally:
                if not self.leaky:
                    self.log("context put back", get_current() == around)
                self._names.lane = before

        # The threads of a pool keep what is set in them, and which of them is free is chance.
        return lambda *args, **kwargs: contextvars.Context().run(run, *args, **kwargs)

    def _report(self, what: str) -> Callable[[str], None]:
        return functools.partial(self.log, what)

    def _read(self, document: Lazy, name: str) -> None:
        self.reads[self._door.running(), document, name] += 1


_HARNESS: Final = frozenset("globals settle end observed".split())
_OFFERED: Final = [name for name in vars(World) if not name.startswith("_") and name not in _HARNESS]


def _others(context: Context) -> dict[str, object]:
    """Return what others than the monitor have put into a context; a place that was left may stay in it."""
    return {key: value for key, value in context.items() if not key.startswith("rop_otel")}


def attempt(call: Callable[[], Any]) -> object:
    """Return what a call gives, or the type of what it raises."""
    try:
        return call()
    except (Exception, Stop) as error:  # noqa: BLE001 - compared, like all that the program does
        return type(error).__name__
