"""Monitors behind the collector."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from rop_otel import semconv
from tests.collector.collector import collector
from tests.grafana.prometheus import until
from tests.monitor.served import Served

GATEWAY = ("agent.yaml", "gateway.yaml", "backends.yaml", "extras.yaml")
HANDOFFS = 20


def test_each_handoff_is_assessed_once(tmp_path: Path) -> None:
    """Two monitors behind a gateway share the handoffs, whose spans come one by one from three services."""
    with ExitStack() as stack:
        monitors = [stack.enter_context(Served(tmp_path / f"{name}.db", quiet=3.0)) for name in ("one", "two")]
        hosts = f"[{', '.join(monitor.grpc for monitor in monitors)}]"
        gateway = stack.enter_context(collector(tmp_path / "gateway", GATEWAY, ROP_COLLECTOR_MONITORS=hosts))
        send(gateway.endpoint)

        def assessed() -> list[dict[str, int]]:
            return [monitor.verdicts() for monitor in monitors]

        until(lambda: sum(sum(each.values()) for each in assessed()) == HANDOFFS, within=120, what="every handoff")
        verdicts = assessed()
        assert all(each.keys() == {"FAIL"} for each in verdicts), verdicts
        rows = [monitor.get("/api/handoffs?limit=500")["handoffs"] for monitor in monitors]
        ids = [row["handoff_id"] for each in rows for row in each]
        assert len(ids) == len(set(ids)) == HANDOFFS
        assert {(row["dropped_at"], row["service"]) for each in rows for row in each} == {("rerank", "selector")}


def send(endpoint: str) -> None:
    """Send handoffs that lose their object at a reranker of another service."""
    exporter = OTLPSpanExporter(f"{endpoint}/v1/traces", timeout=120)
    names = ("selector", "search", "rank")
    providers = [
        TracerProvider(resource=Resource({semconv.SERVICE_NAME: name}), shutdown_on_exit=False) for name in names
    ]
    for provider in providers:
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    selector, search, rank = (provider.get_tracer("tests") for provider in providers)
    for _ in range(HANDOFFS):
        given = {semconv.HANDOFF_NAME: "qa", semconv.SELECTED_IDS: ["d1"]}
        with selector.start_as_current_span("handoff qa", attributes=given):
            search.start_span("search", attributes={semconv.STAGE: "vector", semconv.RETURNED_IDS: ["d1", "d2"]}).end()
            rank.start_span("rank", attributes={semconv.STAGE: "rerank", semconv.RETURNED_IDS: ["d2"]}).end()
