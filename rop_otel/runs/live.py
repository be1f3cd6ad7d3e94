"""A run while it goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Self

from opentelemetry.context import Context

from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.standing import Standing
from rop_otel.runs.book import Book, OwnWordBook
from rop_otel.runs.journal import Journal
from rop_otel.runs.report import LiveReport
from rop_otel.safety import catch_up
from rop_otel.tracing.declared import Declared
from rop_otel.tracing.here import current_context, make_current, put_back
from rop_otel.tracing.mishaps import Mishap
from rop_otel.tracing.runs import RUNS, inside
from rop_otel.tracing.runtime import current

_logger = logging.getLogger("rop_otel")


class Run:
    """A run: its handoffs are counted against the records that it expects.

    Made by :func:`rop_otel.run`. Handoffs belong to it that are opened inside its ``with`` block, which ends it, or
    anywhere with its ID, until :meth:`close` is called or its deadline is over.

    Args:
        run_id: Its ID.
        book: Where its observations are counted.
        journal: Where they are written down; None keeps them in memory only.
        seconds: How long it may take; None: as long as it likes.
        incomplete: Why its report cannot be complete, as known from the start.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        run_id: str,
        *,
        book: Book,
        journal: Journal | None = None,
        seconds: float | None = None,
        incomplete: tuple[str, ...] = (),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.id = run_id
        self._book: Book | None = book
        self._opened = book.opened
        self._own_word = isinstance(book, OwnWordBook)
        self._journal = journal
        self._clock = clock
        self._deadline = None if seconds is None else clock() + seconds
        self._incomplete = incomplete
        self._uncounted = 0
        self._beyond = 0
        self._late = 0
        self._started = book.lines
        self._lock = Lock()
        self._report: LiveReport | None = None
        self._standing: Standing | None = None
        self._reported: set[str] = set()
        self._entered: list[tuple[Context, Context]] = []

    @property
    def declaration(self) -> Opened | None:
        """What its handoffs are judged against; None: each by what it says itself."""
        return None if self._own_word else self._opened

    @property
    def missing(self) -> tuple[str, ...]:
        """The expected records that have not been observed, sorted: after a crash, those that are still to be done."""
        with self._lock:
            self._look()
            if self._book is None:
                return () if self._report is None else self._report.run.accounts.missing
            return self._book.missing()

    @property
    def late(self) -> int:
        """How many of its handoffs ended after it, and so are not in its report."""
        return self._late

    @property
    def report(self) -> LiveReport | None:
        """The report; None while it goes on."""
        catch_up()
        with self._lock:
            self._look()
            return self._report

    def close(self) -> LiveReport:
        """End the run and return its report; a second call changes nothing."""
        catch_up()
        with self._lock:
            return self._end()

    def standing(self) -> Standing:
        """Return how it stands, as the metrics show it."""
        catch_up()
        with self._lock:
            self._look()
            return self._standing or self._stand()

    def join(self, declared: Declared) -> None:
        """Write on a handoff that is being opened what it leaves open and the run decides."""
        declared.run_id = self.id
        if self._own_word:
            declared.mode = declared.mode or "hard"
            return
        declared.declaration_id = self._opened.declaration_id
        declared.declaration_sha256 = self._opened.manifest_sha256 or None
        found = self._opened.declaration
        if found is not None:
            declared.resolver_sha256 = found.resolver.sha256
            declared.mode = found.mode if declared.mode is None else declared.mode
            declared.rule = found.rule if declared.rule is None else declared.rule
            declared.cutoff = found.cutoff if declared.cutoff is None else declared.cutoff

    def started(self) -> None:
        """Count a handoff that has started."""
        with self._lock:
            self._started += 1

    def observed(self, record: HandoffRecord, assessment: Assessment) -> None:
        """Count a handoff that has been assessed, and write it down."""
        with self._lock:
            self._look()
            if self._book is None:
                self._late += 1
                return
            if self._book.lines >= self._book.most:
                self._beyond += 1
                return
            try:
                line = self._book.line_of(record, assessment)
                written = self._write(line)
                self._book.take(line)
            except Exception:
                self._uncounted += 1
                raise
        self._report_changes()
        if written is not None:
            raise written

    def abandon(self) -> None:
        """Let go of the journal and of the lock, in a forked process."""
        self._lock = Lock()
        journal, self._journal = self._journal, None
        if journal is not None:
            journal.close()
        self._incomplete += ("it belongs to the process that this one was forked from",)

    def __enter__(self) -> Self:
        before = current_context()
        context = inside(self, before)
        self._entered.append((context, before))
        make_current(context)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered:
            put_back(*self._entered.pop())
        try:
            self.close()
        except Exception:  # noqa: BLE001 - monitoring never raises into the application
            current().mishaps.failure(Mishap.RUN, f"run {self.id!r}", "it could not be closed")

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _write(self, line: bytes) -> OSError | None:
        """Write a line to the journal; one that cannot be written is counted all the same."""
        if self._journal is None:
            return None
        try:
            self._journal.append(line)
        except OSError as error:
            return error
        return None

    def _look(self) -> None:
        """End the run where its deadline is over. There is no thread that waits for it: whoever looks first does."""
        if self._report is None and self._deadline is not None and self._clock() >= self._deadline:
            self._end()

    def _end(self) -> LiveReport:
        if self._report is None and self._book is not None:
            book = self._book
            self._standing = self._stand()
            self._report = LiveReport(
                run_id=self.id,
                run=book.report(),
                entries=tuple(sorted(book.entries)),
                incomplete=self._shortcomings(),
            )
            self._book = None
            if self._journal is not None:
                self._journal.close()
            RUNS.remove(self, self._standing)
            _logger.info(
                "%s", str(self._report)
            )  # its sentence alone: handlers that export arguments would list records
        if self._report is None:
            raise RuntimeError(f"run {self.id!r} has neither a book nor a report")
        return self._report

    def _stand(self) -> Standing:
        if self._book is None:
            raise RuntimeError(f"run {self.id!r} has no book")
        return self._book.standing(self.id, started=self._started)

    def _shortcomings(self) -> tuple[str, ...]:
        found = list(self._incomplete)
        if self._journal is not None:
            with suppress(OSError):
                self._journal.look()
            self._report_changes()
            found.extend(self._journal.changes)
            if self._journal.lost:
                found.append(f"observations that could not be written to the journal: {self._journal.lost:,}")
        if self._beyond:
            found.append(f"handoffs not counted, beyond the most that a run may hold: {self._beyond:,}")
        if self._uncounted:
            found.append(f"handoffs that could not be counted: {self._uncounted:,}")
        return tuple(found)

    def _report_changes(self) -> None:
        """Report what others did to the journal, once each."""
        for change in () if self._journal is None else self._journal.changes:
            if change not in self._reported:
                self._reported.add(change)
                current().mishaps.failure(Mishap.RUN, f"run {self.id!r}", change)
