"""Runs of pipelines as handoffs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, NamedTuple

from opentelemetry.context import Context

import rop_otel as rop
from rop_otel.instrumenting import (
    Settings,
    Take,
    Variables,
    current_context,
    guarded,
    make_current,
    set_variable,
    topmost,
)
from rop_otel_haystack.agents import ToolCall, calling
from rop_otel_haystack.plan import Plan, Step
from rop_otel_haystack.reading import questions_in


class Run:
    """One run of a pipeline, for the components that run in it.

    Args:
        graph: The pipeline's graph, by which it is known.
        plan: What is watched in it.
        settings: The user's.
        questions: Texts that it is run with, which are no documents.
        answers: Whether the answer is ours to report; in a handoff of the application's own it is not.
    """

    __slots__ = ("answers", "graph", "plan", "questions", "settings", "visits")

    def __init__(
        self, graph: Any, plan: Plan, settings: Settings, *, questions: Iterable[str] = (), answers: bool = False
    ) -> None:
        self.graph = graph
        self.plan = plan
        self.settings = settings
        self.questions = tuple(questions)
        self.answers = answers
        self.visits: dict[str, int] = {}

    def round_of(self, step: Step) -> int | None:
        """Count a run of a component, and return its round, None where it is none."""
        if not step.first_round:
            return None
        number = self.visits[step.name] = self.visits.get(step.name, 0) + 1
        return number if number >= step.first_round else None


running: Final[ContextVar[Run | None]] = ContextVar("rop_otel_haystack_run", default=None)
"""The run of a pipeline in which the caller is."""


class Place(NamedTuple):
    """Where a run is: what its next step has to find."""

    context: Context
    run: Run | None
    call: ToolCall | None

    @classmethod
    def here(cls) -> Place:
        """Return where the caller is."""
        return cls(current_context(), running.get(), calling.get())

    def resume(self) -> None:
        """Be there again."""
        make_current(self.context)
        set_variable(running, self.run)
        set_variable(calling, self.call)


def runs_already(pipeline: Any) -> bool:
    """Return whether this call is one that a run of the same pipeline makes of itself."""
    run = running.get()
    return run is not None and run.graph is pipeline.graph


class WatchedRun:
    """A ``with`` block around one run of a pipeline; it never raises.

    Args:
        pipeline: The pipeline.
        plan: What is watched in it.
        inputs: What it is run with.
        settings: The user's.
    """

    __slots__ = ("_before", "_call", "_handoff", "_inputs", "_pipeline", "_place", "_plan", "_settings", "_variables")

    def __init__(self, pipeline: Any, plan: Plan, inputs: Any, settings: Settings) -> None:
        self._pipeline = pipeline
        self._plan = plan
        self._inputs = inputs
        self._settings = settings
        self._handoff: topmost | None = None
        self._call = calling.get()
        self._place = ExitStack()
        self._variables = Variables()

    def __enter__(self) -> Take:
        self._before = running.get()
        try:
            self._enter()
        except BaseException as error:  # delivered; the block is never entered, so nothing else ends it
            self.__exit__(type(error), error, None)
            raise
        return self.returned

    def _enter(self) -> None:
        with guarded("Haystack pipeline", "a run of it could not be watched"):
            plan = self._plan
            if self._call is not None and (plan.sources or self._call.handoff.began):
                self._place.enter_context(self._call.inside())
            questions = self._questions()  # first of all: a handoff without its run would have no stages
            if plan.sources:
                metadata = getattr(self._pipeline, "metadata", None) or {}
                name = metadata.get("name")
                name = name if isinstance(name, str) and name else type(self._pipeline).__name__
                self._handoff = topmost(self._settings, name=name, inputs=self._inputs, metadata=metadata)
                self._handoff.__enter__()
            if rop.current_handoff().id:
                own = self._handoff is not None and self._handoff.owns
                answers = own or (self._before is not None and self._before.answers)
                run = Run(self._pipeline.graph, plan, self._settings, questions=questions, answers=answers)
                self._variables.set(running, run)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._variables.put_back()
        finally:
            try:
                if self._handoff is not None:
                    self._handoff.__exit__(kind, error, trace)
            finally:
                self._place.close()

    def returned(self, outputs: object) -> None:
        """Take in what a tool retrieves; otherwise its components report what they return."""
        if self._call is None or not self._call.watched:
            return
        with guarded("Haystack pipeline", "what it returned cannot be read"):
            self._call.found(outputs)

    def _questions(self) -> list[str]:
        return [*(() if self._before is None else self._before.questions), *questions_in(self._inputs)]
