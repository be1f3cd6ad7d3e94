"""Reads record files in Parquet: only the columns that are needed, whole columns at once if their rows are plain."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped] # it ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # it ships no types

from rop_otel.core.profile.accounts import Input, Malformed
from rop_otel.core.profile.declaration import Declaration, Opened
from rop_otel.core.profile.fieldpath import ABSENT, FieldPath
from rop_otel.core.profile.intake import Intake
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.plain_rows import Row
from rop_otel.errors import InputError
from rop_otel.evaluation.column_intake import ColumnIntake
from rop_otel.evaluation.column_ranking import ColumnRanking, Columns
from rop_otel.evaluation.inputs import input_of
from rop_otel.evaluation.record_blocks import CHANGED
from rop_otel.evaluation.string_arrays import PAD, Flags, Ints, Texts
from rop_otel.safety.digested_files import digest_of

_ROWS: Final = 16384
"""Rows of a batch."""

_AT_ONCE: Final = 512
"""Rows that are made into Python's values at once."""


class ParquetReader:
    """Takes in the rows of Parquet files.

    Args:
        opened: The declaration, valid or not.
        intake: Where the rows go.
        counts: Counts the rows.
        fast: False asks the checks about every row.
    """

    def __init__(self, opened: Opened, intake: Intake, counts: RunCounts, *, fast: bool) -> None:
        self._intake, trace_field = intake, counts.trace_field
        self._record_field = opened.record_field
        declaration = opened.declaration
        self._declaration = declaration
        self._paths = _paths(opened) + ([] if trace_field is None else [trace_field])
        self._trace_field, self._columnar = trace_field, None
        self._plain = fast and declaration is not None and declaration.witness is None
        if self._plain and declaration is not None and trace_field is None:
            ranking = ColumnRanking(declaration)
            depth = counts.terms.depth or 0
            self._columnar = ColumnIntake(intake, ranking, depth=depth) if ranking.fits else None

    def read(self, file: str, *, progress: Callable[[int], None] | None, checked: Callable[[int], None]) -> Input:
        """Take in a file, and return the report's entry of it.

        Args:
            file: Its name.
            progress: Called with the bytes of the file that have been read since the last call.
            checked: Called with the number of rows so far after each batch; may raise.

        Raises:
            InputError: The file is no Parquet, is damaged, or changes while it is read.
        """
        with _parquet_errors(file), _unchanged(file), pq.ParquetFile(file, memory_map=False) as source:
            rows, total = 0, max(source.metadata.num_rows, 1)
            size = os.path.getsize(file)
            for batch in _batches(source, self._paths):
                self._batch(batch, file, rows + 1)
                rows += batch.num_rows
                checked(rows)
                if progress is not None:
                    progress(size * batch.num_rows // total)
            return input_of(file, digest_of(file))

    def _batch(self, batch: Any, file: str, line: int) -> None:
        left: Sequence[int] = range(batch.num_rows)
        fields = self._fields(batch) if self._plain else None
        if fields is not None and self._columnar is not None:
            columns, ids, plain = _columns(fields)
            lines = np.arange(line, line + len(ids))
            left = np.flatnonzero(~self._columnar.take(columns, ids, plain, file=file, lines=lines)).tolist()
        elif fields is not None:
            left = self._intake.rows(_plain_rows(batch, fields, self._trace_field), file=file, line=line)
        self._rows(batch, left, file, line)

    def _rows(self, batch: Any, places: Sequence[int], file: str, line: int) -> None:
        for place, record in _records(batch, places):
            if isinstance(record, UnicodeDecodeError):
                self._intake.refuse(Malformed(file=file, line=line + place, reason=f"invalid UTF-8: {record.reason}"))
            else:
                self._intake.record(record, file=file, line=line + place)

    def _fields(self, batch: Any) -> _Fields | None:
        """Return the columns that a declaration reads where none of them holds a null or anything odd."""
        declaration: Declaration | None = self._declaration
        trace = self._trace_field
        if declaration is None or (trace is not None and batch.schema.names.count(trace.head[0]) > 1):
            return None
        record_ids = _text(_column(batch, self._record_field.head)) if not self._record_field.tail else None
        field = declaration.selection_field
        selections = _text(_column(batch, field.head)) if not field.tail else None
        lists = _column(batch, declaration.output_field.head)
        if record_ids is None or selections is None or lists is None or not _is_list(lists):
            return None
        offsets = lists.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        returned = _inner(lists.values, declaration.output_field.tail)
        returned = None if returned is None else _text(returned.slice(offsets[0], offsets[-1] - offsets[0]))
        return None if returned is None else _Fields(record_ids, selections, returned, offsets - offsets[0])


class _Fields(NamedTuple):
    """Columns of strings, without nulls and in UTF-8.

    Args:
        record_ids: One each.
        selections: Likewise.
        returned: Every returned ID, one record's after the other's.
        offsets: Where each record's begin, and where the last one's end.
    """

    record_ids: Any
    selections: Any
    returned: Any
    offsets: Ints


def _columns(fields: _Fields) -> tuple[Columns, list[str], Flags]:
    selections, returned = _laid_out(fields.selections), _laid_out(fields.returned)
    columns = Columns(selections=selections, returned=returned, offsets=fields.offsets)
    return columns, fields.record_ids.to_pylist(), _laid_out(fields.record_ids).lengths > 0


def _plain_rows(batch: Any, fields: _Fields, trace: FieldPath | None) -> Iterator[Row | None]:
    """Yield rows; None where the judged objects are no UTF-8."""
    ids = fields.returned.to_pylist()
    returned = (ids[start:end] for start, end in pairwise(fields.offsets.tolist()))
    record_ids, selections = fields.record_ids.to_pylist(), fields.selections.to_pylist()
    for row in zip(record_ids, selections, returned, _traced(batch, trace), strict=True):
        yield None if isinstance(row[-1], UnicodeDecodeError) else row


def _traced(part: Any, trace: FieldPath | None) -> list[object]:
    """Return the values of the field of judged objects, one for each row."""
    if trace is None or trace.head[0] not in part.schema.names:
        return [ABSENT] * part.num_rows
    only = part.select([trace.head[0]])
    return [
        record if isinstance(record, UnicodeDecodeError) else trace.read(record)
        for _, record in _records(only, range(only.num_rows))
    ]


def parquet_records(file: str, opened: Opened) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every row's number and record, as far as a declaration reads it; a row of invalid UTF-8 is left out.

    Args:
        file: Its name.
        opened: The declaration, valid or not.

    Raises:
        InputError: The file is no Parquet, or is damaged.
    """
    with _parquet_errors(file), pq.ParquetFile(file) as source:
        rows = 0
        for batch in _batches(source, _paths(opened)):
            for place in range(batch.num_rows):
                record = _record(batch, place)
                if not isinstance(record, UnicodeDecodeError):
                    yield rows + place + 1, record
            rows += batch.num_rows


@contextmanager
def _unchanged(file: str) -> Iterator[None]:
    before = os.stat(file)
    yield
    after = os.stat(file)
    if any(getattr(before, what) != getattr(after, what) for what in ("st_ino", "st_size", "st_mtime_ns")):
        raise InputError(CHANGED, file=file)


@contextmanager
def _parquet_errors(file: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be read as Parquet: {error}", file=file) from None


def _paths(opened: Opened) -> list[FieldPath]:
    declaration, paths = opened.declaration, [opened.record_field]
    if declaration is not None:
        paths += [declaration.selection_field, declaration.output_field]
        paths += [] if declaration.witness is None else [declaration.witness.hash_field]
        paths += [] if declaration.trace_field is None else [declaration.trace_field]
    return paths


def _batches(source: Any, paths: Sequence[FieldPath]) -> Iterator[Any]:
    # Parquet's own names of nested columns vary by writer, so whole top-level columns are asked for.
    there = set(source.schema_arrow.names)
    columns = list(dict.fromkeys(path.head[0] for path in paths if path.head[0] in there))
    if not columns:
        for group in range(source.num_row_groups):
            rows = source.metadata.row_group(group).num_rows
            yield pa.RecordBatch.from_pylist([{}] * rows, schema=pa.schema([("", pa.null())]))
        return
    for batch in source.iter_batches(batch_size=_ROWS, columns=columns, use_threads=False):
        kinds = [_timeless(kind) for kind in batch.schema.types]
        if kinds != batch.schema.types:
            plain = [array.cast(kind) for array, kind in zip(batch.columns, kinds, strict=True)]
            batch = pa.RecordBatch.from_arrays(plain, names=batch.schema.names)
        yield batch


def _timeless(kind: Any) -> Any:
    """Return a type with numbers for dates and times: Python has no room for some, and none of them is an ID."""
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return pa.int32() if kind.bit_width == pa.int32().bit_width else pa.int64()
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return pa.struct([field.with_type(_timeless(field.type)) for field in fields])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_timeless(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_timeless(kind.value_type)))
    return kind


def _records(batch: Any, places: Sequence[int]) -> Iterator[tuple[int, dict[str, Any] | UnicodeDecodeError]]:
    """Yield rows with their places, many at once where all are asked for and their strings are UTF-8."""
    if len(places) < batch.num_rows:
        yield from ((place, _record(batch, place)) for place in places)
        return
    for first in range(0, batch.num_rows, _AT_ONCE):
        part = batch.slice(first, _AT_ONCE)
        try:
            records = part.to_pylist()
        except UnicodeDecodeError:
            records = [_record(part, place) for place in range(part.num_rows)]
        yield from enumerate(records, first)


def _record(batch: Any, place: int) -> dict[str, Any] | UnicodeDecodeError:
    try:
        (record,) = batch.slice(place, 1).to_pylist()
    except UnicodeDecodeError as error:
        return error
    return record  # type: ignore[no-any-return] # pyarrow ships no types


def _column(batch: Any, names: tuple[str, ...]) -> Any:
    if batch.schema.names.count(names[0]) != 1:
        return None
    return _inner(batch.column(names[0]), names[1:])


def _inner(array: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        if not pa.types.is_struct(array.type) or array.null_count or array.type.get_field_index(name) < 0:
            return None
        array = array.field(name) if array.offset == 0 else array.flatten()[array.type.get_field_index(name)]
    return array


def _is_list(array: Any) -> bool:
    return (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)) and not array.null_count


def _text(array: Any) -> Any:
    """Return a column as strings, None where it holds a null, anything else, or invalid UTF-8."""
    if array is None or array.null_count:
        return None
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return None
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return array


def _laid_out(array: Any) -> Texts:
    kind = np.int64 if pa.types.is_large_string(array.type) else np.int32
    _, offsets, data = array.buffers()
    if not len(array) or data is None:
        none: Ints = np.full(len(array), PAD, dtype=np.int64)
        return Texts(np.zeros(PAD, dtype=np.uint8), none, none)
    places = np.frombuffer(offsets, dtype=kind)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    held = np.empty(PAD + places[-1] - places[0], dtype=np.uint8)
    held[:PAD] = 0
    held[PAD:] = np.frombuffer(data, dtype=np.uint8)[places[0] : places[-1]]
    places += PAD - places[0]
    return Texts(held, places[:-1], places[1:])
