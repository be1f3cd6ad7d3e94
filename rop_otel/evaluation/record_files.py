"""Record files assessed against a declaration: the run report of ROP v1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.fieldpath import FieldPath
from rop_otel.core.profile.intake import Entry, Intake
from rop_otel.core.profile.report import RunReport, run_report
from rop_otel.core.profile.tally import Tally
from rop_otel.errors import ConfigurationError, InputError
from rop_otel.evaluation.collection_pause import collection_paused
from rop_otel.evaluation.limits import DEFAULT_LIMITS, Limits
from rop_otel.evaluation.record_blocks import expand, is_large, is_parquet, need_pyarrow, read_blocks

if TYPE_CHECKING:
    from rop_otel.evaluation.line_columns import LineColumns
    from rop_otel.evaluation.parquet import ParquetReader

_WORTH_COLUMNS: Final = 8 * 1024 * 1024
"""Bytes of a file from which on it is worth laying the whole resolver out in columns."""

CUTOFFS: Final = (1, 3, 5, 10, 20)
"""Where the diagnostics give membership, beside the declared cutoff."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """How a run is evaluated, beyond what its declaration says; none of it decides a verdict.

    Args:
        cutoffs: Where the diagnostics give membership.
        trace_field: Path of the traced key or keys that the same ranking is compared on.
        limits: Bounds on memory.
        fast: False asks the checks about every record; slower, and the same.
    """

    cutoffs: tuple[int, ...] = CUTOFFS
    trace_field: str | None = None
    limits: Limits = DEFAULT_LIMITS
    fast: bool = True

    def cutoffs_of(self, opened: Opened) -> tuple[int, ...]:
        """Return the cutoffs of the diagnostics, the declared one among them."""
        declared = () if opened.declaration is None else (opened.declaration.cutoff,)
        return tuple(sorted({*self.cutoffs, *declared}))


def evaluate_files(
    opened: Opened,
    files: Sequence[str],
    *,
    options: EvaluationOptions | None = None,
    keep: Callable[[Entry], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tally:
    """Take in record files.

    Args:
        opened: The declaration, valid or not.
        files: Names of record files or patterns; ``-`` is standard input.
        options: What is wanted beside the verdicts.
        keep: Called with each record; None where only the counts are wanted.
        progress: Called with the bytes that have been read since the last call.

    Raises:
        InputError: A file cannot be read, is cut short or past a limit.
        ConfigurationError: The trace field is no path.
    """
    options = options or EvaluationOptions()
    trace_field = None if options.trace_field is None else _path(options.trace_field)
    tally = Tally(opened, cutoffs=options.cutoffs_of(opened) if trace_field is not None else ())
    intake = Intake(opened, tally, trace_field=trace_field, keep=keep, fast=options.fast)
    columns: Intake | LineColumns = intake
    rows: ParquetReader | None = None
    with collection_paused():
        for file in expand(files):
            checked = partial(_check_anomalies, tally, options.limits, file)
            if is_parquet(file):
                rows = rows or _parquet_reader(opened, intake, trace_field, options, file)
                rows.read(file, progress=progress, checked=checked)
                continue
            if columns is intake and is_large(file, _WORTH_COLUMNS):
                columns = _lines_reader(opened, intake, options)
            reader = columns if is_large(file, _WORTH_COLUMNS) else intake
            line = 1
            for block in read_blocks(file, limits=options.limits, progress=progress):
                line += reader.block(block, file=file, line=line)
                checked(line)
    return tally


def _lines_reader(opened: Opened, intake: Intake, options: EvaluationOptions) -> Intake | LineColumns:
    if not options.fast or options.trace_field is not None:
        return intake
    try:
        from rop_otel.evaluation.line_columns import LineColumns  # needs numpy, which comes with extras
    except ImportError:
        return intake
    return LineColumns.compile(opened, intake) or intake


def _parquet_reader(
    opened: Opened, intake: Intake, trace_field: FieldPath | None, options: EvaluationOptions, file: str
) -> ParquetReader:
    need_pyarrow(file)
    from rop_otel.evaluation.parquet import ParquetReader  # an extra, imported where it is used

    return ParquetReader(opened, intake, trace_field=trace_field, fast=options.fast)


def report_of(opened: Opened, tally: Tally, *, options: EvaluationOptions | None = None) -> RunReport:
    """Return the report of what a tally holds."""
    return run_report(opened, tally.accounts(), cutoffs=(options or EvaluationOptions()).cutoffs_of(opened))


def _check_anomalies(tally: Tally, limits: Limits, file: str, line: int) -> None:
    found = len(tally.malformed) + len(tally.unexpected)
    if found > limits.max_anomalies:
        why = (
            f"more than {limits.max_anomalies:,} malformed observations and unexpected record IDs up to here; "
            "raise --max-anomalies to list them all"
        )
        raise InputError(why, file=file, line=line)


def _path(text: str) -> FieldPath:
    try:
        return FieldPath.parse(text)
    except ValueError as error:
        raise ConfigurationError(f"the trace field: {error}") from None
