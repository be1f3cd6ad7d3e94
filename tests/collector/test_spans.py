"""What becomes of spans on their way: none lost, text removed, failing traces kept, handoffs kept together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

from rop_otel import semconv
from tests.collector.collector import Collector, collector
from tests.export.receiving import Endpoint
from tests.grafana.prometheus import free_port, until

PLAIN = ("agent.yaml", "backends.yaml", "extras.yaml")
_numbers = count()


class Sender:
    """Sends spans one by one, each accepted before the next is made.

    Args:
        endpoint: Where to.
        whole: Each trace in one request instead.
    """

    def __init__(self, endpoint: str, *, whole: bool = False) -> None:
        self._provider = TracerProvider(shutdown_on_exit=False)
        exporter = OTLPSpanExporter(f"{endpoint}/v1/traces", timeout=120)
        self._provider.add_span_processor(
            BatchSpanProcessor(exporter, schedule_delay_millis=3_600_000) if whole else SimpleSpanProcessor(exporter)
        )
        self._tracer = self._provider.get_tracer("tests")

    def send(self, attributes: Mapping[str, Any], *, below: int = 0) -> str:
        """Send a span with spans below it, and return the trace's ID."""
        with self._tracer.start_as_current_span(f"span {next(_numbers)}", attributes=attributes) as span:
            for number in range(below):
                self._tracer.start_span(f"below {number}").end()
        self._provider.force_flush()
        return f"{span.get_span_context().trace_id:032x}"

    def end(self) -> None:
        """Send no more."""
        self._provider.shutdown()


