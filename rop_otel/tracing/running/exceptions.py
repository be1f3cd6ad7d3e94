"""An exception written on a span, in bounded time and space.

An exception that goes through a hundred stages is written on a hundred spans, each time with a longer traceback. So the
time of OpenTelemetry's own ``record_exception()`` grows with the square of the stages. Here a span gets only the
beginning of the traceback (the frames between this span and the one inside it) and its end (where it was raised).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from linecache import getline
from types import TracebackType
from typing import Final

from opentelemetry.trace import Span

from rop_otel import semconv
from rop_otel.safety import raise_if_delivered

_FIRST: Final = 16
_LAST: Final = 8
"""Frames of a traceback that are written, from its beginning and from its end."""

_FARTHEST: Final = 1000
"""Frames of a traceback that are looked at."""

_CAUSES: Final = 4
"""Exceptions that are written, each the cause of the one before."""

_LONGEST: Final = 4096
"""Characters of a message that are written."""


def record_exception(span: Span, error: BaseException, *, text: bool, at: int | None = None) -> None:
    """Add an exception to a span as the event that OpenTelemetry defines.

    It raises where text is asked for and the exception's own ``str()`` raises.

    Args:
        span: The span.
        error: The exception.
        text: Whether to write its message and traceback, too: messages quote documents, and name them.
        at: When, Unix nanoseconds; None: now.
    """
    attributes = {semconv.EXCEPTION_TYPE: _name(error)}
    if text:
        attributes[semconv.EXCEPTION_MESSAGE] = _message(error)
        attributes[semconv.EXCEPTION_STACKTRACE] = _stacktrace(error)
    span.add_event(semconv.EXCEPTION_EVENT, attributes, at)


def _name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _message(error: BaseException) -> str:
    text = str(error)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _message_if_any(error: BaseException) -> str:
    try:
        return _message(error)
    except Exception as failure:  # noqa: BLE001 - the exception's own code runs here
        raise_if_delivered(failure)
        return "(its str() raised)"


def _stacktrace(error: BaseException) -> str:
    parts: list[str] = []
    link = ""
    for each, words in islice(_chain(error), _CAUSES):
        head = "Traceback (most recent call last):\n" if each.__traceback__ is not None else ""
        parts.insert(0, f"{head}{''.join(_frames(each.__traceback__))}{_name(each)}: {_message_if_any(each)}\n{link}")
        link = words
    return "".join(parts)


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """Give an exception and its causes, each with what stands between it and its own cause."""
    here: BaseException | None = error
    while here is not None:
        if here.__cause__ is not None or here.__suppress_context__:
            yield here, "\nThe above exception was the direct cause of the following exception:\n\n"
            here = here.__cause__
        else:
            yield here, "\nDuring handling of the above exception, another exception occurred:\n\n"
            here = here.__context__


def _frames(trace: TracebackType | None) -> Iterator[str]:
    steps = islice(_steps(trace), _FARTHEST)
    yield from map(_line, islice(steps, _FIRST))
    last: deque[TracebackType] = deque(maxlen=_LAST)
    between = -_LAST
    for step in steps:
        last.append(step)
        between += 1
    if between > 0:
        yield f"  [{between} frames in between]\n"
    yield from map(_line, last)


def _steps(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _line(step: TracebackType) -> str:
    code = step.tb_frame.f_code
    text = getline(code.co_filename, step.tb_lineno, step.tb_frame.f_globals).strip()
    where = f'  File "{code.co_filename}", line {step.tb_lineno}, in {code.co_name}\n'
    return f"{where}    {text}\n" if text else where
