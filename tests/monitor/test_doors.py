"""The command as users run it: spans of real exporters in, health, metrics and the API out."""

from __future__ import annotations

import gzip
import io
import json
import signal
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from typer.testing import CliRunner

from rop_otel import semconv
from rop_otel.assembling import assemble
from rop_otel.cli.main import app
from rop_otel.core.handoff import assess
from rop_otel.replay import replay_files
from rop_otel.spans import from_sdk
from rop_otel.spans.otlp_writer import write
from tests.export.receiving import Endpoint
from tests.monitor.expected import expected, in_any_order
from tests.monitor.exported import request_of
from tests.monitor.served import PROTOBUF, Served, until
from tests.spans.trace import handoff, pipeline, stage


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("kept") / "kept.db") as served:
        yield served


def finished() -> tuple[ReadableSpan, ...]:
    """Return the spans of a handoff that loses its object at a reranker."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "web"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    attributes = {semconv.HANDOFF_NAME: "qa", semconv.SELECTED_IDS: ["d1"]}
    with tracer.start_as_current_span("qa", attributes=attributes):
        for kind, ids in (("vector", ["d1", "d2"]), ("rerank", ["d2"])):
            tracer.start_span(kind, attributes={semconv.STAGE: kind, semconv.RETURNED_IDS: ids}).end()
    return exporter.get_finished_spans()


@pytest.mark.parametrize("door", ["grpc", "http", "http gzip"])
def test_a_real_exporter(served: Served, door: str) -> None:
    """What OpenTelemetry's own exporters send is assessed as replay does it, and shown by the API."""
    exporter: SpanExporter
    if door == "grpc":
        exporter = GrpcExporter(endpoint=served.grpc, insecure=True)
    else:
        compression = Compression.Gzip if "gzip" in door else Compression.NoCompression
        exporter = HttpExporter(endpoint=f"{served.url}/v1/traces", compression=compression)
    spans = finished()
    assert exporter.export(spans) is SpanExportResult.SUCCESS
    exporter.shutdown()
    [detail] = expected(map(from_sdk, spans))
    until(lambda: served.ask(f"/api/handoffs/{detail['handoff_id']}")[0] == 200)
    shown = served.get(f"/api/handoffs/{detail['handoff_id']}")
    assert in_any_order(shown) == {**json.loads(json.dumps(detail)), "service": "web"}
    [row] = served.get(f"/api/handoffs?q={detail['trace_id']}")["handoffs"]
    assert (row["verdict"], row["dropped_at"], row["service"]) == ("FAIL", "rerank", "web")


def test_json_by_hand(served: Served) -> None:
    """Plain OTLP/JSON, packed or not, is all that another language needs; metrics count it."""
    stream = io.BytesIO()
    write(pipeline(trace="0a" * 16), stream)
    headers = {"Content-Type": "application/json"}
    assert served.ask("/v1/traces", stream.getvalue(), headers)[:2] == (200, b"{}")
    packed = gzip.compress(stream.getvalue())
    assert served.ask("/v1/traces", packed, {**headers, "Content-Encoding": "gzip"})[:2] == (200, b"{}")
    until(lambda: served.get(f"/api/handoffs?q={'0a' * 16}")["handoffs"] != [])
    [row] = served.get(f"/api/handoffs?q={'0a' * 16}")["handoffs"]
    _, metrics, _ = served.ask("/metrics")
    labels = f'rop_drop_cause="{row["drop_cause"]}",rop_dropped_at="packing",rop_handoff_name="qa"'
    counted = f"{semconv.MISSES.prometheus}{{{labels}}} 1.0"
    assert counted in metrics.decode()


