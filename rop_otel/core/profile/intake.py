"""The intake of a run: blocks of record lines in, verdicts counted, each record handed on to whoever keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rop_otel.core.profile.accounts import Malformed
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.fastlane import FastLane, Row
from rop_otel.core.profile.fieldpath import ABSENT, FieldPath
from rop_otel.core.profile.judge import fail_reason, judge, pass_reason
from rop_otel.core.profile.observation import Judgment, Observation, observe
from rop_otel.core.profile.ranking import Ranking
from rop_otel.core.profile.records import RecordError, parse_record, unusable_id
from rop_otel.core.profile.tally import Tally
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


class Intake:
    """Takes in the lines of record files.

    Args:
        opened: The declaration, valid or not.
        tally: What the records are counted in.
        trace_field: Where a record carries the traced key or keys, if they are compared.
        keep: Called with each record; None where only the counts are wanted.
        fast: False reads every line by itself and asks the checks about each: slower, and the same.
    """

    def __init__(
        self,
        opened: Opened,
        tally: Tally,
        *,
        trace_field: FieldPath | None = None,
        keep: Callable[[Entry], None] | None = None,
        fast: bool = True,
    ) -> None:
        self._record_field = opened.record_field
        self._declaration = opened.declaration
        self._tally = tally
        self._trace_field = trace_field
        self._keep = keep
        self._lane: FastLane | None = None
        self._ranking: Ranking | None = None
        self._outside: str | None = None
        if fast and trace_field is None and opened.declaration is not None:
            self._lane = FastLane.compile(opened.declaration, opened.record_field)
            self._ranking = Ranking(opened.declaration) if self._lane else None
            if opened.declaration.mode != "hard":
                self._outside = judge(Observation(record_id="any"), opened.declaration).reason

    def block(self, block: bytes, *, file: str, line: int) -> int:
        """Take in whole lines.

        Args:
            block: Lines that each end with LF; the last of a file may lack it.
            file: Where they stand, as it was named.
            line: 1-based number of the first.

        Returns:
            How many lines there were.
        """
        rows = self._lane.rows(block) if self._lane is not None else None
        if rows is not None:
            self._take(rows, file, line)
            return len(rows)
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, text in enumerate(lines, line):
            row = self._lane.row(text) if self._lane is not None else None
            if row is not None:
                self._take([row], file, number)
            else:
                self._line(text, file, number)
        return len(lines)

    def observation(self, observation: Observation, *, trace: object = ABSENT, file: str, line: int) -> Judgment:
        """Take in one observation, whatever door it came through.

        Args:
            observation: What the record holds.
            trace: The traced key or keys, where they are compared.
            file: Where it stands.
            line: 1-based line or row.
        """
        judgment = self._tally.observe(observation, trace=trace)
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
                )
            )
        return judgment

    def _line(self, text: bytes, file: str, number: int) -> None:
        try:
            record_id, record = parse_record(text, self._record_field)
        except RecordError as error:
            self._tally.refuse(Malformed(file=file, line=number, reason=str(error)))
            return
        trace = ABSENT if self._trace_field is None else self._trace_field.read(record)
        if self._declaration is None:
            observation = Observation(record_id=record_id)
        else:
            observation = observe(record, record_id, self._declaration)
        self.observation(observation, trace=trace, file=file, line=number)

    def _take(self, rows: Sequence[Row], file: str, line: int) -> None:
        if self._ranking is None:
            raise ValueError("rows are for a valid declaration")
        ranking, keep = self._ranking, self._keep
        placed: list[str] = []
        ranks: list[int] = []
        for number, (record_id, selection, ids) in enumerate(rows, line):
            rank = ranking.rank(selection, ids) if record_id and type(selection) is str else None
            if rank is None:
                self._unusual((record_id, selection, ids), file, number)
                continue
            placed.append(record_id)
            ranks.append(rank)
            if keep is not None:
                keep(self._entry(record_id, ids, rank, file=file, line=number))
        self._tally.add_judged(ranks)
        self._tally.place_all(placed)

    def _unusual(self, row: Row, file: str, line: int) -> None:
        record_id, selection, ids = row
        if record_id:
            observation = Observation(record_id=record_id, selection=selection, returned=ids)
            self.observation(observation, file=file, line=line)
        else:
            self._tally.refuse(Malformed(file=file, line=line, reason=str(unusable_id(record_id, self._record_field))))

    def _entry(self, record_id: str, ids: Sequence[str], rank: int, *, file: str, line: int) -> Entry:
        outside, ranking = self._outside, self._ranking
        if outside is not None or ranking is None:
            return Entry(record_id, file, line, Verdict.NOT_APPLICABLE, None, None, outside or "")
        object_id = ranking.object_id(ids, rank)
        if 0 < rank <= ranking.cutoff:
            reason = pass_reason(rank, object_id, cutoff=ranking.cutoff)
            return Entry(record_id, file, line, Verdict.PASS, rank, object_id, reason)
        reason = fail_reason(rank or None, object_id, cutoff=ranking.cutoff, length=len(ids))
        return Entry(record_id, file, line, Verdict.FAIL, rank or None, object_id, reason)
