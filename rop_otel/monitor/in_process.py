"""A monitor with its page inside another program, which gives it its spans without a network."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rop_otel.core.profile import Resolver
from rop_otel.meters.tally import Tally
from rop_otel.monitor.http_server import HttpServer
from rop_otel.monitor.requests import received_here
from rop_otel.monitor.service import BusyError, Monitor, MonitorSettings
from rop_otel.monitor.sqlite_store import SqliteStore
from rop_otel.spans import from_sdk

_HOST: Final = "127.0.0.1"
_QUIET_SECONDS: Final = 0.5
"""All spans of a trace come from this process, one just after the other."""

_SPAN_BYTES: Final = 2000
"""What a span is counted as, where nobody has written it down as bytes."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """A monitor that runs.

    Args:
        url: Address of its page, with a slash at its end.
        exporter: Gives it spans.
    """

    url: str
    exporter: SpanExporter


class _Exporter(SpanExporter):
    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Hand spans over, and wait for nothing."""
        try:
            found, refused = received_here(map(from_sdk, spans))
            self._monitor.submit(found, refused=refused, size=_SPAN_BYTES * len(spans))
        except BusyError:
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS


@contextmanager
def in_process(port: int, *, resolver: Resolver | None = None, advice: str) -> Iterator[InProcess]:
    """Run a monitor on loopback until the block ends. What it has kept goes with it.

    Args:
        port: Of the page; 0 takes a free one.
        resolver: The resolver in force.
        advice: What to do where the port cannot be used.

    Raises:
        ConfigurationError: The port cannot be used, or libraries are missing.
    """
    with tempfile.TemporaryDirectory(prefix="rop-otel-") as folder:
        monitor = Monitor(
            SqliteStore(str(Path(folder) / "kept.db")),
            Tally(places=("store", "assess")),
            resolver=resolver,
            settings=MonitorSettings(quiet_seconds=_QUIET_SECONDS, retention_seconds=None),
        )
        try:
            server = HttpServer(monitor, host=_HOST, port=port, advice=advice)
            thread = Thread(target=server.run, name="rop_otel.monitor.http", daemon=True)
            monitor.start()
            thread.start()
            try:
                yield InProcess(url=f"http://{_HOST}:{server.port}/", exporter=_Exporter(monitor))
            finally:
                server.end()
                thread.join()
        finally:
            monitor.close()
