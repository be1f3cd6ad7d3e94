"""``/metrics``: the tally as prometheus_client families, served on an address of our own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import accumulate
from socketserver import StreamRequestHandler
from typing import Any
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar as PrometheusExemplar

from rop_otel import semconv
from rop_otel.errors import ConfigurationError
from rop_otel.meters.numbers import Exemplar
from rop_otel.meters.points import HistogramPoint, Point
from rop_otel.meters.tally import Tally


class TallyCollector(Collector):
    """Gives the tally to prometheus_client, under the names of the contract.

    Args:
        tally: Tells at every scrape which tally is in use; None where none is.
    """

    def __init__(self, tally: Callable[[], Tally | None]) -> None:
        self._tally = tally

    def collect(self) -> Iterator[Family]:
        """Give one family for every metric, also where it has no series yet."""
        tally = self._tally()
        if tally is None:
            return
        for metric in semconv.METRICS:
            if metric.kind == "histogram":
                yield _histogram(metric, tally.histograms(metric))
            else:
                yield _numbers(metric, tally.points(metric))


def _numbers(metric: semconv.Metric, points: list[Point]) -> Family:
    family = Family(metric.prometheus.removesuffix("_total"), metric.description, metric.kind)
    for point in points:
        labels = _labels(metric, point.values)
        family.add_sample(metric.prometheus, labels, point.number, exemplar=_exemplar(point.exemplar))
    return family


def _histogram(metric: semconv.Metric, points: list[HistogramPoint]) -> Family:
    family = Family(metric.prometheus, metric.description, metric.kind)
    bounds = [*(str(bound) for bound in metric.buckets), "+Inf"]
    for point in points:
        labels = _labels(metric, point.values)
        for bound, count in zip(bounds, accumulate(point.counts), strict=True):
            family.add_sample(f"{metric.prometheus}_bucket", {**labels, "le": bound}, count)
        family.add_sample(f"{metric.prometheus}_count", labels, sum(point.counts))
        family.add_sample(f"{metric.prometheus}_sum", labels, point.total)
    return family


def _labels(metric: semconv.Metric, values: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(map(semconv.label, metric.attributes), values, strict=True))


def _exemplar(exemplar: Exemplar | None) -> PrometheusExemplar | None:
    if exemplar is None:
        return None
    labels = {"trace_id": exemplar.trace_id, "span_id": exemplar.span_id}
    return PrometheusExemplar(labels, 1.0, exemplar.time)


_PATIENCE_SECONDS = 60.0
"""How long a connection may stay silent: each holds a thread, and a machine that is gone does not close its own."""


def _impatient(handler: Any) -> type[StreamRequestHandler]:
    """Return a request handler that closes a connection on which nothing comes."""

    class Impatient(handler):  # type: ignore[misc]
        timeout = _PATIENCE_SECONDS

        def handle(self) -> None:
            try:
                super().handle()
            except TimeoutError:
                self.close_connection = True

    return Impatient


class MetricsServer:
    """An HTTP server that answers scrapes until it is stopped.

    Args:
        tally: Tells which tally to show.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one, which :attr:`port` tells.

    Raises:
        ConfigurationError: The address cannot be listened on.
    """

    def __init__(self, tally: Callable[[], Tally | None], *, host: str, port: int) -> None:
        registry = CollectorRegistry()
        registry.register(TallyCollector(tally))
        try:
            started = start_http_server(port, addr=host, registry=registry)
        except OSError as error:
            message = f"/metrics cannot be served on {host}:{port} ({error}); choose another metrics_port"
            raise ConfigurationError(message) from error
        self._server: WSGIServer = started[0]
        self._server.RequestHandlerClass = _impatient(self._server.RequestHandlerClass)
        self._thread: threading.Thread = started[1]
        self.host = host
        self.port: int = self._server.server_port

    def stop(self) -> None:
        """Stop answering and free the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=1.0)

    def abandon(self) -> None:
        """Close a forked process's copy of the socket; the server goes on in the process that started it."""
        self._server.server_close()
