"""The kept handoffs as a Parquet file: one row each, a record that ``rop-otel evaluate`` reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped] # it ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # it ships no types

from rop_otel.core.handoff import HandoffRecord
from rop_otel.core.handoff.stage_graph import StageGraph
from rop_otel.core.handoff.written import as_list
from rop_otel.monitor.assessing import Assessor
from rop_otel.monitor.store import Store, Wanted
from rop_otel.monitor.stored import short
from rop_otel.spans.conventions import Rules

_ROWS: Final = 1000
_IDS: Final = pa.list_(pa.string())
_SCHEMA: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("handoff_id", "trace_id", "handoff_name", "service", "run_id", "verdict")),
        ("record_id", pa.string()),
        ("selected", _IDS),
        ("judged", _IDS),
        ("ids", _IDS),
    ]
)


def write_parquet(store: Store, file: Path, rules: Rules | None) -> None:
    """Write the kept handoffs, the one that was settled last first.

    Args:
        store: Keeps them.
        file: Written anew; without rows where there are none.
        rules: How spans of other conventions are read.

    Raises:
        OSError: It cannot be written.
    """
    with pq.ParquetWriter(file, _SCHEMA) as writer:
        for rows in _pages(store, Assessor(None, None, rules)):
            writer.write_table(pa.Table.from_pylist(rows, schema=_SCHEMA))


def _pages(store: Store, assessor: Assessor) -> Iterator[list[dict[str, Any]]]:
    after: str | None = None
    trace, records = "", dict[str, HandoffRecord]()
    while True:
        page = store.handoffs(Wanted(), limit=_ROWS, after=after)
        found = []
        for row in page.rows:
            trace_id = store.trace_of(row["handoff_id"])
            if trace_id is not None and trace_id != trace:
                trace = trace_id
                assembled = assessor.assembled(store.spans_of([trace], []))
                records = {short(record.handoff_id): record for record in assembled.handoffs}
            if trace_id is not None and row["handoff_id"] in records:
                found.append(_row(row, records[row["handoff_id"]]))
        yield found
        after = page.after
        if after is None:
            return


def _row(row: Any, record: HandoffRecord) -> dict[str, Any]:
    shown = StageGraph(record, None).shown
    return {
        **{name: row[name] for name in ("handoff_id", "trace_id", "handoff_name", "service", "run_id", "verdict")},
        "record_id": record.record_id,
        "selected": as_list(record.selected),
        "judged": as_list(record.judged),
        "ids": list(shown.known_ids) if shown.usable else None,
    }
