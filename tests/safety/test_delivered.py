"""Which exceptions were delivered from outside, by the way in which they come."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

import pytest

from rop_otel.safety.delivered import is_delivered, raise_if_delivered
from tests.safety.handlers import HANDLERS, JobTimeoutError, plain


class UnmadeError(Exception):
    """One that cannot be made of nothing, as validators' are."""

    def __init__(self, *, found: str) -> None:
        super().__init__()
        self.found = found


class SpokenError(Exception):
    """One whose class brings its message along."""

    def __init__(self) -> None:
        super().__init__("the task took too long")


@contextmanager
def handling(handler: Callable[..., Any]) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def caught(call: Callable[[], Any]) -> Exception:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - it is what is looked at
        return error
    raise AssertionError("nothing was raised")


class Lazy:
    """A document that takes its time when it is read."""

    def __getattr__(self, name: str) -> str:
        signal.raise_signal(signal.SIGUSR1)
        return name

    def __str__(self) -> str:
        signal.raise_signal(signal.SIGUSR1)
        return "text"

    def __float__(self) -> float:
        signal.raise_signal(signal.SIGUSR1)
        return 1.0


def _late(number: int) -> int:
    signal.raise_signal(signal.SIGUSR1)
    return number


PLACES: dict[str, Callable[[], Any]] = {
    "call": lambda: signal.raise_signal(signal.SIGUSR1),
    "attribute": lambda: Lazy().name,
    "getattr": lambda: getattr(Lazy(), "name", None),
    "str": lambda: str(Lazy()),
    "float": lambda: float(Lazy()),
    "sorted": lambda: sorted([2, 1], key=_late),
    "generator": lambda: list(_late(number) for number in range(2)),  # noqa: C400 - a generator is meant
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
def test_handlers_of_every_kind_are_recognised(handler: Callable[..., Any], place: Callable[[], Any]) -> None:
    """An exception of a signal handler is recognised whatever the handler is, and wherever it comes up."""
    with handling(handler):
        assert is_delivered(caught(place))


def test_a_handler_is_recognised_while_c_code_waits() -> None:
    """A handler that ends a wait in C code is recognised as one."""
    with handling(plain):
        alarm = threading.Timer(0.05, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1))
        alarm.start()
        error = caught(lambda: time.sleep(5))
        alarm.join()
    assert is_delivered(error)


class Converting:
    """A document that says in its own words that it could not be read."""

    def __getattr__(self, name: str) -> str:
        try:
            signal.raise_signal(signal.SIGUSR1)
        except Exception as error:
            raise AttributeError(name) from error
        return name


def test_what_the_application_makes_of_it_goes_on_too() -> None:
    """An object that raises an exception of its own in the place of a delivered one is not swallowed either."""
    with handling(plain):
        assert is_delivered(caught(lambda: Converting().name))


def test_what_is_handled_around_is_no_cause() -> None:
    """What an application raises while it handles a timeout of before, further out, is its own."""
    errors = []
    with handling(plain):
        try:
            signal.raise_signal(signal.SIGUSR1)
        except JobTimeoutError:
            errors.append(caught(lambda: int("x")))
    assert errors[0].__context__ is not None
    assert not is_delivered(errors[0])


def test_one_that_was_kept_is_the_applications() -> None:
    """A document that raises again, at each reading, what interrupted its loading once, is an object that raises."""
    with handling(plain):
        kept = caught(lambda: signal.raise_signal(signal.SIGUSR1))
    assert is_delivered(kept)

    class Failed:
        @property
        def id(self) -> str:
            raise kept

    assert not is_delivered(caught(lambda: Failed().id))


def test_one_that_is_raised_again_on_the_way_goes_on() -> None:
    """One that passes through two guards, and code that raises it anew, is recognised at the end."""

    def inner() -> None:
        try:
            signal.raise_signal(signal.SIGUSR1)
        except Exception as error:  # noqa: BLE001 - as the monitor does
            raise_if_delivered(error)

    def anew() -> None:
        try:
            inner()
        except JobTimeoutError as error:
            raise error

    with handling(plain):
        error = caught(anew)
        assert isinstance(error, JobTimeoutError)
        assert is_delivered(error)


class Document:
    """A document whose parts raise."""

    @property
    def id(self) -> str:
        raise AttributeError("id")

    def __getattr__(self, name: str) -> str:
        raise JobTimeoutError

    def __getitem__(self, key: int) -> str:
        raise JobTimeoutError(key)

    def part(self, number: int, place: int = 2, *more: int) -> str:
        raise JobTimeoutError


