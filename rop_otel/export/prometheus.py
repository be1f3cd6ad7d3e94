"""``/metrics``: the tally as prometheus_client families, served on an address of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate
from typing import Any, TypeAlias

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar as PrometheusExemplar

from rop_otel import semconv
from rop_otel.errors import ConfigurationError
from rop_otel.export.serving import Server
from rop_otel.meters.numbers import Exemplar
from rop_otel.meters.points import HistogramPoint, Point, attributes_of
from rop_otel.meters.tally import Tally
from rop_otel.safety import raise_if_delivered

_App: TypeAlias = Callable[[dict[str, str], Callable[[str, list[tuple[str, str]]], Any]], Iterable[bytes]]


class TallyCollector(Collector):
    """Gives the tally to prometheus_client, under the names of the contract.

    Args:
        tally: Returns, at every scrape, the tally in use; None where none is.
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
    return {semconv.label(attribute): value for attribute, value in attributes_of(metric, values).items()}


def _exemplar(exemplar: Exemplar | None) -> PrometheusExemplar | None:
    if exemplar is None:
        return None
    labels = {"trace_id": exemplar.trace_id, "span_id": exemplar.span_id}
    return PrometheusExemplar(labels, 1.0, exemplar.time)


def _reply(app: _App, head: bytes) -> bytes:
    """Return the whole HTTP reply to the head of a request."""
    first, *lines = head.decode("latin-1").splitlines() or [""]
    try:
        method, target, _ = first.split()
    except ValueError:
        return _written("400 Bad Request", [], b"")
    if method not in ("GET", "HEAD"):
        return _written("405 Method Not Allowed", [("Allow", "GET, HEAD")], b"")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    path, _, query = target.partition("?")
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "HTTP_ACCEPT": fields.get("accept", ""),
        "HTTP_ACCEPT_ENCODING": fields.get("accept-encoding", ""),
    }
    begun: list[tuple[str, list[tuple[str, str]]]] = []
    try:
        body = b"".join(app(environ, lambda status, headers: begun.append((status, headers))))
    except Exception as error:  # noqa: BLE001 - the next scrape has to be answered, too
        raise_if_delivered(error)
        return _written("500 Internal Server Error", [], b"")
    return _written(*begun[0], body, has_body=method == "GET")


def _written(status: str, headers: list[tuple[str, str]], body: bytes, *, has_body: bool = True) -> bytes:
    fields = [*headers, ("Content-Length", str(len(body))), ("Connection", "close")]
    head = "".join([f"HTTP/1.1 {status}\r\n", *(f"{name}: {value}\r\n" for name, value in fields), "\r\n"])
    return head.encode("latin-1") + (body if has_body else b"")


class MetricsServer:
    """An HTTP server that answers scrapes until it is stopped.

    Args:
        tally: Returns the tally to show.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one, which is then in :attr:`port`.

    Raises:
        ConfigurationError: The address cannot be listened on.
    """

    def __init__(self, tally: Callable[[], Tally | None], *, host: str, port: int) -> None:
        registry = CollectorRegistry()
        registry.register(TallyCollector(tally))
        try:
            self._server = Server(partial(_reply, make_wsgi_app(registry)), host=host, port=port)
        except OSError as error:
            message = f"/metrics cannot be served on {host}:{port} ({error}); choose another metrics_port"
            raise ConfigurationError(message) from error
        self.host = host
        self.port = self._server.port

    def stop(self) -> None:
        """Stop answering and free the port."""
        self._server.stop()

    def abandon(self) -> None:
        """Close a forked process's copy of the socket; the server goes on in the process that started it."""
        self._server.abandon()
