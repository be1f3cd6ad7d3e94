"""What a program is decorated with: nothing; the monitor; the monitor, switched off; a faulty monitor."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, Protocol

from opentelemetry.context import attach, detach, get_current
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracer, Tracer

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, HandoffRecord, Notice
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.runtime import Runtime
from tests.safety.fuzz.values import Nothing


class Door(Protocol):
    """Gives a program the names that it decorates and opens handoffs with."""

    def names(self) -> dict[str, Any]:
        """Return the globals of the program that are the door's."""

    def running(self) -> object:
        """Return the stage that runs here."""

    def open_count(self) -> int:
        """Return how many handoffs are open."""


class Bare:
    """No monitor: functions stay as they are, and blocks do nothing."""

    def names(self) -> dict[str, Any]:
        """Return twins that do nothing."""
        return dict(_BARE)

    def running(self) -> object:
        """Return None."""
        return None

    def open_count(self) -> int:
        """Return 0."""
        return 0


class Monitored:
    """The monitor, with a runtime of its own.

    Args:
        seed: What its settings are drawn from.
        enabled: False switches it off.
        stage: Decorates, instead of the monitor's own decorator.
    """

    def __init__(self, seed: str, *, enabled: bool = True, stage: Callable[..., Any] = rop.stage) -> None:
        draw = random.Random(f"{seed} settings")
        self._stage = stage
        self.heard = Heard()
        self.runtime = Runtime(
            Config(
                enabled=enabled,
                max_ids=draw.choice([1000, 1000, 2, 1]),
                max_open=draw.choice([10_000, 10_000, 1]),
                hash_key=draw.choice([None, None, b"key"]),
                openinference=draw.random() < 0.2,
                assess=draw.choice(["local", "local", "local", "monitor"]),
            ),
            tracer=draw.choice(_TRACERS),
            sinks=(self.heard,),
        )

    def names(self) -> dict[str, Any]:
        """Install the runtime, and return the monitor's own names."""
        runtime.install(self.runtime)
        return {**_MONITORED, "stage": self._stage}

    def running(self) -> object:
        """Return the stage that runs here."""
        return rop.current_handoff().running_stage

    def open_count(self) -> int:
        """Return how many handoffs are open."""
        return self.runtime.ledger.open_count()


class Heard:
    """A sink that counts."""

    def __init__(self) -> None:
        self.assessed_count = 0
        self.notices: Counter[Notice] = Counter()

    def assessed(self, record: HandoffRecord, assessment: Assessment, *, seconds: float) -> None:
        """Count an assessment."""
        self.assessed_count += 1

    def noticed(self, notice: Notice, *, where: str = "") -> None:
        """Count a notice."""
        self.notices[notice] += 1


def _undecorated(*_: Any, **__: Any) -> Callable[[Any], Any]:
    return lambda function: function


def _nothing(*_: Any, **__: Any) -> Nothing:
    return Nothing()


def _carrying(function: Callable[..., Any]) -> Callable[..., Any]:
    """Carry OpenTelemetry's context, which may hold something of the application's, as the monitor's function does."""
    carried = get_current()

    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        token = attach(carried)
        try:
            return function(*args, **kwargs)
        finally:
            detach(token)

    return inside


def _tracers() -> list[Tracer]:
    recording = TracerProvider(shutdown_on_exit=False)
    silent = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    return [*[provider.get_tracer(semconv.SCOPE_NAME) for provider in (recording, recording, silent)], NoOpTracer()]


_TRACERS: Final = _tracers()
_BLOCKS: Final = ("handoff", "start_handoff", "using_stage", "using_round", "current_handoff")
_BARE: Final[dict[str, Any]] = {
    **dict.fromkeys(_BLOCKS, _nothing),
    "stage": _undecorated,
    "carry_context": _carrying,
}
_MONITORED: Final[dict[str, Any]] = {name: getattr(rop, name) for name in (*_BLOCKS, "carry_context")}
