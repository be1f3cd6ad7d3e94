"""What goes through without loss, and what the example of two services costs.

Handoffs of one process through the collector, spans through the collector alone, and the CPU time that a request of the
example takes (see ``example.py``). Needs the collector (``make collector``) and the checkout on the path, as ``make
bench ARGS=stack`` does it.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import example
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import rop_otel as rop
from rop_otel import semconv
from tests.collector.collector import Collector, collector
from tests.export.scraping import samples, value

LAYERS = ("agent.yaml", "backends.yaml", "extras.yaml")
STAGES = ("vector", "lexical", "fusion", "candidates", "rerank", "mmr", "expansion", "reorder", "packing")
IDS = [f"doc-{number:04}" for number in range(100)]
SECONDS = 5.0
RATES = (25, 50, 100, 200, 400, 800)
BATCH, REQUESTS = 512, 200
TARGET = 1.35


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        with collector(Path(folder) / "handoffs", LAYERS) as running:
            handoffs, asked = _handoffs(running)
        with collector(Path(folder) / "spans", LAYERS) as running:
            spans = _spans(running)
        with collector(Path(folder) / "example", LAYERS) as running:
            taken = example.per_request(running)
    over_plain = taken["ours"] / taken["plain"]
    print(f"Without loss, {len(STAGES)} stages of {len(IDS)} IDs a handoff, all on this machine")
    print(f"  handoffs per second through the processor   {handoffs:>10,.0f}   (asked for {asked:,})")
    print(f"  spans per second through the collector      {spans:>10,.0f}   ({BATCH} a request, written to a file)")
    print("One request of examples/fastapi-rag, CPU time of both services")
    print(f"  uninstrumented                              {taken['bare']:>10,.0f} us")
    print(f"  added by the same spans, by hand            {taken['plain']:>10,.0f} us")
    print(f"  added by the monitor                        {taken['ours']:>10,.0f} us")
    print(f"  added_over_plain                            {over_plain:>10.3f}   target <= {TARGET}")
    print(
        json.dumps(
            {
                "handoffs_per_second": round(handoffs),
                "spans_per_second": round(spans),
                "example_bare_us": round(taken["bare"]),
                "example_plain_added_us": round(taken["plain"]),
                "example_added_us": round(taken["ours"]),
                "added_over_plain": round(over_plain, 4),
            }
        )
    )


def _handoffs(running: Collector) -> tuple[float, int]:
    """Return the highest rate of those tried at which every span arrived, as reached and as asked for."""
    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = f"{running.endpoint}/v1/traces"
    port = rop.configure(service_name="benchmark", metrics_port=0).metrics_port
    assert port is not None
    best, sent = (0.0, 0), 0
    for rate in RATES:
        reached, number = _at_rate(rate)
        sent += number * (len(STAGES) + 1)
        arrived = _settled(lambda: _accepted(running), sent)
        if value(port, semconv.SELF_UNSENT.prometheus) or not arrived or reached < 0.9 * rate:
            break
        best = reached, rate
    rop.shutdown()
    return best


def _at_rate(rate: int) -> tuple[float, int]:
    """Run handoffs evenly for some seconds, and return how many a second it came to, and how many in all."""
    start = time.perf_counter()
    number = 0
    while time.perf_counter() - start < SECONDS:
        _handoff()
        number += 1
        time.sleep(max(start + number / rate - time.perf_counter(), 0))
    return number / (time.perf_counter() - start), number


def _handoff() -> None:
    with rop.handoff("docs-qa", cutoff=10) as handoff:
        handoff.select("doc-0007")
        for kind in STAGES:
            with rop.using_stage(kind) as stage:
                stage.returned(IDS)


def _spans(running: Collector) -> float:
    """Return how many spans a second the collector took and passed on, sent one request after another."""
    body = _request().SerializeToString()
    start = time.perf_counter()
    for _ in range(REQUESTS):
        headers = {"Content-Type": "application/x-protobuf"}
        with urllib.request.urlopen(urllib.request.Request(f"{running.endpoint}/v1/traces", body, headers)):
            pass
    sent = BATCH * REQUESTS
    if not _settled(lambda: _accepted(running), sent):
        raise SystemExit(f"the collector did not pass on all of {sent} spans")
    return sent / (time.perf_counter() - start)


def _request() -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number in range(BATCH):
        span = scope.spans.add(name="rerank", trace_id=os.urandom(16), span_id=os.urandom(8))
        span.start_time_unix_nano, span.end_time_unix_nano = number + 1, number + 2
        span.attributes.add(key=semconv.STAGE).value.string_value = "rerank"
        ids = span.attributes.add(key=semconv.RETURNED_IDS).value.array_value
        for each in IDS:
            ids.values.add(string_value=each)
    return request


def _accepted(running: Collector) -> float:
    """Return how many spans the collector has written to its file."""
    series = samples(running.own).get("otelcol_exporter_sent_spans_total", [])
    return sum(sample.value for sample in series if sample.labels["exporter"] == "file/traces")


def _settled(count: Callable[[], float], wanted: int, *, within: float = 20.0) -> bool:
    """Wait until a count is what is wanted, and return whether it became so."""
    deadline = time.perf_counter() + within
    while count() < wanted and time.perf_counter() < deadline:
        time.sleep(0.1)
    return count() == wanted


if __name__ == "__main__":
    main()