def kept(file: Path) -> list[dict[str, Any]]:
    """Return the spans of a file that the collector wrote."""
    if not file.exists():
        return []
    # The last line may be half written, after any "}" of it.
    requests = [json.loads(line) for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    return [
        span
        for request in requests
        for resource in request["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def traces(file: Path) -> set[str]:
    """Return the IDs of the traces in a file."""
    return {span["traceId"] for span in kept(file)}


def attributes(span: Mapping[str, Any]) -> set[str]:
    """Return the names of a span's attributes."""
    return {attribute["key"] for attribute in span.get("attributes", [])}


def sent(endpoint: str, spans: Sequence[Mapping[str, Any]], *, below: int = 0, whole: bool = False) -> list[str]:
    """Send spans and return the IDs of their traces."""
    sender = Sender(endpoint, whole=whole)
    try:
        return [sender.send(each, below=below) for each in spans]
    finally:
        sender.end()


def test_a_killed_collector_loses_no_accepted_span(tmp_path: Path) -> None:
    """Spans that an agent accepted while the next collector was away arrive, though the agent was killed meanwhile."""
    port = free_port()
    (tmp_path / "agent").mkdir()
    agent = Collector(tmp_path / "agent", ("agent.yaml", "extras.yaml"), ROP_COLLECTOR_NEXT=f"127.0.0.1:{port}")
    agent.start()
    try:
        accepted = sent(agent.endpoint, [{semconv.HANDOFF_NAME: "docs"}] * 50)
        agent.kill()
        with collector(tmp_path / "next", PLAIN, grpc=port) as after:
            agent.start()
            until(lambda: traces(after.traces) == set(accepted), within=120, what="every accepted span has arrived")
    finally:
        agent.stop()


def test_traces_reach_the_backend(tmp_path: Path) -> None:
    """Spans and the asked-for headers come to whatever takes OTLP at the address that a variable names."""
    with Endpoint() as backend:
        variables = {
            "ROP_COLLECTOR_BACKEND": f"http://127.0.0.1:{backend.server_port}",
            "ROP_COLLECTOR_BACKEND_HEADERS": '{"authorization": "Bearer secret"}',
        }
        with collector(tmp_path, PLAIN, **variables) as running:  # type: ignore[arg-type]  # variables, by name
            sent(running.endpoint, [{semconv.HANDOFF_NAME: "docs"}])
            until(lambda: "/v1/traces" in backend.bodies, within=120, what="the trace")
    assert backend.headers["authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "layers",
    [
        ("agent.yaml", "privacy.yaml", "sampling.yaml", "backends.yaml", "extras.yaml"),
        ("agent.yaml", "backends.yaml", "sampling.yaml", "privacy.yaml", "extras.yaml"),
    ],
    ids=["before", "after"],
)
def test_text_is_removed_and_facts_stay(layers: tuple[str, ...], tmp_path: Path) -> None:
    """With privacy.yaml no text of any convention leaves, in whichever order layers come; verdicts and IDs do."""
    text = {
        "gen_ai.input.messages": "x",
        "gen_ai.retrieval.query.text": "x",
        "input.value": "x",
        "retrieval.documents.0.document.content": "x",
        "llm.input_messages.0.message.content": "x",
        "traceloop.entity.input": "x",
        "gen_ai.prompt.0.content": "x",
        "db.query.text": "x",
        "http.request.header.authorization": "x",
    }
    facts = {
        semconv.HANDOFF_NAME: "docs",
        semconv.VERDICT: "FAIL",
        semconv.RETURNED_IDS: ["d1"],
        "retrieval.documents.0.document.id": "d1",
        "retrieval.documents.0.document.score": 0.5,
        "llm.token_count.prompt": 7,
    }
    with collector(tmp_path, layers, ROP_COLLECTOR_DECISION_WAIT="1s") as running:
        [trace] = sent(running.endpoint, [text | facts])
        until(lambda: trace in traces(running.traces), within=120, what="the trace")
    [span] = kept(running.traces)
    assert attributes(span) == facts.keys()


def test_every_failing_trace_is_kept(tmp_path: Path) -> None:
    """The sampler keeps traces of failed or undecided handoffs and of error findings, and no others where asked so."""
    failing: list[Mapping[str, Any]] = [
        *({semconv.VERDICT: verdict} for verdict in ("FAIL", "UNVERIFIABLE", "RESOLUTION_ERROR", "SELECTOR_ERROR")),
        {semconv.VERDICT: "PASS", semconv.FINDINGS: ["duplicate_ids", "scope_leak"]},
    ]
    passing: list[Mapping[str, Any]] = [
        {semconv.VERDICT: "PASS"},
        {semconv.VERDICT: "PASS", semconv.FINDINGS: ["silent_cut"]},
    ]
    with collector(tmp_path, ROP_COLLECTOR_DECISION_WAIT="1s", ROP_COLLECTOR_KEEP_PERCENT="0") as running:
        wanted = sent(running.endpoint, failing * 5, below=2, whole=True)
        sent(running.endpoint, passing * 5, below=2, whole=True)
        until(lambda: traces(running.traces) >= set(wanted), within=120, what="the failing traces")
    assert traces(running.traces) == set(wanted)
    assert len(kept(running.traces)) == 3 * len(wanted)


def test_a_handoff_meets_in_one_monitor(tmp_path: Path) -> None:
    """Behind a gateway, spans of a trace that come one by one end in the same of two monitors, and both get some."""
    with ExitStack() as stack:
        monitors = [stack.enter_context(collector(tmp_path / name, PLAIN)) for name in ("one", "two")]
        gateway = stack.enter_context(
            collector(
                tmp_path / "gateway",
                ("agent.yaml", "gateway.yaml", "sampling.yaml", "backends.yaml", "extras.yaml"),
                ROP_COLLECTOR_MONITORS=f"[{', '.join(f'127.0.0.1:{monitor.grpc}' for monitor in monitors)}]",
                ROP_COLLECTOR_KEEP_PERCENT="0",
            )
        )
        wanted = sent(gateway.endpoint, [{semconv.HANDOFF_NAME: "docs", semconv.VERDICT: "PASS"}] * 20, below=2)

        def arrived() -> bool:
            return len({span["spanId"] for monitor in monitors for span in kept(monitor.traces)}) == 60

        until(arrived, within=120, what="every span, sampled out or not")
        one, two = (traces(monitor.traces) for monitor in monitors)
    assert one
    assert two
    assert not one & two
    assert one | two == set(wanted)
