"""The intake of a run: takes blocks of record lines, counts the verdicts, and hands on each record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from rop_otel.core.profile.accounts import Malformed
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.fast_records import FastRecords, is_utf8
from rop_otel.core.profile.joint import Compared
from rop_otel.core.profile.judge import fail_reason, judge, pass_reason
from rop_otel.core.profile.observation import Judgment, Observation, observe
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.plain_rows import PlainRows, Row
from rop_otel.core.profile.records import RecordError, parse_record, record_id_of
from rop_otel.core.profile.verdicts import Verdict


class Entry(NamedTuple):
    """One record of a report, in the report's order.

    ``file`` and ``line`` order the records of one ID; the report leaves them out.
    """

    record_id: str
    file: str
    line: int
    verdict: str
    rank: int | None
    object_id: str | None
    reason: str
    agreement: str | None = None
    trace_rank: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract."""
        return {
            "record_id": self.record_id,
            "verdict": str(self.verdict),
            "rank": self.rank,
            "object_id": self.object_id,
            "agreement": self.agreement,
            "trace_rank": self.trace_rank,
            "reason": self.reason,
        }


class Ranked(NamedTuple):
    """What the report says of a record of a valid declaration whose membership was worked out apart from the checks."""

    record_id: str
    line: int
    rank: int
    object_id: str | None
    length: int
    compared: Compared | None = None


