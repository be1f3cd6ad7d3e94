"""Where a process under test sends its telemetry."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PATIENT = """
from rop_otel.export import process
process.EXIT_SECONDS = 300
"""
"""Lines of a program that waits for what is sent at its end, however busy the machine is."""


class Endpoint(ThreadingHTTPServer):
    """Takes OTLP over HTTP, and keeps the bodies by path and the headers of the last request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: dict[str, list[bytes]] = {}
        self.headers: dict[str, str] = {}

    @property
    def url(self) -> str:
        """Where it listens; every signal comes here, each to a path of its own."""
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def variables(self) -> dict[str, str]:
        """With which a program sends everything here, however long an answer takes on a busy machine."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.url,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "300",
        }

    def spans(self) -> list[tuple[str, str]]:
        """Return service and name of the spans that came, sorted."""
        return sorted(
            (attribute.value.string_value, span.name)
            for body in self.bodies.get("/v1/traces", [])
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
            for scope in resource.scope_spans
            for span in scope.spans
        )

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        """Keep the body."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.bodies.setdefault(self.path, []).append(body)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""
