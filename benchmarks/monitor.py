"""What the monitor costs for each handoff: spans decoded, put together, assessed and committed, by one process.

Beside it: the same requests decoded from protobuf, and their IDs walked, which is what any receiver has to do.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from instrumented import by_hand, provider
from interleave import ROUNDS, microseconds, report
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from workload import steps

from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.meters.tally import Tally
from rop_otel.monitor.requests import received
from rop_otel.monitor.service import Monitor, MonitorSettings
from rop_otel.monitor.serving_monitor import collect_less
from rop_otel.monitor.sqlite_store import SqliteStore

HANDOFFS = 20
"""Handoffs of one request, as a collector batches them."""

CALLS = 4
TARGETS = {"monitor_over_decoding": "<= 2.5", "verdict_p99_seconds": "<= 1"}
QUIET = 0.5
"""How long a trace is quiet before its handoffs are assessed, where the time to a verdict is measured."""

SECONDS = 10.0
"""For how long it is measured."""


def main() -> None:
    """Measure and print."""
    requests = [_request() for _ in range(CALLS * ROUNDS + CALLS)]
    collect_less()
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
        {
            "monitor_over_decoding": times["whole monitor"] / times["decoded, IDs walked"],
            "verdict_p99_seconds": _seconds_to_verdict(times["whole monitor"] / 1e6),
        },
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


class _Timed(Tally):
    """A tally that notes when each handoff is in what /metrics reads."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: dict[str, float] = {}

    def assessed(self, record: HandoffRecord, assessment: Assessment, *, seconds: float) -> None:
        super().assessed(record, assessment, seconds=seconds)
        self.counted[record.trace_id] = time.perf_counter()


def _seconds_to_verdict(seconds: float) -> float:
    """Return the 99th percentile of the time from a handoff's last span to its verdict, beyond the quiet time.

    Args:
        seconds: What a request costs; they are sent at half the rate that this allows.
    """
    requests = [_request() for _ in range(int(SECONDS / (2 * seconds)))]
    tally, sent = _Timed(), dict[str, float]()
    with tempfile.TemporaryDirectory() as folder:
        settings = MonitorSettings(quiet_seconds=QUIET)
        monitor = Monitor(SqliteStore(str(Path(folder) / "kept.db")), tally, settings=settings)
        monitor.start()
        begun = time.perf_counter()
        for number, request in enumerate(requests):
            time.sleep(max(begun + number * 2 * seconds - time.perf_counter(), 0))
            now = time.perf_counter()
            spans = received(request, is_json=False).spans
            sent.update((span.trace_id, now) for span in spans)
            monitor.submit(spans, size=len(request))
        while len(tally.counted) < len(sent) and time.perf_counter() < begun + 10 * SECONDS:
            time.sleep(QUIET)
        monitor.close()
    waited = sorted(counted - sent[trace_id] - QUIET for trace_id, counted in tally.counted.items())
    return waited[int(len(waited) * 0.99)] if len(waited) == len(sent) else float("inf")


if __name__ == "__main__":
    main()
