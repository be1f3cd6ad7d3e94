"""A run while it goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from time import monotonic
from types import TracebackType
from typing import Self

from opentelemetry.context import Context

from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.core.profile.accounts import Input
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.run_status import Standing
from rop_otel.evaluation.inputs import input_of
from rop_otel.runs.journal import Journal
from rop_otel.runs.keeping import Keeper
from rop_otel.runs.live_report import LiveReport
from rop_otel.runs.observations import Observations, OwnWordObservations
from rop_otel.safety import Turns, catch_up, insist, raise_if_delivered, suppress_own
from rop_otel.tracing.position.context_position import current_context, enter, put_back
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.open_runs import RUNS, inside
from rop_otel.tracing.running.runtime import current

_logger = logging.getLogger("rop_otel")


class Run:
    """A run: its handoffs are counted against the records that it expects.

    Made by :func:`rop_otel.run`. Handoffs belong to it that are opened inside its ``with`` block, which ends it, or
    anywhere with its ID, until :meth:`close` is called or its deadline is over.

    Args:
        run_id: Its ID.
        observations: Where its observations are counted.
        journal: Where they are written down; None keeps them in memory only.
        seconds: How long it may take; None: as long as it likes.
        incomplete: Why its report cannot be complete, as known from the start.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        run_id: str,
        *,
        observations: Observations,
        journal: Journal | None = None,
        seconds: float | None = None,
        incomplete: tuple[str, ...] = (),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.id = run_id
        self._troubles: list[Exception] = []
        self._keeper: Keeper | None = Keeper(observations, journal, troubled=lambda error: self._troubles.append(error))
        self._opened = observations.opened
        self._own_word = isinstance(observations, OwnWordObservations)
        self._journal = journal
        self._clock = clock
        self._deadline = None if seconds is None else clock() + seconds
        self._incomplete = incomplete
        self._uncounted = 0
        self._beyond = 0
        self._late = 0
        self._started = observations.lines
        self._turns = Turns()
        self._ending = False
        self._ends: dict[str, tuple[LiveReport, Standing]] = {}
        self._said = count()
        self._reported: set[str] = set()
        self._entered: list[tuple[Context, Context]] = []

    @property
    def declaration(self) -> Opened | None:
        """What its handoffs are judged against; None: each by what it says itself."""
        return None if self._own_word else self._opened

    @property
    def missing(self) -> tuple[str, ...]:
        """The expected records that have not been observed, sorted: after a crash, those that are still to be done."""
        with self._looking():
            keeper = self._keeper
            return self._ends["end"][0].run.accounts.missing if keeper is None else keeper.observations.missing()

    @property
    def late(self) -> int:
        """How many of its handoffs ended after it, and so are not in its report."""
        return self._late

    @property
    def report(self) -> LiveReport | None:
        """The report; None while it goes on."""
        with self._looking():
            return None if self._ended is None else self._ended[0]

    def close(self) -> LiveReport:
        """End the run and return its report; a second call changes nothing."""
        with self._looking():
            return self._end()

    def standing(self) -> Standing:
        """Return how it stands, as the metrics show it."""
        with self._looking():
            keeper = self._keeper
            if keeper is None:
                return self._ends["end"][1]
            return keeper.observations.standing(self.id, started=self._started)

    def join(self, record: HandoffRecord) -> HandoffRecord:
        """Return the record of a handoff that is being opened with what it leaves open and the run decides."""
        if self._own_word:
            return replace(record, run_id=self.id, mode=record.mode or "hard")
        found = self._opened.declaration
        if found is not None:
            record = replace(
                record,
                resolver_sha256=found.resolver.sha256,
                mode=found.mode if record.mode is None else record.mode,
                rule=found.rule if record.rule is None else record.rule,
                cutoff=found.cutoff if record.cutoff is None else record.cutoff,
            )
        return replace(
            record,
            run_id=self.id,
            declaration_id=self._opened.declaration_id,
            declaration_sha256=self._opened.manifest_sha256 or None,
        )

    def started(self) -> None:
        """Count a handoff that has started."""
        with self._turns.lock:
            self._started += 1

    def observed(self, record: HandoffRecord, assessment: Assessment) -> None:
        """Count a handoff that has been assessed, and write it down.

        In a signal handler that interrupts another one that is just being counted, this is done after that one; only
        where the handler closes the run itself, both are counted before.
        """
        self._turns.do(partial(self._observe, record, assessment))
        self._say()
        troubles, self._troubles = self._troubles, []
        if troubles:
            raise troubles[0]

    def abandon(self) -> None:
        """Let go of the journal, in a forked process."""
        self._turns = Turns()
        self._journal = None
        if self._keeper is not None:
            self._keeper.abandon()
        self._incomplete += ("it belongs to the process that this one was forked from",)

    def __enter__(self) -> Self:
        before = current_context()
        context = inside(self, before)
        self._entered.append((context, before))
        enter(context, before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._entered:
                put_back(*self._entered.pop())
        finally:
            self._close_block()

    def _close_block(self) -> None:
        try:
            insist(self.close)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            current().diagnostics.failure(Problem.RUN, f"run {self.id!r}", "it could not be closed")

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _observe(self, record: HandoffRecord, assessment: Assessment) -> None:
        self._look()
        keeper = self._keeper
        if keeper is None or self._ending:
            self._late += 1
        elif keeper.observations.lines >= keeper.observations.most:
            self._beyond += 1
        else:
            self._count(lambda: keeper.keep(keeper.observations.line_of(record, assessment)))

    def _count(self, do: Callable[[], bool]) -> None:
        try:
            self._try(do)
        except Exception as error:  # noqa: BLE001 - whoever is observed last hears of it
            raise_if_delivered(error)
            self._troubles.append(error)

    def _try(self, do: Callable[[], bool]) -> None:
        try:
            if not do():
                self._late += 1
        except BaseException:
            self._uncounted += 1
            raise

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Hold the lock, and end the run where its deadline is over."""
        catch_up()
        with self._turns.lock:
            self._look()
            yield
        self._turns.settle()
        self._say()

    def _say(self) -> None:
        """Log what is to be said; nobody waits for a handler of logs while they hold the lock."""
        if self._turns.is_taken_here:
            return
        self._report_changes()
        if self._ended is not None and next(self._said) == 0:
            # Its sentence alone: handlers that export arguments would list the records.
            _logger.info("%s", str(self._ended[0]))

    def _look(self) -> None:
        """End the run where its deadline is over. There is no thread that waits for it: whoever looks first does."""
        if self._ended is None and self._deadline is not None and self._clock() >= self._deadline:
            self._end()

    def _end(self) -> LiveReport:
        """End the run, also in a signal handler in the middle of an observation, or of this."""
        keeper = self._keeper
        if keeper is not None:
            self._count(keeper.finish)
            self._turns.catch_up()
            self._ending = True
            incomplete = self._shortcomings()
            report = LiveReport(
                run_id=self.id,
                run=keeper.observations.report(self._inputs()),
                entries=tuple(sorted(keeper.observations.entries)),
                incomplete=incomplete,
            )
            standing = keeper.observations.standing(self.id, started=self._started)
            self._ends.setdefault("end", (report, standing))
            self._keeper = None
            insist(partial(self._let_go, keeper, standing))
        return self._ends["end"][0]

    def _let_go(self, keeper: Keeper, standing: Standing) -> None:
        keeper.close()
        RUNS.remove(self, standing)

    @property
    def _ended(self) -> tuple[LiveReport, Standing] | None:
        return self._ends.get("end")

    def _shortcomings(self) -> tuple[str, ...]:
        found = list(self._incomplete)
        if self._journal is not None:
            with suppress_own(OSError):
                self._journal.look()
            found.extend(self._journal.changes)
            if self._journal.lost:
                found.append(f"observations that could not be written to the journal: {self._journal.lost:,}")
        if self._beyond:
            found.append(f"handoffs not counted, beyond the most that a run may hold: {self._beyond:,}")
        if self._uncounted:
            found.append(f"handoffs that could not be counted: {self._uncounted:,}")
        return tuple(found)

    def _inputs(self) -> tuple[Input, ...]:
        """Return the journal as a report names it, where it holds every observation of the run."""
        journal = self._journal
        if journal is None or journal.lost or journal.changes:
            return ()
        with suppress_own(OSError):
            return (input_of(journal.path, journal.digest()),)
        return ()

    def _report_changes(self) -> None:
        """Report what others did to the journal, once each."""
        for change in () if self._journal is None else self._journal.changes:
            if change not in self._reported:
                self._reported.add(change)
                current().diagnostics.failure(Problem.RUN, f"run {self.id!r}", change)
