"""What the monitor costs for each handoff: spans decoded, put together, assessed and committed, by one process.

Beside it: the same requests decoded from protobuf, and their IDs walked, which is what any receiver has to do.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from instrumented import by_hand, provider
from interleave import ROUNDS, microseconds, report
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from workload import steps

from rop_otel.meters.tally import Tally
from rop_otel.monitor.requests import received
from rop_otel.monitor.service import Monitor, MonitorSettings
from rop_otel.monitor.sqlite_store import SqliteStore

HANDOFFS = 20
"""Handoffs of one request, as a collector batches them."""

CALLS = 4
TARGETS = {"monitor_over_decoding": "<= 2.5"}


def main() -> None:
    """Measure and print."""
    requests = [_request() for _ in range(CALLS * ROUNDS + CALLS)]
    with tempfile.TemporaryDirectory() as folder:
        settings = MonitorSettings(quiet_seconds=0.0, retention_seconds=None)
        monitor = Monitor(SqliteStore(str(Path(folder) / "kept.db")), Tally(), settings=settings)
        times = microseconds(
            {
                "decoded, IDs walked": _each(requests, _walk),
                "decoded as spans": _each(requests, lambda request: received(request, is_json=False)),
                "whole monitor": _each(requests, lambda request: _monitor(monitor, request)),
            },
            calls=CALLS,
        )
        monitor.close()
    report(
        f"One handoff of ten spans, 100 documents at each stage, {HANDOFFS} in a request",
        {name: value / HANDOFFS for name, value in times.items()},
        {"monitor_over_decoding": times["whole monitor"] / times["decoded, IDs walked"]},
        TARGETS,
    )


def _request() -> bytes:
    """Return a request of several handoffs, as an application exports them."""
    exporter = InMemorySpanExporter()
    run = by_hand(steps(), provider(exporter).get_tracer("by hand"))
    for _ in range(HANDOFFS):
        run()
    return bytes(encode_spans(exporter.get_finished_spans()).SerializeToString())


def _each(requests: list[bytes], take: Callable[[bytes], object]) -> Callable[[], object]:
    """Return what takes the next request each time, so that no handoff comes twice."""
    following = cycle(requests)
    return lambda: take(next(following))


def _walk(request: bytes) -> int:
    found = 0
    for resource in ExportTraceServiceRequest.FromString(request).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                for pair in span.attributes:
                    if pair.value.WhichOneof("value") == "array_value":
                        found += len([value.string_value for value in pair.value.array_value.values])
    return found


def _monitor(monitor: Monitor, request: bytes) -> None:
    answer = monitor.submit(received(request, is_json=False).spans, size=len(request))
    monitor.work()
    answer.result(timeout=0)


if __name__ == "__main__":
    main()
