"""Everything that leaves an application which is monitored: spans, metrics, events, log lines."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rop_otel as rop
from rop_otel import semconv


class Lines(logging.Handler):
    """Keeps all that a handler of the application is given of a log record."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.kept: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one: its message, its arguments and extras, its exception with traceback."""
        self.kept.append(f"{record.getMessage()} {record.__dict__!r}")
        if record.exc_info:
            self.kept += traceback.format_exception(*record.exc_info)


class Recorded:
    """A monitored process, until :meth:`stop`.

    Args:
        settings: Of ``rop.configure``.
    """

    def __init__(self, **settings: Any) -> None:
        self.spans = InMemorySpanExporter()
        self._events = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        self._reader = InMemoryMetricReader()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        events = LoggerProvider(shutdown_on_exit=False)
        events.add_log_record_processor(SimpleLogRecordProcessor(self._events))
        self.foreign = tracers.get_tracer("another library")
        self._lines = Lines()
        self._logger = logging.getLogger()
        self._level = self._logger.level
        self._logger.addHandler(self._lines)
        self._logger.setLevel(logging.DEBUG)
        self._port = rop.configure(
            tracer_provider=tracers,
            meter_provider=MeterProvider([self._reader], shutdown_on_exit=False),
            logger_provider=events,
            metrics_port=0,
            **settings,
        ).metrics_port

    def stop(self) -> None:
        """Monitor no more, and keep nothing."""
        rop.shutdown()
        self.spans.clear()
        self._logger.removeHandler(self._lines)
        self._logger.setLevel(self._level)

    def places_of(self, mark: str) -> list[str]:
        """Return where a mark is found; a span of somebody else's is the application's own and is not searched."""
        return [f"{place}: {_around(text, mark)}" for place, text in self._texts() if mark in text]

    def _texts(self) -> Iterator[tuple[str, str]]:
        for span in self.spans.get_finished_spans():
            if span.instrumentation_scope is not None and span.instrumentation_scope.name == semconv.SCOPE_NAME:
                yield f"span {span.name[:20]}", span.to_json()
        for event in self._events.get_finished_logs():
            said = event.log_record
            yield "event", f"{said.event_name} {said.body!r} {dict(said.attributes or {})}"
        data = self._reader.get_metrics_data()
        yield "metrics", "" if data is None else data.to_json()
        if self._port is not None:
            with urlopen(f"http://127.0.0.1:{self._port}/metrics") as response:
                yield "/metrics", response.read().decode()
        for line in self._lines.kept:
            if "rop_otel" in line:
                yield "log", line


def _around(text: str, mark: str) -> str:
    place = text.index(mark)
    return text[max(0, place - 150) : place + 60]
