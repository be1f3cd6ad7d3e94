"""The monitor of this process. There is one, since OpenTelemetry keeps every provider and observable for ever."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable
from weakref import WeakKeyDictionary, WeakSet

from opentelemetry import metrics, trace
from opentelemetry._logs import LoggerProvider, get_logger_provider
from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
from opentelemetry.trace import TracerProvider

from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff.sink import Notice, Sink
from rop_otel.errors import ConfigurationError
from rop_otel.export import providers
from rop_otel.export.background_caller import BackgroundCaller
from rop_otel.export.own_providers import OwnProviders
from rop_otel.export.processor import RopSpanProcessor
from rop_otel.meters.events import Events
from rop_otel.meters.instruments import Recorder, observe
from rop_otel.meters.tally import Tally
from rop_otel.safety import catch_up, create_lock, in_child
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.open_runs import RUNS
from rop_otel.tracing.running.runtime import Runtime, current, install

if TYPE_CHECKING:
    from rop_otel.export.prometheus import MetricsServer

_logger = logging.getLogger("rop_otel")
EXIT_SECONDS: Final = 4.0
"""Seconds for which the end of the process waits, with those of a shutdown() that an exporter still has not ended. It
is less than the five seconds that leaving may take, since Python itself takes a part of these."""


@runtime_checkable
class _Flushable(Protocol):
    """A provider of the SDK, of any signal."""

    def force_flush(self) -> bool:
        """Export what there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Providers:
    """Where telemetry goes; no tracer provider: the global one, whichever that is then."""

    tracers: TracerProvider | None
    meters: MeterProvider
    logs: LoggerProvider


