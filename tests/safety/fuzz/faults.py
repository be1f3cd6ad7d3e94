"""Monitors with a fault, which the search has to find: each does one thing to the application that ours never may."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FunctionType
from typing import Any, Final

from opentelemetry import baggage
from opentelemetry.context import attach

import rop_otel as rop

Call = Callable[[], Any]


def _swallows(call: Call) -> Any:
    with suppress(ValueError):
        return call()


def _swallows_more(call: Call) -> Any:
    with suppress(BaseException):
        return call()


def _calls_twice(call: Call) -> Any:
    call()
    return call()


def _evaluates(call: Call) -> Any:
    result = call()
    return list(result) if isinstance(result, Iterator) else result


def _steps(call: Call) -> Any:
    result = call()
    if isinstance(result, Iterator):
        next(result, None)
    return result


def _copies(call: Call) -> Any:
    result = call()
    return list(result) if type(result) is list else result


def _changes(call: Call) -> Any:
    result = call()
    if type(result) is list and result:
        result.append(result[0])
    return result


def _reads_twice(call: Call) -> Any:
    result = call()
    for each in result if type(result) is list else ():
        with suppress(Exception):
            getattr(each, "score", None)
    return result


def _compares(call: Call) -> Any:
    result = call()
    if type(result) is list:
        with suppress(Exception):
            bool(result[0])
    return result


def _forgets_the_context(call: Call) -> Any:
    result = call()
    attach(baggage.set_baggage("left", "behind"))
    return result


def _raises_another(call: Call) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - the fault
        raise type(error)(*error.args) from None


def _chains(call: Call) -> Any:
    try:
        return call()
    except Exception as error:
        with suppress(Exception):
            error.add_note("seen by the monitor")
        raise


def _hides_the_context(call: Call) -> Any:
    try:
        return call()
    except Exception as error:
        error.__context__ = None
        raise


def _keeps(call: Call) -> Any:
    result = call()
    _kept[:] = [result]
    return result


_kept: Final[list[object]] = []


def _faulty(fault: Callable[[Call], Any]) -> Callable[..., Any]:
    """Return a decorator as the monitor's, with a fault in the calls of plain functions."""

    def stage(*args: Any, **options: Any) -> Callable[[Any], Any]:
        decorate: Callable[[Any], Any] = rop.stage(*args, **options)

        def decorated(function: Any) -> Any:
            made = decorate(function)
            kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
            if not isinstance(function, FunctionType) or any(is_kind(function) for is_kind in kinds):
                return made
            return functools.wraps(made)(lambda *given, **named: fault(functools.partial(made, *given, **named)))

        return decorated

    return stage


def _turns(*args: Any, **options: Any) -> Callable[[Any], Any]:
    """Let other tasks run once more before a coroutine."""

    def decorated(function: Any) -> Any:
        made = rop.stage(*args, **options)(function)
        if not isinstance(function, FunctionType) or not inspect.iscoroutinefunction(function):
            return made

        async def turned(*given: Any, **named: Any) -> Any:
            await asyncio.sleep(0)
            return await made(*given, **named)

        return functools.wraps(made)(turned)

    return decorated


def _reads_ahead(*args: Any, **options: Any) -> Callable[[Any], Any]:
    """Run a generator one step ahead of its consumer."""

    def decorated(function: Any) -> Any:
        made = rop.stage(*args, **options)(function)
        if not isinstance(function, FunctionType) or not inspect.isgeneratorfunction(function):
            return made

        def ahead(*given: Any, **named: Any) -> Any:
            steps = made(*given, **named)
            for each in steps:
                following = next(steps, None)
                yield each
                if following is not None:
                    yield following

        return functools.wraps(made)(ahead)

    return decorated


FAULTS: Final[dict[str, Callable[..., Any]]] = {
    "swallows an exception": _faulty(_swallows),
    "swallows a BaseException": _faulty(_swallows_more),
    "calls twice": _faulty(_calls_twice),
    "evaluates an iterator": _faulty(_evaluates),
    "takes a step of an iterator": _faulty(_steps),
    "copies a list": _faulty(_copies),
    "changes a list": _faulty(_changes),
    "reads an attribute twice": _faulty(_reads_twice),
    "asks a document for its truth": _faulty(_compares),
    "forgets to put the context back": _faulty(_forgets_the_context),
    "raises another exception": _faulty(_raises_another),
    "adds a note": _faulty(_chains),
    "hides what led to an exception": _faulty(_hides_the_context),
    "keeps a result": _faulty(_keeps),
    "lets other tasks run": _turns,
    "reads a generator ahead": _reads_ahead,
}
"""Decorators by what is wrong with them."""
