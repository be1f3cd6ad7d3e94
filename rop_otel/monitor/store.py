"""What the service keeps, whatever it keeps it in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rop_otel.spans import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHandoff:
    """One assessed handoff, by what it is looked for, and as a whole.

    Args:
        handoff_id, trace_id, name, service, record_id, run_id: Which it is; None where it has none.
        verdict: Its verdict.
        dropped_at, dropped_at_name, drop_cause: Where and why the selected object was lost; None where it was not.
        findings: Code and stage of each finding.
        start_ns, duration_ns: When it ran, in Unix nanoseconds.
        assessment: The assessment in the contract's JSON shape; empty where handoffs are listed.
    """

    handoff_id: str
    trace_id: str
    name: str
    service: str | None = None
    record_id: str | None = None
    run_id: str | None = None
    verdict: str
    dropped_at: str | None = None
    dropped_at_name: str | None = None
    drop_cause: str | None = None
    findings: tuple[tuple[str, str | None], ...] = ()
    start_ns: int = 0
    duration_ns: int = 0
    assessment: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A trace, or several that share a handoff, of which all that is waited for has arrived.

    Args:
        traces: The IDs of the traces.
        handoffs: What their spans amount to now, in place of what was kept of these handoffs before.
        named: The IDs of all handoffs that their spans are, or name.
        at_ns: When that was, in Unix nanoseconds of the service's own clock.
        waits: Whether spans are kept that amount to no handoff: it may arrive later.
    """

    traces: tuple[str, ...]
    handoffs: tuple[StoredHandoff, ...] = ()
    named: tuple[str, ...] = ()
    at_ns: int = 0
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which handoffs are looked for: those for which all that is given holds.

    Args:
        verdict, dropped_at, drop_cause, finding, name, service, record_id, run_id: As they are kept; None for any.
        text: Part of a handoff's, record's or trace's ID; empty for any.
    """

    verdict: str | None = None
    dropped_at: str | None = None
    drop_cause: str | None = None
    finding: str | None = None
    name: str | None = None
    service: str | None = None
    record_id: str | None = None
    run_id: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some of the handoffs that are looked for, the newest first.

    Args:
        handoffs: Those of this page.
        after: What to ask the next page with; None where this is the last.
    """

    handoffs: tuple[StoredHandoff, ...] = ()
    after: str | None = None


class Store(Protocol):
    """Keeps spans from the moment they are acknowledged, and what their handoffs amount to.

    One thread writes; any number read meanwhile. What a method has written when it returns survives a crash.
    """

    def spool(self, spans: Sequence[Span]) -> None:
        """Keep spans whose handoffs are still open."""

    def settle(self, traces: Sequence[Settled]) -> None:
        """Keep what traces amount to.

        Their spans are no longer open. They are kept where there is a handoff, or where they wait for one.
        """

    def open_spans(self) -> Iterator[Span]:
        """Yield the spans that are still open, in the order in which they were kept."""

    def settled_spans(self) -> Iterator[list[Span]]:
        """Yield the spans of settled traces, some at a time, in the order in which they were kept."""

    def spans_of(self, traces: Sequence[str], handoffs: Sequence[str], *, unsettled: bool = False) -> list[Span]:
        """Return the kept spans of settled traces, and of those that settled handoffs are in; none where unknown.

        Args:
            traces, handoffs: Their IDs.
            unsettled: Whether to give their open spans, too.
        """

    def handoffs(self, wanted: Wanted, *, limit: int, after: str | None = None) -> Page:
        """Return a page of handoffs.

        Args:
            wanted: Which ones.
            limit: How many at most.
            after: As the page before gave it; None for the first.

        Raises:
            ValueError: ``after`` is none that a page gives.
        """

    def handoff(self, handoff_id: str) -> StoredHandoff | None:
        """Return one handoff with its assessment; None where none has this ID."""

    def counts(self, wanted: Wanted) -> dict[str, int]:
        """Return how many handoffs have each verdict."""

    def forget(self, *, before_ns: int, max_bytes: int | None = None, limit: int = 1000) -> int:
        """Delete the oldest handoffs and their spans, and return how many; spans that wait as long count, too.

        Spans of traces that share a handoff are deleted together, when the last of their handoffs is.

        Args:
            before_ns: Those that were settled before this, in Unix nanoseconds.
            max_bytes: More than this, and the oldest go, too; None for no limit.
            limit: How many at most in one step.
        """

    def close(self) -> None:
        """Let go of what it is kept in."""
