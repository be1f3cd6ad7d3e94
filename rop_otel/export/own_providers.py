"""The providers that this process made because the environment asks for exporters and the application has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opentelemetry import metrics
from opentelemetry._logs import get_logger_provider
from opentelemetry.sdk.trace import TracerProvider

from rop_otel.export import providers
from rop_otel.export.exporter_settings import exporters_asked_for

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnProviders:
    """Providers of our own; None where the application has its own, or the environment asks for no exporter.

    The tracer provider becomes the process's, so that the application's spans and ours are in one trace. The others
    serve the monitor only, and leave the process's unset.
    """

    tracers: TracerProvider | None = None
    meters: MeterProvider | None = None
    logs: LoggerProvider | None = None

    def with_missing(
        self, service_name: str | None, *, lost: Callable[[int], None], tracers: bool, meters: bool, logs: bool
    ) -> OwnProviders:
        """Return these and the ones that are wanted, asked for by the environment, and nobody's yet.

        Args:
            service_name: Name of the service in what is exported.
            lost: Called with the number of spans that will never be sent.
            tracers, meters, logs: Which are wanted, because none was given.

        Raises:
            ConfigurationError: The environment asks for an exporter that cannot be made.
        """
        meters = meters and self.meters is None and _is_the_apis(metrics.get_meter_provider())
        logs = logs and self.logs is None and _is_the_apis(get_logger_provider())
        spans = exporters_asked_for("traces") if tracers and providers.is_unset() else ()
        numbers = exporters_asked_for("metrics") if meters else ()
        events = exporters_asked_for("logs") if logs else ()
        if not (spans or numbers or events):
            return self
        resource = self._resource(service_name)
        return OwnProviders(
            tracers=providers.create_tracers(resource, spans, lost=lost) if spans else self.tracers,
            meters=providers.create_meters(resource, numbers) if numbers else self.meters,
            logs=providers.create_logs(resource, events) if events else self.logs,
        )

    def shutdowns(self) -> list[Callable[[], object]]:
        """Return what exports what is left of each signal and ends it; each may take long."""
        return [provider.shutdown for provider in (self.meters, self.logs, self.tracers) if provider is not None]

    def _resource(self, service_name: str | None) -> Resource:
        """Return the origin that the application's own spans name, so that all signals agree."""
        tracers = self.tracers or providers.global_provider()
        return providers.create_resource(service_name) if tracers is None else tracers.resource


def _is_the_apis(provider: object) -> bool:
    """Return whether nobody has set a provider: the API then gives one of its own, which does nothing.

    Its module shows this; importing the SDK's metrics to compare classes would be slow.
    """
    return type(provider).__module__.startswith(("opentelemetry.metrics.", "opentelemetry._logs."))
