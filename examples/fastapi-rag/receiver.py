"""A small receiver of OTLP, instead of a collector: it keeps spans and the last number of each worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue


class Span(NamedTuple):
    """The facts of a span that this receiver keeps."""

    service: str
    trace_id: bytes
    name: str


class Receiver:
    """An OTLP/HTTP endpoint on a free port."""

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def spans(self) -> Iterator[Span]:
        """Give every span of the monitor; the frameworks in use may send some of their own."""
        for body in self._server.bodies["/v1/traces"]:
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                service = _named(resource.resource.attributes, "service.name")
                for scope in resource.scope_spans:
                    if scope.scope.name == "rop_otel":
                        yield from (Span(service, span.trace_id, span.name) for span in scope.spans)

    def verdicts(self) -> dict[str, dict[str, int]]:
        """Return the number of each verdict, by worker, as last received."""
        found: dict[str, dict[str, int]] = {}
        for body in self._server.bodies["/v1/metrics"]:
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                worker = found.setdefault(_named(resource.resource.attributes, "service.instance.id"), {})
                metrics = [metric for scope in resource.scope_metrics for metric in scope.metrics]
                for metric in metrics:
                    if metric.name == "rop.handoff.verdicts":
                        for point in metric.sum.data_points:
                            worker[_named(point.attributes, "rop.verdict")] = point.as_int
        return found


class _Server(ThreadingHTTPServer):
    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.bodies: dict[str, list[bytes]] = {"/v1/traces": [], "/v1/metrics": [], "/v1/logs": []}


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        """Keep a request."""
        self.server.bodies[self.path].append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _named(attributes: Iterable[KeyValue], name: str) -> str:
    return next((each.value.string_value for each in attributes if each.key == name), "")
