"""Spans kept in a file that ``rop-otel replay`` reads, or in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from rop_otel.core.profile.resolver import Resolver
from rop_otel.errors import InputError
from rop_otel.spans import Span, from_sdk
from rop_otel.spans.otlp_writer import write


class FileExporter(SpanExporter):
    """Writes spans as OTLP JSON, one export request a line, until a write fails.

    Args:
        stream: Takes the bytes; closed at shutdown.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._error: OSError | None = None

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write finished spans; a failure is reported once, at shutdown."""
        if self._error is None:
            try:
                write((from_sdk(span) for span in spans), self._stream)
            except OSError as error:
                self._error = error
        return SpanExportResult.FAILURE if self._error else SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Close the file.

        Raises:
            InputError: Not all of the spans could be written.
        """
        try:
            self._stream.close()
        except OSError as error:
            self._error = self._error or error
        if self._error is not None:
            raise InputError(f"cannot be written: {self._error.strerror or self._error}", file=self._stream.name)


class KeptSpans(SpanExporter):
    """Keeps spans in memory until they are taken."""

    def __init__(self) -> None:
        self._spans: list[Span] | None = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keep finished spans."""
        if self._spans is not None:
            self._spans += map(from_sdk, spans)
        return SpanExportResult.SUCCESS

    def take(self) -> list[Span]:
        """Return the spans in the order of their ends, and keep none from now on."""
        taken, self._spans = self._spans or [], None
        return taken


def file_exporter(file: Path) -> FileExporter:
    """Return an exporter to a file.

    Raises:
        InputError: The file cannot be written.
    """
    try:
        return FileExporter(file.open("wb"))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=str(file)) from error


def recording_provider(*exporters: SpanExporter, service_name: str) -> TracerProvider:
    """Return a tracer provider whose spans go to exporters, until it is shut down by whoever asked for it."""
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service_name}), shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider


def write_resolver(resolver: Resolver, spans: Path) -> Path:
    """Write a resolver next to a file of spans and return where.

    Raises:
        OSError: The file cannot be written.
    """
    file = spans.with_name(f"{spans.name}.resolver.json")
    file.write_bytes(resolver.to_bytes())
    return file
