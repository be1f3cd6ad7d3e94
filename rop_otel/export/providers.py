"""Which tracer provider to work with: the one given, the one set, or one made as the environment asks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider

from rop_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_KNOWN: Final = frozenset({"otlp", "console", "none"})


def global_provider() -> TracerProvider | None:
    """Return the SDK's tracer provider that the process has set; None where there is none, or one of another make."""
    provider = trace.get_tracer_provider()
    return provider if isinstance(provider, TracerProvider) else None


def is_unset() -> bool:
    """Return whether the process has set no tracer provider at all."""
    return isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def exporters_asked_for(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the span exporters that the environment asks for.

    ``OTEL_TRACES_EXPORTER`` decides; without it, an OTLP endpoint asks for ``otlp``.

    Raises:
        ConfigurationError: An exporter that is none of otlp, console and none.
    """
    source = os.environ if environ is None else environ
    listed = [name for part in source.get(_EXPORTER, "").split(",") if (name := part.strip())]
    for name in listed:
        if name not in _KNOWN:
            known = ", ".join(sorted(_KNOWN))
            raise ConfigurationError(
                f"the environment variable {_EXPORTER} asks for {name!r}; known are {known}. For another exporter,"
                " set up a tracer provider and pass it as tracer_provider"
            )
    if listed:
        return tuple(dict.fromkeys(name for name in listed if name != "none"))
    return ("otlp",) if any(source.get(name, "").strip() for name in _ENDPOINTS) else ()


def create_provider(service_name: str | None, exporters: tuple[str, ...]) -> TracerProvider:
    """Make a tracer provider with these exporters.

    It does not shut itself down at exit, since that may take long where the collector is dead; whoever makes it does.

    Raises:
        ConfigurationError: OpenTelemetry cannot use what the environment says.
    """
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    try:
        made = [_create_exporter(name) for name in exporters]
        resource = Resource.create({SERVICE_NAME: service_name} if service_name else None)
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        for exporter in made:
            provider.add_span_processor(BatchSpanProcessor(exporter))
    except Exception as error:
        raise ConfigurationError(f"the OTEL_ environment variables make no tracer provider: {error}") from error
    return provider


def _create_exporter(name: str) -> SpanExporter:
    if name == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter()
    protocols = (os.environ.get(variable, "").strip() for variable in _PROTOCOLS)
    if next(filter(None, protocols), "") == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

        return GrpcExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

    return HttpExporter()
