"""Set up the monitor in one call, and end it in one."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Unpack

from opentelemetry._logs import LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from rop_otel.config import Config, Given, misspelt
from rop_otel.errors import ConfigurationError
from rop_otel.export.process import EXIT_SECONDS, Process
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import current


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitoring:
    """What :func:`configure` set up.

    Args:
        config: Every setting, decided.
        metrics_host, metrics_port: Where ``/metrics`` is served; the port is None if it is not served, also because
            another program uses the port.
    """

    config: Config
    metrics_host: str
    metrics_port: int | None


_logger = logging.getLogger("rop_otel")
_process = Process()


def configure(
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    **given: Unpack[Given],
) -> Monitoring:
    """Set up the monitor. A setting that is not given comes from the environment, else it has a default.

    A second call replaces the settings and keeps the counts, unless ``max_names`` or ``max_stages`` change. If it
    raises, nothing changes. A forked process starts at 0, without ``/metrics``.

    Args:
        tracer_provider, meter_provider, logger_provider: Used instead of the process's global ones. Where there is none
            of a kind and the environment asks for an exporter of it (``OTEL_TRACES_EXPORTER``,
            ``OTEL_METRICS_EXPORTER``, ``OTEL_LOGS_EXPORTER`` or an OTLP endpoint), one is made; the tracer provider is
            set for the process.
        given: See :class:`~rop_otel.config.Given`.

    Returns:
        What was set up, with the port on which ``/metrics`` is served.

    Raises:
        ConfigurationError: A setting cannot be used; the message names it and its place. A port of ``/metrics`` that
            is taken is only logged, unless ``strict`` is set.
    """
    config = Config.resolve(**given)
    for sentence in misspelt(os.environ):
        _logger.warning(sentence)
    with _process.lock:
        _process.install(config, tracers=tracer_provider, meters=meter_provider, logs=logger_provider)
        server = _process.server
    port = None if server is None else server.port
    return Monitoring(config=config, metrics_host=config.metrics_host, metrics_port=port)


def configure_once() -> None:
    """Set up the monitor from the environment, unless the application has set it up already.

    For what may be loaded before or after the application's own :func:`configure`, whose settings stay. It raises
    nothing: where a setting cannot be used, that is logged, and handoffs are still assessed.
    """
    with _process.lock:
        if _process.is_installed:
            return
        try:
            configure()
        except ConfigurationError as error:
            current().diagnostics.failure(Problem.CONFIGURATION, "the monitor is not set up", str(error))


def shutdown(*, timeout: float = EXIT_SECONDS) -> None:
    """End the monitor: stop ``/metrics``, stop counting, and export the spans that are left.

    Args:
        timeout: Seconds to wait for the exporter, whatever the collector does.
    """
    with _process.lock:
        _process.uninstall(timeout)
