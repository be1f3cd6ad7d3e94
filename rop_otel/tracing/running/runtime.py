"""The runtime of the process: one configuration, one ledger, one tracer, and the sinks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final
from weakref import ref

from opentelemetry import trace

from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, HandoffRecord, Ids, Sink, assess
from rop_otel.core.handoff.fact import Fact
from rop_otel.core.idshape import NAME
from rop_otel.core.profile.hashing import DIGITS, hash_id, hash_label
from rop_otel.errors import ConfigurationError
from rop_otel.safety import create_lock, in_child, raise_if_delivered
from rop_otel.tracing.running.diagnostics import Diagnostics, Problem
from rop_otel.tracing.running.handoff_log import HandoffLog
from rop_otel.tracing.running.ledger import Ledger
from rop_otel.tracing.running.open_runs import RUNS, LiveRun


class Runtime:
    """The configuration, ledger, tracer and sinks that decorators and context managers use.

    Args:
        config: The configuration.
        tracer: Makes the spans; None takes that of the global tracer provider.
        sinks: Receive assessments and notices.

    Attributes:
        longest: Characters of the longest ID, label or name that is recorded.
        inherited: Whether it belongs to the process from which this one was forked. Handoffs that were begun with it go
            on in that process; here they are not reported.
    """

    __slots__ = (
        "__weakref__",
        "config",
        "diagnostics",
        "enabled",
        "inherited",
        "ledger",
        "log",
        "longest",
        "shape",
        "sinks",
        "tracer",
    )

    def __init__(self, config: Config, *, tracer: trace.Tracer | None = None, sinks: Sequence[Sink] = ()) -> None:
        self.config = config
        self.enabled = config.enabled
        self.shape = config.id_shape
        self.longest = max(self.shape.length, NAME.length, DIGITS)
        self.tracer = trace.get_tracer(semconv.SCOPE_NAME) if tracer is None else tracer
        self.sinks = tuple(sinks)
        self.diagnostics = Diagnostics(self.sinks, strict=config.strict, text=config.records_text)
        self.ledger = Ledger(max_open=config.max_open, ttl_seconds=config.ttl_seconds, notify=self.diagnostics.notice)
        self.log = HandoffLog()
        self.inherited = False
        _all.add(ref(self, _all.discard))

    def become_inherited(self) -> Runtime:
        """Take no part any more, in a forked process, and return one for that process."""
        own = Runtime(self.config, tracer=self.tracer, sinks=self.sinks)
        self.inherited = True
        self.sinks, self.diagnostics = (), Diagnostics(text=self.config.records_text)
        return own

    def hashed(self, ids: Ids) -> Ids:
        """Return IDs as they are recorded: hashed where there is a key, else as they are."""
        key = self.config.hash_key
        return ids if key is None else tuple([hash_id(key, raw) for raw in ids])

    def hashed_labels(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Return citation labels as they are recorded: with a key, those hashed that may be the ID of a document."""
        key = self.config.hash_key
        return labels if key is None else tuple([hash_label(key, label) for label in labels])

    def recorded(self, value: Any, fact: Fact) -> Any:
        """Return a value of a fact, or several, as they are recorded: with a key, hashed as its row says."""
        if fact.hashed is None or self.config.hash_key is None:
            return value
        hashed = self.hashed if fact.hashed == "id" else self.hashed_labels
        return hashed((value,))[0] if isinstance(value, str) else hashed(value)

    def assess(
        self, record: HandoffRecord, run: LiveRun | None = None, *, origins: Callable[[], str] = str
    ) -> Assessment:
        """Assess a handoff, and give the assessment to its run, the log and every sink. Exceptions are only counted.

        Args:
            record: The facts.
            run: The run that it joined when it was opened; without one, the open run that it names.
            origins: Gives where the IDs of its documents were found, in words.
        """
        start = perf_counter()
        if run is None and RUNS.open and record.run_id is not None:
            run = RUNS.of(record.run_id)
            if run is not None:
                run.started()
        try:
            declaration = None if run is None else run.declaration
            assessment = assess(record, resolver=self.config.resolver, declaration=declaration)
        except Exception as error:  # noqa: BLE001 - a failure of our own code is never the application's
            raise_if_delivered(error)
            self.diagnostics.failure(Problem.ASSESS, record.name, "the handoff could not be assessed")
            note = f"the assessment raised {type(error).__name__}"
            return Assessment(handoff_name=record.name, handoff_id=record.handoff_id, note=note)
        seconds = perf_counter() - start
        if run is not None:
            try:
                run.observed(record, assessment)
            except Exception as error:  # noqa: BLE001
                raise_if_delivered(error)
                self.diagnostics.failure(
                    Problem.RUN, run.id, "a handoff could not be counted in its run, or not be written to its journal"
                )
        try:
            self.log.write(record, assessment, origins)
        except Exception as error:  # noqa: BLE001 - a filter or handler of the application's
            raise_if_delivered(error)
            self.diagnostics.failure(Problem.SINK, "log", "the assessment could not be logged")
        for sink in self.sinks:
            try:
                sink.assessed(record, assessment, seconds=seconds)
            except Exception as error:  # noqa: BLE001
                raise_if_delivered(error)
                self.diagnostics.failure(Problem.SINK, type(sink).__name__, "a sink of assessments raised")
        return assessment


_all: Final[set[ref[Runtime]]] = set()
_lock = create_lock()
_installed: Runtime | None = None
_overruling: Runtime | None = None


def current() -> Runtime:
    """Return the process's runtime; without :func:`install`, one made from the environment, without sinks."""
    return _overruling or _installed or _default()


def install(runtime: Runtime | None) -> Runtime | None:
    """Make this the process's runtime, and return the one before it; None goes back to the environment's."""
    global _installed
    with _lock:
        before, _installed = _installed, runtime
    return before


def overrule(runtime: Runtime | None) -> Runtime | None:
    """Make this the process's runtime whatever is installed, also later, and return the one before it; None ends that.

    For tests of applications, which may configure their monitoring in the middle of one.
    """
    global _overruling
    with _lock:
        before, _overruling = _overruling, runtime
    return before


def _start_over() -> None:
    """Monitor in a forked process as in its parent, with nothing open."""
    global _installed, _overruling
    own = {each: each.become_inherited() for each in [made() for made in tuple(_all)] if each is not None}
    _installed = None if _installed is None else own[_installed]
    _overruling = None if _overruling is None else own[_overruling]


in_child(_start_over)


def _default() -> Runtime:
    global _installed
    with _lock:
        if _installed is None:
            try:
                _installed = Runtime(Config.resolve())
            except ConfigurationError as error:
                _installed = Runtime(_cautious())
                _installed.diagnostics.failure(
                    Problem.CONFIGURATION, "environment", f"a setting cannot be used: {error}"
                )
        return _installed


def _cautious() -> Config:
    """Return the defaults; only the environment's settings of monitoring on or off, and of hashing, count."""
    environ = {name: os.environ[name] for name in (semconv.ENV_DISABLED, semconv.ENV_HASH_KEY) if name in os.environ}
    try:
        return Config.resolve(environ=environ)
    except ConfigurationError:
        environ.pop(semconv.ENV_DISABLED)
        return Config.resolve(environ=environ)