class Process:
    """The monitor of this process. Its methods are called with :attr:`lock` held."""

    def __init__(self) -> None:
        self.lock = create_lock()
        self.server: MetricsServer | None = None
        self._address: tuple[str, int] | None = None
        self._runtime: Runtime | None = None
        self._providers = _Providers(tracers=None, meters=metrics.get_meter_provider(), logs=get_logger_provider())
        self._tally: Tally | None = None
        self._caps: tuple[int, int] | None = None
        self._flushed: SdkTracerProvider | None = None
        self._own = OwnProviders()
        self._caller: BackgroundCaller | None = None
        self._processors: WeakKeyDictionary[SdkTracerProvider, RopSpanProcessor] = WeakKeyDictionary()
        self._observed: WeakSet[MeterProvider] = WeakSet()
        self._ends = False
        self._hooks = 0

    @property
    def is_installed(self) -> bool:
        """Whether this process is set up, be it to do nothing."""
        return self._runtime is not None

    def install(
        self,
        config: Config,
        *,
        tracers: TracerProvider | None,
        meters: MeterProvider | None,
        logs: LoggerProvider | None,
    ) -> None:
        """Monitor with this configuration from now on; nothing changes where this raises.

        Raises:
            ConfigurationError: The environment asks for an exporter that cannot be made; in strict mode also where
                ``/metrics`` cannot be served there.
        """
        server, address = self._serve(config)
        try:
            self._make_missing(config, tracers=tracers is None, meters=meters is None, logs=logs is None)
        except BaseException:
            if server is not None and server is not self.server:
                server.stop()
            raise
        provider = self._provider(tracers) if config.enabled else None
        replaced = self.server
        self.server, self._address, self._flushed = server, address, provider
        if replaced is not None and replaced is not server:
            replaced.stop()
        self._providers = _Providers(
            tracers=provider or tracers,
            meters=meters or self._own.meters or metrics.get_meter_provider(),
            logs=logs or self._own.logs or get_logger_provider(),
        )
        self._use(config, self._providers)
        if provider is not None and provider not in self._processors:
            self._processors[provider] = RopSpanProcessor(lambda: self._runtime)
            provider.add_span_processor(self._processors[provider])
        self._hook()

    def uninstall(self, timeout: float) -> None:
        """Monitor no more, and wait for at most this many seconds for the spans that are left."""
        ended = self._runtime
        if ended is None:
            return
        catch_up()
        install(Runtime(ended.config, tracer=ended.tracer))  # who works on still hashes IDs, or stays switched off
        server, provider, through = self.server, self._flushed, self._providers
        self.server = self._address = None
        if server is not None:
            server.stop()
        flushes = [
            each.force_flush for each in (through.meters, through.logs, provider) if isinstance(each, _Flushable)
        ]
        if flushes:
            self._bounded(flushes, timeout)
        if self._runtime is ended:  # no signal handler has configured anew
            self._runtime = self._tally = self._flushed = None

    def _serve(self, config: Config) -> tuple[MetricsServer | None, tuple[str, int] | None]:
        """Return the server that the configuration asks for: the running one, where its address was asked for too.

        Where the address cannot be listened on, as in the second of two processes, the running one or none goes on:
        no application is kept from starting by its metrics, unless it is strict.
        """
        if not config.enabled or config.metrics_port is None:
            return None, None
        address = (config.metrics_host, config.metrics_port)
        if self.server is not None and address == self._address:
            return self.server, address
        from rop_otel.export.prometheus import MetricsServer  # an HTTP server, which few imports of this need

        try:
            return MetricsServer(lambda: self._tally, host=config.metrics_host, port=config.metrics_port), address
        except ConfigurationError as error:
            if config.strict:
                raise
            _logger.warning("%s", error)
            return self.server, self._address

    def _make_missing(self, config: Config, *, tracers: bool, meters: bool, logs: bool) -> None:
        """Make the providers that were not given, that nobody has set, and that the environment asks for."""
        if not config.enabled:
            return
        before = self._own
        self._own = before.with_missing(
            config.service_name, lost=self._unsent, tracers=tracers, meters=meters, logs=logs
        )
        if self._own is before:
            return
        self._caller = self._caller or BackgroundCaller()
        if self._own.tracers is not None and self._own.tracers is not before.tracers:
            trace.set_tracer_provider(self._own.tracers)

    @staticmethod
    def _provider(given: TracerProvider | None) -> SdkTracerProvider | None:
        if given is not None:
            return given if isinstance(given, SdkTracerProvider) else None
        return providers.global_provider()

    def _use(self, config: Config, through: _Providers) -> None:
        sinks: tuple[Sink, ...] = ()
        if config.enabled:
            tally = self._take_tally(config)
            meter = through.meters.get_meter(semconv.SCOPE_NAME)
            if through.meters not in self._observed:
                self._observed.add(through.meters)
                observe(meter, lambda: self._tally)
            sinks = (tally, Recorder(meter, names=tally.names, kinds=tally.kinds), Events(through.logs))
        else:
            self._tally = None
        tracer = None if through.tracers is None else through.tracers.get_tracer(semconv.SCOPE_NAME)
        runtime: Runtime | None = Runtime(config, tracer=tracer, sinks=sinks)
        self._runtime = runtime
        install(runtime)
        while self._runtime is not runtime:  # a signal handler has configured or shut down meanwhile
            runtime = self._runtime
            install(runtime)

    def _take_tally(self, config: Config) -> Tally:
        """Return the tally, a new one where there is none or its caps have changed."""
        caps = (config.max_names, config.max_stages)
        if self._tally is None or self._caps != caps:
            self._caps = caps
            self._tally = Tally(
                max_names=config.max_names,
                max_stages=config.max_stages,
                open_count=lambda: current().ledger.open_count(),
                runs=RUNS.standings,
                places=Problem,
            )
        return self._tally

    def _unsent(self, number: int) -> None:
        """Count spans that will never be sent; called from any thread, without the lock."""
        runtime = self._runtime
        if runtime is not None:
            for _ in range(number):
                runtime.diagnostics.notice(Notice.UNSENT)

    def _bounded(self, calls: Sequence[Callable[[], object]], timeout: float) -> None:
        self._caller = self._caller or BackgroundCaller()
        if not self._caller.call(*calls, timeout=timeout):
            _logger.warning("the exporters took longer than %s s; what they still hold may be lost", round(timeout, 1))

    def _hook(self) -> None:
        """Register for the end of the process and, after OpenTelemetry, for forks: its hooks free providers' locks."""
        if not self._ends:
            self._ends = True
            atexit.register(self._at_exit)
        self._hooks += 1
        in_child(partial(self._after_fork, self._hooks))

    def _at_exit(self) -> None:
        catch_up()
        own, self._own = self._own, OwnProviders()
        left = EXIT_SECONDS - (self._caller.waited() if self._caller else 0.0)
        if own != OwnProviders() and left > 0:
            self._bounded(own.shutdowns(), left)

    def _after_fork(self, hook: int) -> None:
        """Start over in a forked process: nothing counted, no port, own exporters."""
        if hook != self._hooks:
            return
        if self.server is not None:
            self.server.abandon()
        self.server = self._address = self._tally = None
        before, self._own = self._own, OwnProviders(tracers=self._own.tracers)
        self._caller = None if before == OwnProviders() else BackgroundCaller()
        if self._runtime is not None:
            self._make_again(before, self._runtime.config)
            self._use(self._runtime.config, self._providers)

    def _make_again(self, before: OwnProviders, config: Config) -> None:
        """Make the own providers anew that a process has inherited; its tracers only have other exporters by now."""
        try:
            self._own = self._own.with_missing(
                config.service_name,
                lost=self._unsent,
                tracers=False,
                meters=before.meters is not None,
                logs=before.logs is not None,
            )
        except ConfigurationError as error:
            current().diagnostics.failure(Problem.CONFIGURATION, "a forked process has no exporters", str(error))
        through = self._providers
        if through.meters is before.meters:
            self._providers = replace(self._providers, meters=self._own.meters or metrics.get_meter_provider())
        if through.logs is before.logs:
            self._providers = replace(self._providers, logs=self._own.logs or get_logger_provider())
