"""Which exporters the environment asks for, by OpenTelemetry's own variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal

from rop_otel.errors import ConfigurationError

Signal = Literal["traces", "metrics", "logs"]

_EXPORTER: Final = "OTEL_{signal}_EXPORTER"
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_ARGUMENT: Final = {"traces": "tracer_provider", "metrics": "meter_provider", "logs": "logger_provider"}
_KNOWN: Final = frozenset({"otlp", "console", "none"})
_SERVED: Final = "prometheus"
"""The exporter's name for metrics that are scraped: that is ``/metrics``, which has a setting of its own."""


def exporters_asked_for(signal: Signal, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the exporters of a signal that the environment asks for.

    ``OTEL_TRACES_EXPORTER`` and its like decide; without it, an OTLP endpoint asks for ``otlp``.

    Raises:
        ConfigurationError: An exporter that is none of otlp, console and none.
    """
    source = os.environ if environ is None else environ
    variable = _EXPORTER.format(signal=signal.upper())
    listed = [name for part in source.get(variable, "").split(",") if (name := part.strip())]
    for name in listed:
        if name not in _KNOWN and (signal, name) != ("metrics", _SERVED):
            known = ", ".join(sorted(_KNOWN))
            raise ConfigurationError(
                f"the environment variable {variable} asks for {name!r}; known are {known}. For another exporter,"
                f" set up a provider of your own and pass it as {_ARGUMENT[signal]}"
            )
    if listed:
        return tuple(dict.fromkeys(name for name in listed if name not in ("none", _SERVED)))
    return ("otlp",) if _first(_ENDPOINTS, signal, source) else ()


def speaks_grpc(signal: Signal) -> bool:
    """Return whether the environment asks for OTLP over gRPC; HTTP otherwise."""
    return _first(_PROTOCOLS, signal, os.environ) == "grpc"


def _first(variables: tuple[str, ...], signal: Signal, source: Mapping[str, str]) -> str:
    values = (source.get(variable.format(signal=signal.upper()), "").strip() for variable in variables)
    return next(filter(None, values), "")