BOMB = gzip.compress(bytes(65 * 1024 * 1024), compresslevel=1)
"""More than a request may hold, in little."""


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"\xff", {"Content-Type": PROTOBUF}, 400),
        (b"{", {"Content-Type": "application/json"}, 400),
        (b"x", {"Content-Type": PROTOBUF, "Content-Encoding": "gzip"}, 400),
        (b"x", {"Content-Type": PROTOBUF, "Content-Encoding": "br"}, 415),
        (b"x", {"Content-Type": "text/html"}, 415),
        (BOMB, {"Content-Type": PROTOBUF, "Content-Encoding": "gzip"}, 413),
        (b"", {"Content-Type": PROTOBUF, "Host": "attacker.example"}, 400),
    ],
    ids=["no protobuf", "no JSON", "no gzip", "unknown encoding", "unknown type", "too large", "foreign host"],
)
def test_bad_requests(served: Served, body: bytes, headers: dict[str, str], status: int) -> None:
    """Each is refused with the status that OTLP's senders do not repeat, and the service goes on."""
    assert served.ask("/v1/traces", body, headers)[0] == status
    assert served.ask("/v1/traces", b"", {"Content-Type": PROTOBUF})[0] == 200


def test_the_reason_of_a_refusal(served: Served) -> None:
    """It is a status message in the form of the request."""
    status, body, headers = served.ask("/v1/traces", b"{", {"Content-Type": "application/json"})
    assert (status, headers["Content-Type"]) == (400, "application/json")
    assert "not an OTLP export request" in json.loads(body)["message"]
    status, body, headers = served.ask("/v1/traces", b"\xff", {"Content-Type": PROTOBUF})
    assert (status, headers["Content-Type"]) == (400, PROTOBUF)
    assert body == b"\x12\x26not an OTLP export request in protobuf"


def test_filters_and_pages(served: Served) -> None:
    """Every handoff comes once, the newest first."""
    for number in range(7):
        trace = f"{number + 1:032x}"
        spans = [
            handoff(1, "d1", trace=trace, given={semconv.RECORD_ID: f"page{number}"}),
            stage(2, "vector", "d1", parent=1, trace=trace),
        ]
        assert served.send(request_of(spans)) == 200
    until(lambda: len(served.get("/api/handoffs?verdict=PASS&limit=2000")["handoffs"]) >= 7)
    seen: list[str] = []
    after: str | None = ""
    while after is not None:
        page = served.get(f"/api/handoffs?verdict=PASS&record=page&limit=3{after and '&after=' + after}")
        seen += [each["record_id"] for each in page["handoffs"]]
        after = page["after"]
    assert sorted(seen) == [f"page{number}" for number in range(7)]
    assert served.ask("/api/handoffs/none")[0] == 404


def test_export(served: Served, tmp_path: Path) -> None:
    """What a running monitor keeps is written as spans that replay reads to the same handoffs."""
    trace = "0c" * 16
    assert served.send(request_of(pipeline(trace=trace))) == 200
    until(lambda: served.get(f"/api/handoffs?q={trace}")["handoffs"] != [])
    file = tmp_path / "spans.jsonl"
    result = CliRunner().invoke(app, ["export", served.store, "--output", str(file)])
    assert result.exit_code == 0, result.output
    [found] = [each for each in replay_files([str(file)]).assessments if each.trace_id == trace]
    assert found.as_dict() == assess(assemble(pipeline(trace=trace)).handoffs[0]).as_dict()
    printed = CliRunner().invoke(app, ["export", served.store])
    assert printed.stdout_bytes == file.read_bytes()


