"""Runs of pipelines as handoffs, and the components that run in them as stages."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from contextvars import ContextVar, Token, copy_context
from inspect import signature
from operator import is_
from threading import current_thread, main_thread
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from opentelemetry.context import Context

import rop_otel as rop
from rop_otel.instrumenting import (
    Settings,
    current_context,
    failure,
    kinds,
    make_current,
    raise_if_delivered,
    reset_variable,
    retrieved_outside,
    set_variable,
    topmost,
)
from rop_otel_haystack.agents import ToolCall, calling
from rop_otel_haystack.plan import Plan, Step, arm_of, plan_of, step_by_hand
from rop_otel_haystack.reading import documents_of, filled_in, handed, left_in, ranked_by, references

_UNSCORED: Final = "no score"
"""Where stages look for scores: no document has such a name, so that only those count that are told."""


class Run:
    """One run of a pipeline, for the components that run in it.

    Args:
        graph: The pipeline's graph, by which it is known.
        plan: What is watched in it.
        settings: The user's.
        cites: Whether the answer refers to documents by their number.
        answers: Whether the answer is ours to tell; in a handoff of the application's own it is not.
    """

    __slots__ = ("answers", "cites", "graph", "plan", "settings", "visits")

    def __init__(self, graph: Any, plan: Plan, settings: Settings, *, cites: bool, answers: bool) -> None:
        self.graph = graph
        self.plan = plan
        self.settings = settings
        self.cites = cites
        self.answers = answers
        self.visits: dict[str, int] = {}

    def round_of(self, step: Step) -> int | None:
        """Count a run of a component, and return its round, None where it is none."""
        if not step.first_round:
            return None
        number = self.visits[step.name] = self.visits.get(step.name, 0) + 1
        return number if number >= step.first_round else None


_run: Final[ContextVar[Run | None]] = ContextVar("rop_otel_haystack_run", default=None)


class Place(NamedTuple):
    """Where a run is: what its next step has to find."""

    context: Context
    run: Run | None
    call: ToolCall | None

    @classmethod
    def here(cls) -> Place:
        """Return where the caller is."""
        return cls(current_context(), _run.get(), calling.get())

    def resume(self) -> None:
        """Be there again."""
        make_current(self.context)
        set_variable(_run, self.run)
        set_variable(calling, self.call)


def runs_already(pipeline: Any) -> bool:
    """Return whether this call is one that a run of the same pipeline makes of itself."""
    run = _run.get()
    return run is not None and run.graph is pipeline.graph


class WatchedRun:
    """A ``with`` block around one run of a pipeline; it never raises.

    Args:
        pipeline: The pipeline.
        inputs: What it is run with.
        settings: The user's.
    """

    __slots__ = ("_before", "_call", "_handoff", "_inputs", "_pipeline", "_place", "_settings", "_token")

    def __init__(self, pipeline: Any, inputs: Any, settings: Settings) -> None:
        self._pipeline = pipeline
        self._inputs = inputs
        self._settings = settings
        self._handoff: topmost | None = None
        self._call = calling.get()
        self._place = ExitStack()
        self._token: Token[Run | None] | None = None

    def __enter__(self) -> Self:
        self._before = _run.get()
        try:
            self._enter()
        except BaseException as error:  # delivered; the block is never entered, so nothing else ends it
            self.__exit__(type(error), error, None)
            raise
        return self

    def _enter(self) -> None:
        try:
            plan = plan_of(self._pipeline, self._settings)
            if self._call is not None and (plan.retrieves or self._call.handoff.began):
                self._place.enter_context(self._call.inside())
            cites = self._cites(plan)  # first of all: a handoff without its run would have no stages
            if plan.retrieves:
                metadata = getattr(self._pipeline, "metadata", None) or {}
                name = metadata.get("name")
                name = name if isinstance(name, str) and name else type(self._pipeline).__name__
                self._handoff = topmost(self._settings, name=name, inputs=self._inputs, metadata=metadata)
                self._handoff.__enter__()
            if rop.current_handoff().id:
                own = self._handoff is not None and self._handoff.owns
                answers = own or (self._before is not None and self._before.answers)
                self._token = set_variable(
                    _run, Run(self._pipeline.graph, plan, self._settings, cites=cites, answers=answers)
                )
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure("Haystack pipeline", "a run of it could not be watched")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            reset_variable(_run, self._token)
        finally:
            try:
                if self._handoff is not None:
                    self._handoff.__exit__(kind, error, trace)
            finally:
                self._place.close()

    def returned(self, outputs: object) -> None:
        """Take in what a tool retrieves; otherwise its components tell what they return."""
        if self._call is None or not self._call.watched:
            return
        try:
            self._call.found(outputs)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure("Haystack pipeline", "what it returned cannot be read")

    def _cites(self, plan: Plan) -> bool:
        if self._before is not None and self._before.cites:
            return True
        given = self._inputs if isinstance(self._inputs, Mapping) else {}
        for name in plan.readers:
            asked = given.get(name)
            asked = asked if isinstance(asked, Mapping) else given
            pattern = getattr(self._pipeline.get_component(name), "reference_pattern", None)
            if asked.get("reference_pattern") or pattern:
                return True
        return False


_NESTED: Final = Run(
    None, Plan(steps={}, retrieves=False, readers=(), drawn_from=()), Settings(), cites=False, answers=False
)
"""Inside of a watched component, where nothing is watched but pipelines."""


def watched_step(
    component: Any, args: tuple[Any, ...], inputs: Mapping[str, Any], settings: Settings
) -> WatchedStep | None:
    """Return the block to run a component in, None where it is not watched here."""
    run, call = _run.get(), calling.get()
    try:
        if run is None or call is not None:
            return _by_hand(component, args, inputs, settings, call)
        step = run.plan.steps.get(id(component))
        return None if step is None else WatchedStep(run, step, component, inputs)
    except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
        raise_if_delivered(error)
        failure(f"Haystack component {type(component).__name__!r}", "it could not be watched")
        return None


def _by_hand(
    component: Any, args: tuple[Any, ...], inputs: Mapping[str, Any], settings: Settings, call: ToolCall | None
) -> WatchedStep | None:
    """Return the block for a component that the application runs itself, in a handoff or in the tool of an agent."""
    step = step_by_hand(component, settings)
    if step is None:
        return None
    if call is None and not rop.current_handoff().id:
        # In a bare thread nobody knows who called: components that ask several others at once do it there.
        if step.source and (current_thread() is main_thread() or len(copy_context())):
            retrieved_outside("Haystack", type(component).__name__)
        return None
    # A pipeline hands everything over by name.
    given = {**dict(zip(signature(component.run).parameters, args, strict=False)), **inputs}
    run = Run(None, _NESTED.plan, settings, cites=False, answers=False)
    return WatchedStep(run, step, component, given, call)


class WatchedStep:
    """A ``with`` block around one run of a component; it never raises.

    What the component runs inside is not watched, unless it is a pipeline: it counts once.

    Args:
        run: The run of the pipeline.
        step: What the plan says of the component.
        component: The component.
        inputs: What it is handed.
        call: The tool that runs it by hand.
    """

    __slots__ = ("_call", "_component", "_inputs", "_place", "_round", "_run", "_shown", "_stage", "_step", "_token")

    def __init__(
        self, run: Run, step: Step, component: Any, inputs: Mapping[str, Any], call: ToolCall | None = None
    ) -> None:
        self._run = run
        self._call = call
        self._place = ExitStack()
        self._step = step
        self._component = component
        self._inputs = inputs
        number = run.round_of(step)
        self._round = None if number is None else rop.using_round(number)
        self._shown = self._filled_in() if step.kind == kinds.PACKING else None
        nothing = step.kind in (None, kinds.READER) or step.arms or (step.kind == kinds.PACKING and self._shown is None)
        self._stage = None if nothing else self._made(step.name)
        self._token: Token[Run | None] | None = None

    def __enter__(self) -> Self:
        try:
            for block in (None if self._call is None else self._call.inside(), self._round, self._stage):
                if block is not None:
                    self._place.enter_context(block)
            if self._stage is not None:
                self._tell_input(self._stage)
            self._token = None if self._step.kind is None else set_variable(_run, _NESTED)
        except BaseException as error:  # of strict mode, or delivered; the block is never entered: nothing else ends it
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            reset_variable(_run, self._token)
        finally:
            self._place.__exit__(kind, error, trace)

    def _tell_input(self, stage: rop.Stage) -> None:
        try:
            lists = [self._shown] if self._shown is not None else handed(self._inputs, self._step.sockets)
            if lists:
                stage.input(*lists)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure(f"Haystack component {self._step.name!r}", "what it is handed cannot be read")

    def returned(self, outputs: object) -> None:
        """Take in what the component returned."""
        try:
            if self._step.kind == kinds.READER and self._run.answers:
                self._answered(outputs)
            elif self._stage is not None:
                self._returned(self._stage, outputs)
            elif self._step.arms and isinstance(outputs, Mapping):
                self._parted(outputs)
            if self._call is not None:
                self._call.found(outputs)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure(f"Haystack component {self._step.name!r}", "what it returned cannot be read")

    def _made(self, name: str) -> rop.Stage:
        step = self._step
        return rop.using_stage(
            str(step.kind),
            name=name,
            source=step.source,
            fed_by=step.fed_by,
            id=self._run.settings.id,
            score=_UNSCORED,
            implementation=type(self._component).__name__,
        )

    def _filled_in(self) -> list[Any] | None:
        """Return the documents in the prompt, None where it is a prompt without documents."""
        found = filled_in(self._inputs)
        return [] if found is None and any(self._inputs.get(each) == [] for each in self._step.sockets) else found

    def _returned(self, stage: rop.Stage, outputs: object) -> None:
        if self._shown is not None:
            shown = left_in(self._shown, outputs)
            # Templates number what they show from 1; where they leave out documents before others, nobody knows how.
            known = self._run.cites and all(map(is_, shown, self._shown))
            labels = [str(number) for number, _ in enumerate(shown, 1)] if known else None
            stage.returned(shown, labels=labels)
        elif isinstance(documents := documents_of(outputs), list):
            self._listed(stage, documents)

    def _parted(self, outputs: Mapping[str, Any]) -> None:
        """Tell each list that goes on as a stage, first those that are empty: what comes next takes another one."""
        lists = {arm: outputs.get(arm) for arm in self._step.arms}
        for arm, documents in sorted(lists.items(), key=lambda each: bool(each[1])):
            with self._made(arm_of(self._step.name, arm)) as stage:
                self._tell_input(stage)
                self._listed(stage, documents if isinstance(documents, list) else [])

    def _listed(self, stage: rop.Stage, documents: list[Any]) -> None:
        # The best document may go another way behind a router: its outputs have scores, and what comes before it none.
        stage.returned(documents, scores=None if self._step.parted else ranked_by(documents))

    def _answered(self, outputs: object) -> None:
        """Tell the sources and citations of an answer: by Haystack's rule references are places in ``documents``."""
        documents = self._inputs.get("documents")
        citations = references(self._component, self._inputs, outputs)
        labels = None if citations is None or documents is None else [str(n) for n, _ in enumerate(documents, 1)]
        rop.current_handoff().answered("", sources=documents, labels=labels, citations=citations)
