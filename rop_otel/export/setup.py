"""Set up the monitor in one call, and end it in one.

Long because each setting is an argument of its own: named, described and passed on.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opentelemetry._logs import LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from rop_otel.config import Assess, Config, misspelt
from rop_otel.core.profile.resolver import Resolver
from rop_otel.errors import ConfigurationError
from rop_otel.export.process import Process
from rop_otel.tracing.mishaps import Mishap
from rop_otel.tracing.runtime import current


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitoring:
    """What :func:`configure` set up.

    Args:
        config: Every setting, decided.
        metrics_host, metrics_port: Where ``/metrics`` is served; the port is None where it is not.
    """

    config: Config
    metrics_host: str
    metrics_port: int | None


_logger = logging.getLogger("rop_otel")
_process = Process()


def configure(
    *,
    enabled: bool | None = None,
    service_name: str | None = None,
    metrics_host: str | None = None,
    metrics_port: int | None = None,
    resolver: Resolver | str | os.PathLike[str] | None = None,
    assess: Assess | None = None,
    strict: bool | None = None,
    hash_key: bytes | str | None = None,
    max_ids: int | None = None,
    max_id_length: int | None = None,
    max_id_words: int | None = None,
    id_line_breaks: bool | None = None,
    capture_text: bool | None = None,
    max_open: int | None = None,
    ttl_seconds: float | None = None,
    max_names: int | None = None,
    max_stages: int | None = None,
    citation_pattern: re.Pattern[str] | str | None = None,
    baggage_hosts: str | Sequence[str] | None = None,
    openinference: bool | None = None,
    id_keys: str | Sequence[str] | None = None,
    foreign_stages: str | Mapping[str, str] | None = None,
    foreign_handoffs: str | Sequence[str] | None = None,
    foreign_selected: str | None = None,
    foreign_labels: str | None = None,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
) -> Monitoring:
    """Set up the monitor. A setting that is not given comes from the environment, else it has a default.

    Called again, it replaces the settings; what was counted so far stays, unless ``max_names`` or ``max_stages``
    change. Nothing changes where it raises. A forked process goes on from 0, without ``/metrics``.

    Args:
        enabled: False switches everything to no-ops (``ROP_OTEL_DISABLED``).
        service_name: Name of the service, where a tracer provider has to be made (``OTEL_SERVICE_NAME``).
        metrics_host: Address on which ``/metrics`` listens; loopback by default.
        metrics_port: Port of ``/metrics``, 0 for any free one; without one it is not served.
        resolver: The resolver in force, or its file.
        assess: ``local``, or ``monitor`` where a service assesses.
        strict: True raises on misuse, for tests.
        hash_key: Key with which IDs are hashed before they are recorded.
        max_ids: IDs recorded of each list.
        max_id_length: Characters of a string that still counts as an ID; a longer one is text, and never recorded.
        max_id_words: Words of such a string.
        id_line_breaks: Whether it may have line breaks.
        capture_text: Whether messages and stack traces of exceptions, which may hold text, are recorded and logged.
        max_open: Handoffs open at one time.
        ttl_seconds: After this time an open handoff counts as abandoned.
        max_names, max_stages: Handoff names and stage kinds that metrics tell apart.
        citation_pattern: How a citation is written in an answer.
        baggage_hosts: Hosts to which a selection may be sent as baggage.
        openinference: True writes OpenInference's attributes too, for viewers that know those.
        id_keys: In spans of other conventions: keys of a document's metadata, the first present of which is its ID.
        foreign_stages: Patterns of the names of such spans, each with the kind of the stage that such a span is.
        foreign_handoffs: Patterns of the names of such spans that are handoffs; by default the topmost one is.
        foreign_selected: Attribute of the span that is a handoff that holds what was selected.
        foreign_labels: Attribute of such a stage's span that holds the labels of what it returned.
        tracer_provider, meter_provider, logger_provider: Used instead of the process's global ones. Where there is none
            of a kind and the environment asks for an exporter of it (``OTEL_TRACES_EXPORTER``,
            ``OTEL_METRICS_EXPORTER``, ``OTEL_LOGS_EXPORTER`` or an OTLP endpoint), one is made; the tracer provider is
            set for the process.

    Returns:
        What was set up, with the port on which ``/metrics`` is served.

    Raises:
        ConfigurationError: A setting cannot be used; the message names it and its place.
    """
    config = Config.resolve(
        enabled=enabled,
        service_name=service_name,
        metrics_host=metrics_host,
        metrics_port=metrics_port,
        resolver=resolver,
        assess=assess,
        strict=strict,
        hash_key=hash_key,
        max_ids=max_ids,
        max_id_length=max_id_length,
        max_id_words=max_id_words,
        id_line_breaks=id_line_breaks,
        capture_text=capture_text,
        max_open=max_open,
        ttl_seconds=ttl_seconds,
        max_names=max_names,
        max_stages=max_stages,
        citation_pattern=citation_pattern,
        baggage_hosts=baggage_hosts,
        openinference=openinference,
        id_keys=id_keys,
        foreign_stages=foreign_stages,
        foreign_handoffs=foreign_handoffs,
        foreign_selected=foreign_selected,
        foreign_labels=foreign_labels,
    )
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
    nothing: where a setting cannot be used, or the port is taken, that is logged, and handoffs are still assessed.
    """
    with _process.lock:
        if _process.is_installed:
            return
        try:
            configure()
        except ConfigurationError as error:
            current().mishaps.failure(Mishap.CONFIGURATION, "the monitor is not set up", str(error))


def shutdown(*, timeout: float = 5.0) -> None:
    """End the monitor: stop ``/metrics``, count no more, and export what is left.

    Args:
        timeout: Seconds to wait for the exporter, whatever the collector does.
    """
    with _process.lock:
        _process.uninstall(timeout)
