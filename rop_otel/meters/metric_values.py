"""Values that metric attributes may take: capped, so that no input can make a series a request."""

from __future__ import annotations

from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff.assessment import DropCause
from rop_otel.core.handoff.kinds import READER, SHOWING, SOURCES, drop_cause
from rop_otel.core.handoff.terms import MODES
from rop_otel.safety import create_lock

NO_STAGE: Final = ""
"""Value of ``rop.dropped_at`` where no stage can be blamed."""

_LAST_ROUND: Final = 4
"""From this round on, all rounds count as one."""

_STAGELESS: Final = (
    DropCause.NEVER_RETRIEVED,
    DropCause.UNUSED,
    DropCause.BEYOND_RECORDED_DEPTH,
    DropCause.BELOW_CUTOFF,
)
_ANY_STAGE: Final = (DropCause.BELOW_CUTOFF, DropCause.UNOBSERVED_STAGE)
_FED_STAGE: Final = (*_ANY_STAGE, DropCause.SILENT_CUT, DropCause.BEYOND_RECORDED_DEPTH)


class Capped:
    """The first few distinct strings; any further one is ``other``. Safe to call from any thread.

    A string that UTF-8 cannot carry (a lone surrogate) is made one that it can, since one such label would make
    every scrape fail.

    Args:
        limit: How many distinct strings to keep.
        reserved: Strings that stand for something else, and so are ``other`` here.
    """

    __slots__ = ("_known", "_lock", "_reserved", "_room")

    def __init__(self, limit: int, *, reserved: frozenset[str] = frozenset()) -> None:
        self._room = iter(range(limit))
        self._reserved = reserved
        self._lock = create_lock()
        self._known: dict[str, str] = {}

    def __call__(self, raw: str) -> str:
        """Return the label of a string."""
        return self._known.get(raw) or self._admit(raw)

    def _admit(self, raw: str) -> str:
        with self._lock:
            if raw in self._reserved:
                return semconv.OTHER
            if raw not in self._known and next(self._room, None) is not None:  # one step: a handler may admit, too
                self._known[raw] = clean(raw)
            return self._known.get(raw, semconv.OTHER)


def clean(raw: str) -> str:
    """Return a string that UTF-8 can carry: each lone half of a surrogate pair becomes a question mark."""
    return raw.encode("utf-8", "replace").decode()


def round_label(number: int | None) -> str:
    """Return the label of a round; empty for a stage without one.

    >>> round_label(3), round_label(17), round_label(None)
    ('3', '4+', '')
    """
    if number is None:
        return ""
    return f"{number}" if number < _LAST_ROUND else f"{_LAST_ROUND}+"


def mode_label(mode: str) -> str:
    """Return a mode of the contract as it is, and any other as ``other``: an invalid one is kept as it came."""
    return mode if mode in MODES else semconv.OTHER


def stageless_causes() -> tuple[str, ...]:
    """Return the causes of a loss for which no stage may be to blame."""
    return tuple(cause.value for cause in _STAGELESS)


def possible_causes(kind: str) -> tuple[DropCause, ...]:
    """Return the causes with which an object may be lost at a stage of this kind; none for a reader.

    A source is fed by nothing, so nothing that reached it can be lost there.
    """
    if kind == READER:
        return ()
    if kind in SOURCES:
        return _ANY_STAGE
    shown = (DropCause.NO_TEXT,) if kind in SHOWING else ()
    return (drop_cause(kind), *_FED_STAGE, *shown)