def test_export_of_no_store(tmp_path: Path) -> None:
    """It is one sentence, and nothing is made."""
    result = CliRunner().invoke(app, ["export", str(tmp_path / "none.db")])
    assert "is no file" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_it_ends_in_order(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """A signal lets it close the store, which then is one file."""
    with Served(tmp_path / "kept.db") as served:
        assert served.send(request_of(pipeline())) == 200
        served.process.send_signal(number)
        assert served.process.wait(60) == code
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kept.db", "kept.db-lock"]


def test_health(served: Served) -> None:
    """It is alive and ready."""
    assert served.get("/healthz") == served.get("/readyz") == {"status": "ok"}


def test_a_token(tmp_path: Path) -> None:
    """Without it nothing is taken in or shown, by neither door; health is."""
    (tmp_path / "token").write_text("secret\n")
    with Served(tmp_path / "kept.db", "--token-file", str(tmp_path / "token")) as served:
        allowed = {"Content-Type": PROTOBUF, "Authorization": "Bearer secret"}
        for path in ("/v1/traces", "/api/handoffs", "/api/summary", "/api/openapi.json", "/metrics"):
            body = b"" if path == "/v1/traces" else None
            assert served.ask(path, body, {"Content-Type": PROTOBUF})[0] == 401
            assert served.ask(path, body, {**allowed, "Authorization": "Bearer secre"})[0] == 401
            assert served.ask(path, body, allowed)[0] == 200
            for password, status in (("secret", 200), ("wrong", 401), ("", 401)):
                basic = f"Basic {b64encode(f'anyone:{password}'.encode()).decode()}"
                assert served.ask(path, body, {**allowed, "Authorization": basic})[0] == status
        for broken in ("Basic", "Basic ?", "Basic /w==", "Basic c2VjcmV0", "Digest secret", "secret", "bearer"):
            status, body, headers = served.ask("/api/head", None, {"Authorization": broken})
            assert (status, json.loads(body)) == (401, {"error": "the token is needed"})
            assert headers.get_all("WWW-Authenticate") == ["Bearer", 'Basic realm="rop-otel", charset="UTF-8"']
        assert served.ask("/healthz")[0] == 200
        for token, result in (("wrong", SpanExportResult.FAILURE), ("secret", SpanExportResult.SUCCESS)):
            exporter = GrpcExporter(endpoint=served.grpc, insecure=True, headers={"authorization": f"Bearer {token}"})
            assert exporter.export(finished()) is result
            exporter.shutdown()


def test_requests_are_passed_on(tmp_path: Path) -> None:
    """Another endpoint gets what either door got, byte for byte; what it does not take is counted."""
    request = request_of(pipeline()).SerializeToString()
    with Endpoint() as other, Served(tmp_path / "kept.db", "--forward", other.url) as served:
        assert (
            served.ask("/v1/traces", gzip.compress(request), {"Content-Type": PROTOBUF, "Content-Encoding": "gzip"})[0]
            == 200
        )
        exporter = GrpcExporter(endpoint=served.grpc, insecure=True)
        assert exporter.export(finished()) is SpanExportResult.SUCCESS
        exporter.shutdown()
        until(lambda: len(other.bodies.get("/v1/traces", [])) == 2)
        assert other.bodies["/v1/traces"][0] == request
        assert [name for _, name in other.spans()] == ["qa", "rerank", "vector"]


def test_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both doors speak TLS with the certificate that is named."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # which requests puts above what it is called with
        monkeypatch.delenv(name, raising=False)
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    with Served(tmp_path / "kept.db", "--certificate", str(certificate), "--key", str(key)) as served:
        assert served.url.startswith("https://")
        exporter: SpanExporter = HttpExporter(endpoint=f"{served.url}/v1/traces", certificate_file=str(certificate))
        assert exporter.export(finished()) is SpanExportResult.SUCCESS
        exporter.shutdown()
        credentials = grpc.ssl_channel_credentials(certificate.read_bytes())
        secure: SpanExporter = GrpcExporter(endpoint=served.grpc, credentials=credentials)
        assert secure.export(finished()) is SpanExportResult.SUCCESS
        secure.shutdown()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--host", "0.0.0.0"], "without a token"),
        (["--certificate", "x.pem"], "both --certificate and --key"),
        (["--token-file", "empty"], "holds no token"),
        (["--token-file", "none"], "none"),
        (["--resolver", "none"], "none"),
        (["--resolver", "a", "--declaration", "b"], "leave --resolver out"),
        (["--forward", "collector:4317"], "is no address of http or https"),
        (["--http-port", "1"], "cannot be listened on"),
        (["--store", "no/such/folder/kept.db"], "cannot be used as a store"),
    ],
)
def test_settings_that_cannot_be_used(
    options: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is one sentence and exit code 2."""
    monkeypatch.chdir(tmp_path)
    if "--http-port" in options:
        monkeypatch.setattr("socket.socket.bind", _refuse)
    (tmp_path / "empty").write_text("\n")
    result = CliRunner().invoke(app, ["monitor", "--grpc-port", "0", *options])
    assert says in str(result.exception)


def _refuse(*_: object) -> None:
    raise PermissionError(13, "Permission denied")
