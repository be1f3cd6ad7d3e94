"""Which providers to work with: the ones given, the ones set, or ones made as the environment asks."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.sdk.environment_variables import OTEL_METRIC_EXPORT_INTERVAL
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider

from rop_otel import semconv
from rop_otel.errors import ConfigurationError
from rop_otel.export.exporter_settings import speaks_grpc
from rop_otel.safety import raise_if_delivered

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import LogRecordExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace.export import SpanExporter

_EXPORT_INTERVAL_MS: Final = 15_000
"""Time between two exports of metrics: the alerts look at the last minute, and OpenTelemetry's default is a minute."""


def global_provider() -> TracerProvider | None:
    """Return the SDK's tracer provider that the process has set; None where there is none, or one of another make."""
    provider = trace.get_tracer_provider()
    return provider if isinstance(provider, TracerProvider) else None


def is_unset() -> bool:
    """Return whether the process has set no tracer provider at all."""
    return isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def create_resource(service_name: str | None) -> Resource:
    """Return the resource of our telemetry: the service's name, an instance ID, and the environment's attributes.

    Raises:
        ConfigurationError: OpenTelemetry cannot use what the environment says.
    """
    try:
        return Resource.create({semconv.SERVICE_NAME: service_name} if service_name else None)
    except Exception as error:
        raise_if_delivered(error)
        raise _unusable("resource", error) from error


def create_tracers(resource: Resource, exporters: tuple[str, ...], *, lost: Callable[[int], None]) -> TracerProvider:
    """Make a tracer provider with these exporters; ``lost`` is called with the number of spans that are never sent.

    A provider made here does not shut itself down at exit, since that may take long if the collector does not answer;
    the caller has to do it.

    Raises:
        ConfigurationError: OpenTelemetry cannot use what the environment says.
    """
    from rop_otel.export.sending import CountingProcessor

    try:
        made = [CountingProcessor(partial(_span_exporter, name), lost=lost) for name in exporters]
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        for processor in made:
            provider.add_span_processor(processor)
    except Exception as error:
        raise_if_delivered(error)
        raise _unusable("tracer provider", error) from error
    return provider


def create_meters(resource: Resource, exporters: tuple[str, ...]) -> MeterProvider:
    """Make a meter provider with these exporters.

    They export every ``OTEL_METRIC_EXPORT_INTERVAL`` milliseconds, by default every 15 seconds. In a forked process it
    exports nothing: locks of its instruments may have been held, and OpenTelemetry does not free them.

    Raises:
        ConfigurationError: OpenTelemetry cannot use what the environment says.
    """
    from opentelemetry.sdk.metrics import MeterProvider

    from rop_otel.export.metric_reader import PeriodicReader

    interval = None if os.environ.get(OTEL_METRIC_EXPORT_INTERVAL, "").strip() else _EXPORT_INTERVAL_MS
    try:
        readers = [PeriodicReader(_metric_exporter(name), interval) for name in exporters]
        return MeterProvider(readers, resource=resource, shutdown_on_exit=False)
    except Exception as error:
        raise_if_delivered(error)
        raise _unusable("meter provider", error) from error


def create_logs(resource: Resource, exporters: tuple[str, ...]) -> LoggerProvider:
    """Make a logger provider with these exporters.

    Raises:
        ConfigurationError: OpenTelemetry cannot use what the environment says.
    """
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    try:
        made = [_log_exporter(name) for name in exporters]
        provider = LoggerProvider(resource=resource, shutdown_on_exit=False)
        for exporter in made:
            provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    except Exception as error:
        raise_if_delivered(error)
        raise _unusable("logger provider", error) from error
    return provider


def _unusable(what: str, error: Exception) -> ConfigurationError:
    return ConfigurationError(f"the OTEL_ environment variables make no {what}: {error}")


def _span_exporter(name: str) -> SpanExporter:
    if name == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter()
    if speaks_grpc("traces"):
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

        return GrpcExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

    return HttpExporter()


def _metric_exporter(name: str) -> MetricExporter:
    if name == "console":
        from opentelemetry.sdk.metrics.export import ConsoleMetricExporter

        return ConsoleMetricExporter()
    if speaks_grpc("metrics"):
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcExporter

        return GrpcExporter()
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpExporter

    return HttpExporter()


def _log_exporter(name: str) -> LogRecordExporter:
    if name == "console":
        from opentelemetry.sdk._logs.export import ConsoleLogRecordExporter

        return ConsoleLogRecordExporter()
    if speaks_grpc("logs"):
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcExporter

        return GrpcExporter()
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpExporter

    return HttpExporter()