class Intake:
    """Takes in the lines of record files.

    Args:
        opened: The declaration, valid or not.
        counts: What the records are counted in, and the terms that they are measured at.
        keep: Called with each record; None where only the counts are wanted.
        fast: False reads every line by itself and asks the checks about each: slower, and the same.
    """

    def __init__(
        self,
        opened: Opened,
        counts: RunCounts,
        *,
        keep: Callable[[Entry], None] | None = None,
        fast: bool = True,
    ) -> None:
        self._record_field = opened.record_field
        self._declaration = opened.declaration
        self._counts = counts
        self._keep = keep
        self._outside: str | None = None
        self._fast = fast
        if opened.declaration is not None and opened.declaration.mode != "hard":
            self._outside = judge(Observation(record_id="any"), opened.declaration).reason

    @cached_property
    def _fast_records(self) -> FastRecords | None:
        declaration = self._declaration
        if declaration is None or not self._fast:
            return None
        return FastRecords.compile(declaration, self._record_field, trace=self._counts.trace_field)

    @cached_property
    def _plain_rows(self) -> PlainRows | None:
        return None if self._declaration is None else PlainRows(self._declaration, self._counts)

    def block(self, block: bytes, *, file: str, line: int) -> int:
        """Take in whole lines.

        Args:
            block: Lines that each end with LF; the last of a file may lack it.
            file: Where they stand, as it was named.
            line: 1-based number of the first.

        Returns:
            How many lines there were.
        """
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        left: Iterable[int] = range(len(lines))
        if self._fast_records is not None and is_utf8(block):
            left = self.rows(self._fast_records.rows(lines), file=file, line=line)
        for place in left:
            self.line(lines[place], file=file, line=line + place)
        return len(lines)

    def rows(self, rows: Iterable[Row | None], *, file: str, line: int) -> Sequence[int]:
        """Take in the plain ones of rows of a valid declaration without a witness.

        Args:
            rows: None stands for a record that is not plain.
            file: Where they stand.
            line: 1-based number of the first.

        Returns:
            The places of those that were left over.
        """
        plain = self._plain_rows
        if plain is None:
            raise ValueError("an invalid declaration assesses no record")
        taken = plain.take(rows, None if self._keep is None else partial(self._keep_taken, plain, file, line))
        self._counts.add_judged(taken.ranks, nonmatch=len(taken.short), compared=taken.compared)
        self._counts.place(*taken.record_ids)
        return taken.left

    def observation(self, observation: Observation, *, file: str, line: int) -> Judgment:
        """Take in one observation, whatever door it came through.

        Args:
            observation: What the record holds.
            file: Where it stands.
            line: 1-based line or row.
        """
        judgment = self._counts.observe(observation)
        if self._keep is not None:
            self._keep(
                Entry(
                    record_id=observation.record_id,
                    file=file,
                    line=line,
                    verdict=str(judgment.verdict),
                    rank=judgment.rank,
                    object_id=judgment.object_id,
                    reason=judgment.reason,
                    agreement=judgment.agreement,
                    trace_rank=judgment.trace_rank,
                )
            )
        return judgment

    def line(self, text: bytes, *, file: str, line: int) -> None:
        """Take in one line by asking the checks.

        Args:
            text: Without its LF.
            file: Where it stands.
            line: 1-based.
        """
        try:
            record_id, record = parse_record(text, self._record_field)
        except RecordError as error:
            self.refuse(Malformed(file=file, line=line, reason=str(error)))
            return
        self._observe(record_id, record, file, line)

    def record(self, record: object, *, file: str, line: int) -> None:
        """Take in one record that was parsed elsewhere.

        Args:
            record: As JSON would give it.
            file: Where it stands.
            line: 1-based line or row.
        """
        try:
            record_id = record_id_of(record, self._record_field)
        except RecordError as error:
            self.refuse(Malformed(file=file, line=line, reason=str(error)))
            return
        self._observe(record_id, record, file, line)

    def refuse(self, malformed: Malformed) -> None:
        """Count a line that is no observation."""
        self._counts.refuse(malformed)

    def ranked(
        self,
        record_ids: Sequence[str],
        ranks: Sequence[int],
        *,
        nonmatch: int = 0,
        compared: Sequence[Compared] = (),
        file: str,
        kept: Iterable[Ranked],
    ) -> None:
        """Take in records of a valid declaration whose membership was worked out apart from the checks.

        Args:
            record_ids: Theirs, none empty.
            ranks: One each; 0 where the rule holds on no prefix.
            nonmatch: How many of those with 0 have a list that is shorter than the stored depth; 0 without a depth.
            compared: How each compares, where there is a trace set.
            file: Where they stand.
            kept: The same with what a report needs; looked at only where records are kept.
        """
        self._counts.add_judged(ranks, nonmatch=nonmatch, compared=compared)
        self._counts.place(*record_ids)
        if self._keep is not None:
            for each in kept:
                self._keep_ranked(file, each)

    def _observe(self, record_id: str, record: object, file: str, number: int) -> None:
        if self._declaration is None:
            observation = Observation(record_id=record_id)
        else:
            observation = observe(record, record_id, self._declaration, trace_field=self._counts.trace_field)
        self.observation(observation, file=file, line=number)

    def _keep_taken(
        self,
        plain: PlainRows,
        file: str,
        line: int,
        place: int,
        record_id: str,
        ids: Sequence[str],
        rank: int,
        compared: Compared | None,
    ) -> None:
        self._keep_ranked(file, Ranked(record_id, line + place, rank, plain.object_id(ids, rank), len(ids), compared))

    def _keep_ranked(self, file: str, it: Ranked) -> None:
        declaration, keep = self._declaration, self._keep
        if declaration is None or keep is None:
            return
        if self._outside is not None:
            keep(Entry(it.record_id, file, it.line, Verdict.NOT_APPLICABLE, None, None, self._outside))
            return
        rank = it.rank or None
        if 0 < it.rank <= declaration.cutoff:
            verdict, reason = Verdict.PASS, pass_reason(it.rank, it.object_id, cutoff=declaration.cutoff)
        else:
            verdict = Verdict.FAIL
            reason = fail_reason(rank, it.object_id, cutoff=declaration.cutoff, length=it.length)
        agreement, trace_rank = (None, None) if it.compared is None else (it.compared[0], it.compared[2] or None)
        keep(Entry(it.record_id, file, it.line, verdict, rank, it.object_id, reason, agreement, trace_rank))
