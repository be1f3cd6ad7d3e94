"""What the service keeps, whatever it keeps it in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from rop_otel.core.handoff.sums import Sums
from rop_otel.spans import Span

NONE: Final = "-"
"""Stands for what a handoff does not have: a service, a run, a verdict, a cause."""

OF_KIND: Final = "/*"
"""After a stage kind it stands for every place of that kind, whatever its name and round."""

HOUR_NS: Final = 3_600_000_000_000
"""Nanoseconds of an hour, for which totals are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHandoff:
    """One assessed handoff: by what it is looked for, how it is shown, and what it adds to the totals.

    Args:
        handoff_id, trace_id, name, service, run_id, verdict, cause: Which it is; ``NONE`` where it has none.
        at: The place of the loss, as the page writes it: ``NONE`` where no stage can be blamed, None without a loss.
        record_id: Of the record; None without.
        objects: IDs of selected and judged objects.
        findings: Code and stage of each finding.
        row: How it is listed, in JSON.
        sums: What it adds to the totals.
        observation: The line of the run's records that it is; None where it belongs to no declared run.
    """

    handoff_id: str
    trace_id: str
    name: str
    service: str = NONE
    run_id: str = NONE
    verdict: str = NONE
    at: str | None = None
    cause: str = NONE
    record_id: str | None = None
    objects: tuple[str, ...] = ()
    findings: tuple[tuple[str, str | None], ...] = ()
    row: Mapping[str, Any] = field(default_factory=dict)
    sums: Sums = field(default_factory=Sums, compare=False)
    observation: bytes | None = None


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
        verdict, at, cause, name, service, run: As they are kept; None for any.
        finding: A finding's code, or ``code@stage``; None for any.
        record, object: Part of the record's ID, and of that of a selected or judged object, in any case.
        text: Part of any ID: of handoff, trace, record, run or object, in any case.
        since_ns, until_ns: Settled then or later, and before; Unix nanoseconds.
    """

    verdict: str | None = None
    at: str | None = None
    cause: str | None = None
    name: str | None = None
    service: str | None = None
    run: str | None = None
    finding: str | None = None
    record: str | None = None
    object: str | None = None
    text: str | None = None
    since_ns: int = 0
    until_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some of the handoffs that are looked for, the one that was settled last first.

    Args:
        rows: How those of this page are listed.
        after: What to ask the next page with; None where this is the last. There may be fewer rows than were asked
            for, or none, although there are more: a store looks only so long.
    """

    rows: tuple[Mapping[str, Any], ...] = ()
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run, as far as its handoffs are kept.

    Args:
        run_id: Its ID; ``NONE`` stands for the handoffs of the declaration that name no run.
        handoffs: How many.
        records: How many different records they are of.
        declared: How many of them belong to the declaration.
        verdicts: Handoffs by verdict.
        first_ns, last_ns: When the first and the last of them were settled, in Unix nanoseconds.
    """

    run_id: str
    handoffs: int
    records: int
    declared: int
    verdicts: Mapping[str, int]
    first_ns: int
    last_ns: int


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

    def stale(self, limit: int) -> list[tuple[str, int]]:
        """Return traces that an older version has settled, to be settled again, and when that was, in nanoseconds."""

    def trace_of(self, handoff_id: str) -> str | None:
        """Return the trace of a handoff that is kept; None where none has this ID."""

    def handoffs(self, wanted: Wanted, *, limit: int, after: str | None = None) -> Page:
        """Return a page of handoffs.

        Args:
            wanted: Which ones.
            limit: How many at most.
            after: As the page before gave it; None for the first.

        Raises:
            ValueError: ``after`` is none that a page gives.
        """

    def sums(self, wanted: Wanted) -> Iterator[tuple[int, Sums]]:
        """Yield what handoffs add up to, with the start of the hour in Unix nanoseconds, in order of time.

        An hour may come several times. Only name, service, run and whole hours are looked at.
        """

    def choices(self, wanted: Wanted, *, limit: int) -> dict[str, list[str]]:
        """Return names, services and runs of handoffs, as they are kept: some of them, sorted, where they are too many.

        Only whole hours are looked at.
        """

    def runs(self, limit: int) -> list[StoredRun]:
        """Return the runs, the one of the handoff that was settled last first."""

    def run(self, run_id: str) -> StoredRun | None:
        """Return one run; None where no handoff of it is kept."""

    def observations_of(self, run_id: str, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield when the declared handoffs of a run were settled, and the lines that they are, in that order.

        Args:
            run_id: The run.
            after: Only those that were settled after this, in Unix nanoseconds.
        """

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
