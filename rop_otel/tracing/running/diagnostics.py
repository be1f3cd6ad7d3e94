"""Failures of the monitor and misuse of it: they are counted, logged once, and kept from the application."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from typing import Final

from rop_otel.core.handoff import Notice, Sink
from rop_otel.errors import UsageError
from rop_otel.safety import afterwards, is_collecting, raise_if_delivered

_logger = logging.getLogger("rop_otel")
_OURS: Final = "rop_otel"
"""What the names of our own modules begin with, those of the instrumentation packages included."""
_MOST_PLACES: Final = 5
"""Places in our own code that a line names of an exception, the innermost ones."""
_MAX_PLACES: Final = 1000
_MAX_MESSAGES: Final = 5
"""Different messages that are logged for one place: some hold a value, which may be another each time."""


class Problem(StrEnum):
    """What can go wrong, by the place where it does: a closed set."""

    ANSWER = "answer"
    ASSESS = "assess"
    CONFIGURATION = "configuration"
    HANDOFF = "handoff"
    IDS = "ids"
    INPUT = "input"
    INSTRUMENTATION = "instrumentation"
    PROCESSOR = "processor"
    RUN = "run"
    SINK = "sink"
    STAGE = "stage"


class Diagnostics:
    """Counts and logs.

    Args:
        sinks: Each is called for every problem.
        strict: True raises on misuse.
        text: True logs exceptions as a whole; their messages, and the lines that tracebacks quote, may hold text of the
            application.
    """

    def __init__(self, sinks: Sequence[Sink] = (), *, strict: bool = False, text: bool = False) -> None:
        self._sinks = tuple(sinks)
        self._strict = strict
        self._text = text
        self._logged: dict[tuple[Problem, str], set[str]] = {}

    def notice(self, notice: Notice, *, where: str = "") -> None:
        """Call every sink; one that raises stops neither the others nor the application."""
        if is_collecting():
            afterwards(partial(self.notice, notice, where=where))
            return
        for sink in self._sinks:
            try:
                sink.noticed(notice, where=where)
            except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
                raise_if_delivered(error)
                self._log(Problem.SINK, type(sink).__name__, "a sink of notices raised", failed=True)

    def misuse(self, where: Problem, place: str, message: str) -> None:
        """Take in a wrong use of the API.

        Args:
            where: Kind of place, for the counter.
            place: The decorated function or the handoff; the same message is logged once for each.
            message: What is wrong and what to do, in one sentence.

        Raises:
            UsageError: In strict mode.
        """
        self.notice(Notice.ERROR, where=where)
        if self._strict:
            raise UsageError(f"{place}: {message}")
        self._log(where, place, message)

    def failure(self, where: Problem, place: str, message: str) -> None:
        """Take in an exception of our own code, which is being handled."""
        self.notice(Notice.ERROR, where=where)
        self._log(where, place, message, failed=True)

    def remark(self, where: Problem, place: str, message: str) -> None:
        """Log once something that is no error, but that users should know."""
        self._log(where, place, message, counted=False)

    def _log(self, where: Problem, place: str, message: str, *, failed: bool = False, counted: bool = True) -> None:
        if is_collecting():  # handlers take locks, and write
            afterwards(partial(self._log, where, place, message, counted=counted))
            return
        if (where, place) not in self._logged and len(self._logged) >= _MAX_PLACES:
            return
        logged = self._logged.setdefault((where, place), set())
        if message in logged or len(logged) >= _MAX_MESSAGES:
            return
        logged.add(message)
        try:
            error = sys.exception() if failed else None
            what = "" if error is None else f"{_located(error)}; "
            exc_info = error if self._text else None
            again = "further ones are counted, not logged" if counted else "this is said once"
            _logger.warning("%s: %s (%s%s)", place, message, what, again, exc_info=exc_info)
        except Exception as raised:  # noqa: BLE001 - a filter or handler of the application's
            raise_if_delivered(raised)
            return


def _located(error: BaseException) -> str:
    """Return an exception's type, and where in our own code it came through: its message may hold text."""
    places: list[str] = []
    trace = error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.startswith(_OURS):
            places.append(f"{module}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join([type(error).__name__, *reversed(places[-_MOST_PLACES:])])
