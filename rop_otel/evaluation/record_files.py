"""Assesses record files against a declaration, and gives the run report of ROP v1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Entry, Intake
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.report import RunReport, run_report
from rop_otel.core.profile.report_terms import Terms
from rop_otel.errors import InputError
from rop_otel.evaluation.collection_pause import collection_paused
from rop_otel.evaluation.inputs import input_of
from rop_otel.evaluation.limits import DEFAULT_LIMITS, Limits
from rop_otel.evaluation.record_blocks import expand, is_large, is_parquet, need_pyarrow, read_blocks
from rop_otel.safety.digested_files import Digest

if TYPE_CHECKING:
    from rop_otel.evaluation.line_columns import LineColumns
    from rop_otel.evaluation.parquet import ParquetReader

_WORTH_COLUMNS: Final = 8 * 1024 * 1024
"""Bytes of a file from which on it is worth laying the whole resolver out in columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """Options of an evaluation, beside its declaration; none of them changes a verdict.

    Args:
        at: Cutoffs at which failures and joint outcomes are counted, beside the declared one.
        trace: Path of the judged objects, if the sheet has none.
        depth: How deep every list was stored, if the sheet does not say.
        near: The last rank past a cutoff that counts as near; None: every one does.
        limits: Bounds on memory.
        fast: False asks the checks about every record; slower, and the same.
    """

    at: tuple[int, ...] = ()
    trace: str | None = None
    depth: int | None = None
    near: int | None = None
    limits: Limits = DEFAULT_LIMITS
    fast: bool = True

    def terms_of(self, opened: Opened) -> Terms:
        """Return the terms of the report.

        Raises:
            ConfigurationError: The declaration does not allow an option.
        """
        return Terms.of(opened, at=self.at, trace=self.trace, depth=self.depth, near=self.near)


def evaluate_files(
    opened: Opened,
    files: Sequence[str],
    *,
    options: EvaluationOptions | None = None,
    keep: Callable[[Entry], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> RunCounts:
    """Take in record files.

    Args:
        opened: The declaration, valid or not.
        files: Names of record files or patterns; ``-`` is standard input.
        options: The options of the evaluation.
        keep: Called with each record; None where only the counts are wanted.
        progress: Called with the bytes that have been read since the last call.

    Raises:
        InputError: A file cannot be read, is cut short or past a limit.
        ConfigurationError: An option is malformed, or the declaration does not allow it.
    """
    options = options or EvaluationOptions()
    counts = RunCounts(opened, terms=options.terms_of(opened))
    intake = Intake(opened, counts, keep=keep, fast=options.fast)
    columns: Intake | LineColumns = intake
    rows: ParquetReader | None = None
    with collection_paused():
        for file in expand(files):
            checked = partial(_check_anomalies, counts, options.limits, file)
            if is_parquet(file):
                rows = rows or _parquet_reader(opened, intake, counts, options, file)
                counts.inputs.append(rows.read(file, progress=progress, checked=checked))
                continue
            if columns is intake and is_large(file, _WORTH_COLUMNS):
                columns = _lines_reader(opened, intake, counts, options)
            reader = columns if is_large(file, _WORTH_COLUMNS) else intake
            line, digest = 1, Digest()
            for block in read_blocks(file, limits=options.limits, progress=progress, digest=digest):
                line += reader.block(block, file=file, line=line)
                checked(line)
            counts.inputs.append(input_of(file, digest))
    return counts


def _lines_reader(
    opened: Opened, intake: Intake, counts: RunCounts, options: EvaluationOptions
) -> Intake | LineColumns:
    if not options.fast:
        return intake
    try:
        from rop_otel.evaluation.line_columns import LineColumns  # needs numpy, which comes with extras
    except ImportError:
        return intake
    return LineColumns.compile(opened, intake, counts) or intake


def _parquet_reader(
    opened: Opened, intake: Intake, counts: RunCounts, options: EvaluationOptions, file: str
) -> ParquetReader:
    need_pyarrow(file)
    from rop_otel.evaluation.parquet import ParquetReader  # an extra, imported where it is used

    return ParquetReader(opened, intake, counts, fast=options.fast)


def report_of(opened: Opened, counts: RunCounts) -> RunReport:
    """Return the report of a run from its counts."""
    return run_report(opened, counts.accounts(), terms=counts.terms)


def _check_anomalies(counts: RunCounts, limits: Limits, file: str, line: int) -> None:
    found = len(counts.malformed) + len(counts.unexpected)
    if found > limits.max_anomalies:
        why = (
            f"more than {limits.max_anomalies:,} malformed observations and unexpected record IDs up to here; "
            "raise --max-anomalies to list them all"
        )
        raise InputError(why, file=file, line=line)
