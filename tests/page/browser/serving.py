"""A monitor as users run it, and handoffs sent to it by OTLP over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rop_otel.core.handoff import HandoffRecord
from rop_otel.page import Carried
from rop_otel.page.recorded_spans import spans_of
from rop_otel.spans import Span
from rop_otel.spans.otlp_writer import request_of
from tests.monitor.served import Served, until
from tests.page.browser.cases import OTHER_NAME, SERVICES

GROUP = 40
"""Handoffs in one request."""

_HOUR_NS = 3_600_000_000_000


def today(records: Iterable[HandoffRecord]) -> list[HandoffRecord]:
    """Return records as applications of today send them: each handoff a trace of its own."""
    shift = time.time_ns() - _HOUR_NS
    return [_sent(record, shift - record.start_ns) for record in records]


def _sent(record: HandoffRecord, by: int) -> HandoffRecord:
    stages = tuple(
        replace(each, trace_id=record.trace_id, start_ns=each.start_ns + by, end_ns=(each.end_ns or 0) + by)
        for each in record.stages
    )
    return replace(record, stages=stages, start_ns=record.start_ns + by, end_ns=record.end_ns + by)


def send(served: Served, records: Sequence[HandoffRecord]) -> None:
    """Send handoffs, and wait until the monitor has settled them."""
    before = settled(served)
    for first in range(0, len(records), GROUP):
        spans = [span for record in records[first : first + GROUP] for span in _spans(record)]
        status, body, _ = served.ask(
            "/v1/traces", json.dumps(request_of(spans)).encode(), {"Content-Type": "application/json"}
        )
        assert status == 200, body
    until(lambda: settled(served) >= before + len(records))


def settled(served: Served) -> int:
    """Return how many handoffs a monitor keeps."""
    return int(served.get("/api/summary")["handoffs"])


def _spans(record: HandoffRecord) -> list[Span]:
    carried = Carried()
    service = SERVICES[record.name == OTHER_NAME]
    carried.add(Span(trace_id=record.trace_id, span_id=record.span_id, service=service))
    return list(spans_of(record, carried))


def of_run(records: Iterable[HandoffRecord], run_id: str, offset: int) -> list[HandoffRecord]:
    """Return the same records, as another run over them has them: with other IDs of handoffs, traces and spans."""
    made = []
    for number, record in enumerate(records, offset):
        trace_id = f"{number:032x}"
        made.append(replace(record, trace_id=trace_id, handoff_id=f"{trace_id}-{record.span_id}", run_id=run_id))
    return made
