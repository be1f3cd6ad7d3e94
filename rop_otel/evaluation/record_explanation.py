"""One record of a run, found in its files and explained."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.explaining import Explanation, explain
from rop_otel.core.profile.observation import Observation, observe
from rop_otel.core.profile.records import RecordError, parse_record
from rop_otel.evaluation.limits import DEFAULT_LIMITS, Limits
from rop_otel.evaluation.record_blocks import expand, is_parquet, need_pyarrow, read_numbered_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One observation of the record.

    Args:
        file: Where it stands.
        line: 1-based.
        explanation: Why it got its verdict.
    """

    file: str
    line: int
    explanation: Explanation


def explain_record(
    opened: Opened, files: Sequence[str], record_id: str, *, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Found]:
    """Yield every observation of a record, explained.

    Args:
        opened: The declaration, valid or not.
        files: Names of record files or patterns.
        record_id: The record.
        limits: Bounds on memory.

    Raises:
        InputError: A file cannot be read.
    """
    for file in expand(files):
        for line, record in _records(file, opened, record_id, limits):
            declaration = opened.declaration
            empty = Observation(record_id=record_id)
            trace = None if declaration is None else declaration.trace_field
            observation = empty if declaration is None else observe(record, record_id, declaration, trace_field=trace)
            yield Found(file=file, line=line, explanation=explain(observation, declaration))


def _records(file: str, opened: Opened, record_id: str, limits: Limits) -> Iterator[tuple[int, object]]:
    if is_parquet(file):
        need_pyarrow(file)
        from rop_otel.evaluation.parquet import parquet_records  # an extra, imported where it is used

        for row, record in parquet_records(file, opened):
            if opened.record_field.read(record) == record_id:
                yield row, record
        return
    spelled = json.dumps(record_id, ensure_ascii=False).encode(errors="surrogatepass")
    for line, text in read_numbered_lines(file, limits=limits):
        if spelled not in text and b"\\" not in text:
            continue
        try:
            found, record = parse_record(text, opened.record_field)
        except RecordError:
            continue
        if found == record_id:
            yield line, record