def _thrown(start: bool) -> None:
    def steps() -> Iterator[int]:
        yield 1
        yield 2

    generator: Any = steps()
    if start:
        next(generator)
    generator.throw(UnmadeError(found="x"))


OWN: dict[str, Callable[[], Any]] = {
    "property": lambda: Document().id,
    "any attribute": lambda: Document().name,
    "item": lambda: Document()[signal.SIGALRM],
    "numbers like signals": lambda: Document().part(14, signal.SIGUSR1, 1, 2),
    "C code": lambda: int("x"),
    "C code without arguments": lambda: next(iter(())),
    "closed generator": lambda: _thrown(start=True),
    "generator not begun": lambda: _thrown(start=False),
    "no argument": lambda: [][1],
    "recursion": lambda: _deep(),
    "group": lambda: _group(),
}


def _deep() -> None:
    _deep()


def _group() -> None:
    raise ExceptionGroup("several", [ValueError(1), JobTimeoutError()])


@pytest.mark.parametrize("call", OWN.values(), ids=OWN)
def test_what_code_raises_by_itself_is_not_delivered(call: Callable[[], Any]) -> None:
    """Exceptions of the application's objects are theirs, however they look."""
    assert not is_delivered(caught(call))


def test_a_validators_exception_is_its_own() -> None:
    """An exception of a C extension that has no arguments, as those of validators, is not taken for a delivered one."""
    from pydantic import BaseModel

    class Page(BaseModel):
        number: int

    assert not is_delivered(caught(lambda: Page(number="x")))


def made_up_frame() -> FrameType:
    """Return a frame as C extensions put it into tracebacks for their functions."""
    api = ctypes.pythonapi
    api.PyCode_NewEmpty.restype = api.PyFrame_New.restype = ctypes.py_object
    api.PyThreadState_Get.restype = ctypes.c_void_p
    code = api.PyCode_NewEmpty(b"extension.pyx", b"load", 7)
    objects: tuple[Any, ...] = ctypes.py_object(code), ctypes.py_object({}), ctypes.py_object({})
    frame: FrameType = api.PyFrame_New(ctypes.c_void_p(api.PyThreadState_Get()), *objects)
    return frame


def test_an_extensions_exception_is_its_own() -> None:
    """An exception of compiled code, whose frames in the traceback are made up, is not taken for a delivered one."""
    frame = made_up_frame()

    def load() -> None:
        raise JobTimeoutError().with_traceback(TracebackType(None, frame, frame.f_lasti, 7))

    assert not is_delivered(caught(load))


def spin(ready: threading.Event, found: list[Exception]) -> None:
    text = {"a": 1.5}

    def step(number: int) -> float:
        return float(number) + text.get("a", 0.0)

    try:
        ready.set()
        while True:
            for number in range(10):
                step(number)
            sorted("ba", key=str.lower)
    except Exception as error:  # noqa: BLE001 - it is what is looked at
        found.append(error)


def set_in_a_thread(kind: type[BaseException]) -> Exception:
    """Return the exception that comes up in a thread in which another one set it."""
    ready, found = threading.Event(), list[Exception]()
    thread = threading.Thread(target=spin, args=(ready, found))
    thread.start()
    ready.wait()
    time.sleep(0.0005)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(kind))
    thread.join()
    return found[0]


@pytest.mark.parametrize("kind", [JobTimeoutError, SpokenError, TimeoutError, RuntimeError])
def test_those_of_other_threads_are_recognised(kind: type[Exception]) -> None:
    """An exception that another thread set is recognised: one of an application's class, or a plain one."""
    assert all(is_delivered(set_in_a_thread(kind)) for _ in range(100))


def test_some_of_other_threads_cannot_be_recognised() -> None:
    """One of the standard library's classes is recognised only where nothing else raises: between calls."""
    known = [is_delivered(set_in_a_thread(LookupError)) for _ in range(200)]
    assert any(known)
    assert not all(known)


def test_the_guard_raises_what_was_delivered_and_nothing_else() -> None:
    """The very exception goes on that was delivered; all others stay where they were caught."""
    with handling(plain):
        error = caught(lambda: signal.raise_signal(signal.SIGUSR1))
        with pytest.raises(JobTimeoutError) as raised:
            raise_if_delivered(error)
    assert raised.value is error
    raise_if_delivered(caught(lambda: int("x")))
    raise_if_delivered(ValueError("never raised"))
