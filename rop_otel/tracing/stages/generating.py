"""Stages that yield their documents one by one.

The stage is current while its generator works and never while its consumer does: the context is put back at each
``yield``. So a consumer's spans have the right parent, and a generator that is left half-way, or closed by the garbage
collector in another task, leaves nothing behind.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from rop_otel.tracing.position.context_position import current_context, make_current
from rop_otel.tracing.results.result_reader import UNREADABLE, Reading
from rop_otel.tracing.running.runtime import Runtime
from rop_otel.tracing.stages.importlib_bootstrap.called import Handing
from rop_otel.tracing.stages.live_stage import LiveStage


class Yielded:
    """A stage, and the IDs, scores and scopes of what its generator has yielded so far, without the documents.

    Args:
        calls: The decorated function.
        runtime: What to work with.
        args: What the function is called with.
        kwargs: Likewise.
    """

    __slots__ = ("_bare", "_calls", "_handed", "_ids", "_limit", "_scopes", "_scores", "_stage", "_total")

    def __init__(self, calls: Handing, runtime: Runtime, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._stage = LiveStage(calls.spec, runtime)
        self._calls = calls
        self._handed: tuple[tuple[Any, ...], dict[str, Any]] | None = args, kwargs
        self._limit = runtime.config.max_ids
        self._total = 0
        self._bare = True
        self._ids: list[str] = []
        self._scores: list[float] = []
        self._scopes: list[str] = []

    def begin(self) -> None:
        """Start the stage, with the first step."""
        self._stage._start_here()
        handed, self._handed = self._handed, None
        if handed is not None:
            self._calls.report_input(self._stage, *handed)

    def step(self) -> Step:
        """Return the block in which the stage is current."""
        return Step(self._stage)

    def add(self, item: object) -> None:
        """Take in one document."""
        self._total += 1
        if self._total > self._limit or not self._stage._wanted:
            return
        self._bare = self._bare and type(item) is str
        raw, score, scope = self._stage._spec.results.read_one(item)
        self._ids.append(raw)
        self._scopes.append(scope)
        if score is not None:
            self._scores.append(score)

    def end(self, error: BaseException | None = None) -> None:
        """End the stage with what was yielded so far."""
        self._stage._end(self._reading(), error)

    def _reading(self) -> Reading:
        """Return what a list of the same documents would have given."""
        if self._ids and not any(self._ids):
            return UNREADABLE
        return Reading(
            tuple(self._ids),
            tuple(self._scores) if self._ids and len(self._scores) == len(self._ids) else None,
            tuple(self._scopes) if any(self._scopes) else None,
            self._total if self._total > self._limit else None,
            self._bare and bool(self._ids),
        )


class Step:
    """Makes a stage current while its generator works, and keeps what that made current for the next step.

    Args:
        stage: The stage.
    """

    __slots__ = ("_before", "_stage")

    def __init__(self, stage: LiveStage) -> None:
        self._stage = stage

    def __enter__(self) -> None:
        self._before = current_context()
        try:
            make_current(self._stage._context)
        except BaseException:  # delivered; the block is never entered
            make_current(self._before)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._stage._context = current_context()
            make_current(self._before)
        except BaseException:  # delivered in the middle
            make_current(self._before)
            raise
