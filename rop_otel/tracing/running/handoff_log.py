"""Writes to the application's log which handoffs went wrong, so that a terminal is enough to see it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Final

from rop_otel import semconv
from rop_otel.core.checkup import sentence, symptoms, watched
from rop_otel.core.handoff import Assessment, HandoffRecord, Severity, Verdict
from rop_otel.safety import create_lock

_logger = logging.getLogger("rop_otel.handoffs")
_HANDOFF_ID: Final = semconv.label(semconv.HANDOFF_ID)
_UNDECIDED: Final = frozenset({Verdict.UNVERIFIABLE, Verdict.RESOLUTION_ERROR, Verdict.SELECTOR_ERROR})
_MOST_NAMES: Final = 100
"""Handoff names of which the first handoff, and those without a verdict, are lines of their own."""

_INTERVAL: Final = 60.0
"""Seconds between two lines that count the handoffs of a name without a verdict."""


class HandoffLog:
    """Logs at INFO, by ``rop_otel.handoffs``.

    - The first handoff of each name: what is watched, and what looks wrong with it.
    - Each FAIL, and each handoff with a finding that is an error: an object that arrives beside the passage of another
      tenant is a PASS.
    - The first handoff of a name without a verdict; later ones are counted, in one line a minute.
    """

    def __init__(self) -> None:
        self._lock = create_lock()
        self._seen: set[str] = set()
        self._counted: dict[tuple[str, Verdict], int] = {}
        self._last: dict[tuple[str, Verdict], float] = {}

    def write(self, record: HandoffRecord, assessment: Assessment, origins: Callable[[], str] = str) -> None:
        """Log what is to be logged of a handoff.

        Args:
            record: The facts as they are recorded: hashed where there is a key.
            assessment: What was concluded.
            origins: Gives where the IDs of its documents were found, in words.
        """
        if not _logger.isEnabledFor(logging.INFO) or assessment.verdict is None:
            return
        if self._is_first(record.name):
            _logger.info("%s: watching %s", record.name, _first_words(record, assessment, origins()))
        if assessment.verdict is Verdict.FAIL or any(each.severity is Severity.ERROR for each in assessment.findings):
            self._line(assessment, sentence(assessment, record.selected))
        elif assessment.verdict in _UNDECIDED:
            more = self._count(record.name, assessment.verdict)
            if more is not None:
                self._line(assessment, sentence(assessment, record.selected) + _counted(more))

    def _line(self, assessment: Assessment, words: str) -> None:
        _logger.info("%s", words, extra={_HANDOFF_ID: assessment.handoff_id})

    def _is_first(self, name: str) -> bool:
        if name in self._seen or len(self._seen) >= _MOST_NAMES:
            return False
        with self._lock:
            self._seen.add(name)
        return True

    def _count(self, name: str, verdict: Verdict) -> int | None:
        """Return how many handoffs were not logged since the last one that was; None where this one is not, either."""
        now, key = monotonic(), (name, verdict)
        with self._lock:
            if key not in self._last and len(self._last) >= _MOST_NAMES:
                return None
            if now - self._last.get(key, -_INTERVAL) < _INTERVAL:
                self._counted[key] = self._counted.get(key, 0) + 1
                return None
            self._last[key] = now
            return self._counted.pop(key, 0)


def _first_words(record: HandoffRecord, assessment: Assessment, origins: str) -> str:
    wrong = symptoms(record, assessment)
    words = "; ".join(f"{each.seen} ({each.code.advice})" for each in wrong)
    found = f"; IDs are read from {origins}" if origins else ""
    return f"{watched(record)}{found}" + (f"; looks wrong: {words}" if words else "")


def _counted(more: int) -> str:
    return f"; {more} more like it since the last line" if more else ""
