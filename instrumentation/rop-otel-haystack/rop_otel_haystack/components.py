"""The components that run in a handoff, as stages of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from contextvars import ContextVar, copy_context
from dataclasses import replace
from functools import partial
from inspect import signature
from threading import current_thread, main_thread
from types import TracebackType
from typing import Any, Final

import rop_otel as rop
from rop_otel.instrumenting import (
    Kind,
    Settings,
    Take,
    Variables,
    current_context,
    guarded,
    kinds,
    moment,
    retrieved_outside,
    stage_of,
    using_context,
)
from rop_otel_haystack.agents import AgentRun, ToolCall, asking, calling, within
from rop_otel_haystack.kinds import ASKED, ASKS, MADE, has_references
from rop_otel_haystack.lending import Inside, lending, lent_to
from rop_otel_haystack.one_prompt import Prompt
from rop_otel_haystack.plan import Plan, Step, arm_of, step_by_hand
from rop_otel_haystack.reader_prompts import UNSCORED, Prompts
from rop_otel_haystack.reading import (
    asked_with,
    documents_of,
    extracted,
    fallen_back,
    filled_in,
    handed,
    prompt_in,
    questions_in,
    ranked_by,
    references,
    replies_in,
    said_beside,
    texts_in,
)
from rop_otel_haystack.runs import Run, running

_around: Final[ContextVar[Inside | None]] = ContextVar("rop_otel_haystack_around", default=None)
"""The component that runs others here."""

_active: Final[ContextVar[frozenset[tuple[str, int]] | None]] = ContextVar("rop_otel_haystack_active", default=None)
"""Components that run here, each with its handoff: one may run itself in another way.

What an interruption leaves set is none of the next handoff, and so is harmless there.
"""

_PROMPTS: Final = (None, kinds.PACKING)
"""Kinds of components that are no stages where they run: their prompts are."""

_NESTED: Final = Run(None, Plan(steps={}, nodes={}, sources=frozenset(), readers=(), drawn_from=()), Settings())
"""Inside of a model, where nothing is watched but pipelines."""


def watched_step(
    component: Any, args: tuple[Any, ...], inputs: Mapping[str, Any], settings: Settings
) -> WatchedStep | None:
    """Return the block to run a component in, None where it is not watched here."""
    run, call, agent = running.get(), calling.get(), asking()
    if (rop.current_handoff().id, id(component)) in (_active.get() or ()):
        return None
    if run is None or call is not None or (agent is not None and run is not _NESTED):
        return _by_hand(component, args, inputs, settings, call)
    step = run.plan.steps.get(id(component))
    if step is not None:
        return WatchedStep(run, step, component, inputs)
    # What a component that is no stage runs itself is run by hand.
    unknown = run is not _NESTED and id(component) not in run.plan.nodes
    return _by_hand(component, args, inputs, settings, call) if unknown else None


def _outer_of(around: Inside | None) -> Inside | None:
    """Return the component around, unless it is one of another handoff."""
    return around if around is not None and around.handoff == rop.current_handoff().id else None


def _by_hand(
    component: Any, args: tuple[Any, ...], inputs: Mapping[str, Any], settings: Settings, call: ToolCall | None
) -> WatchedStep | None:
    """Return the block for a component that no pipeline runs: in a handoff, an agent, or one of its tools."""
    step = step_by_hand(component, settings)
    if step is None or (call is not None and step.kind in _PROMPTS and not call.watched):
        return None
    lent = None
    if call is None and not rop.current_handoff().id:
        # Components that ask several others at once do it in threads where nobody knows who called.
        elsewhere = current_thread() is not main_thread()
        places = lent_to(component) if elsewhere else ()
        if len(places) != 1:
            if step.source and not places and not (elsewhere and len(copy_context()) == 0):
                retrieved_outside("Haystack", type(component).__name__)
            return None
        (lent,) = places
    # A pipeline hands everything over by name.
    given = {**dict(zip(signature(component.run).parameters, args, strict=False)), **inputs}
    agent, run = asking(), running.get()
    if agent is not None and call is None:
        name = None if run is None else run.plan.nodes.get(agent.identity)
        if run is not None and name is not None:  # a component of the pipeline, which asks in its place
            return WatchedStep(run, replace(step, name=name), component, given, agent=agent)
    return WatchedStep(Run(None, _NESTED.plan, settings), step, component, given, call=call, agent=agent, lent=lent)


class WatchedStep:
    """A ``with`` block around one run of a component; it never raises.

    Args:
        run: The run of the pipeline.
        step: What the plan says of the component.
        component: The component.
        inputs: What it is handed.
        call: The tool that runs it by hand.
        agent: The agent that asks this model.
        lent: Where the component is that runs it in a bare thread.
    """

    __slots__ = (
        "_agent",
        "_before",
        "_began",
        "_call",
        "_component",
        "_context",
        "_handoff",
        "_inputs",
        "_lent",
        "_number",
        "_outer",
        "_place",
        "_round",
        "_run",
        "_stage",
        "_step",
        "_variables",
    )

    def __init__(
        self,
        run: Run,
        step: Step,
        component: Any,
        inputs: Mapping[str, Any],
        *,
        call: ToolCall | None = None,
        agent: AgentRun | None = None,
        lent: Inside | None = None,
    ) -> None:
        self._run = run
        self._call = call
        self._agent = agent
        self._place = ExitStack()
        self._step = step
        self._component = component
        self._inputs = inputs
        self._number = run.round_of(step)
        self._round = None if self._number is None else rop.using_round(self._number)
        packs = step.kind == kinds.PACKING and step.prompt == MADE
        nothing = step.kind in (None, kinds.READER) or step.arms or packs
        self._stage = None if nothing else self._made(step.name)
        self._lent = lent
        self._outer = _outer_of(_around.get()) if lent is None else lent
        self._before = 0
        self._handoff = rop.current_handoff()
        self._variables = Variables()

    def __enter__(self) -> Take:
        step, call = self._step, self._call
        try:
            inside = None if call is None else call.round() if step.kind in _PROMPTS else call.inside()
            there = None if self._lent is None else using_context(self._lent.context)
            for block in (there, inside, self._round, self._stage):
                if block is not None:
                    self._place.enter_context(block)
            handoff = self._handoff = rop.current_handoff()
            if self._stage is not None:
                self._report_input(self._stage)
                name = type(self._component).__name__
                inside_it = Inside(current_context(), self._stage, name, handoff.id)
                self._variables.set(_around, inside_it)
                self._place.enter_context(lending(self._component, inside_it))
            here = (handoff.id, id(self._component))
            self._variables.set(_active, (_active.get() or frozenset()) | {here})
            self._context = current_context()
            self._began = moment(handoff)
            self._before = self._prompts().number
            if step.kind is not None or step.prompt is not None:
                # What a component runs by itself is in it; what a model asks is its own business.
                within_it = _NESTED if step.prompt == ASKED else None
                self._variables.set(running, within_it)
        except BaseException as error:  # of strict mode, or delivered; the block is never entered: nothing else ends it
            self.__exit__(type(error), error, None)
            raise
        return self.returned

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._variables.put_back()
            if error is not None:
                self._failed(error)
        finally:
            self._place.__exit__(kind, error, trace)

    def _failed(self, error: BaseException) -> None:
        """Take in that a component raised: a prompt that could not be made was packed, but nobody was asked with it."""
        with guarded(f"Haystack component {self._step.name!r}", "its exception cannot be recorded"):
            if self._outer is not None:  # a stage that goes on without it has something to fall back to
                self._outer.stage.implementation(self._outer.implementation, fallback=True)
            elif self._step.prompt == ASKED and self._inputs.get("streaming_callback") is None:
                self._prompted(None, error)  # where it streams, it may have replied
            elif self._step.kind == kinds.PACKING and self._stage is None and self._filled_in() is not None:
                stage = self._made(self._step.name)
                stage.__enter__()
                stage.__exit__(type(error), error, None)

    def _prompts(self) -> Prompts:
        return Prompts.of(self._handoff, self._run.settings)

    def _report_input(self, stage: rop.Stage) -> None:
        with guarded(f"Haystack component {self._step.name!r}", "what it is handed cannot be read"):
            lists = handed(self._inputs, self._step.sockets)
            if lists and not self._step.behind:  # the rounds before are no input, and hide nothing from it
                stage.input(*lists)

    def returned(self, outputs: object) -> None:
        """Take in what the component returned."""
        with guarded(f"Haystack component {self._step.name!r}", "what it returned cannot be read"):
            if self._step.kind == kinds.READER and self._run.answers:
                self._answered(outputs)
            if self._step.prompt is not None and self._outer is None:
                self._prompted(outputs)
            if self._stage is not None:
                self._returned(self._stage, outputs)
            elif self._step.arms and isinstance(outputs, Mapping):
                self._parted(outputs)
            if self._call is not None:
                self._call.found(outputs)

    def _made(self, name: str) -> rop.Stage:
        step = self._step
        kind = Kind(str(step.kind), step.source, name)
        return stage_of(self._run.settings, kind, self._component, fed_by=step.fed_by, score=UNSCORED)

    def _filled_in(self) -> list[Any] | None:
        """Return the documents that a prompt is made of, None where it is one without documents."""
        found = filled_in(self._inputs)
        return [] if found is None and any(self._inputs.get(each) == [] for each in self._step.sockets) else found

    def _returned(self, stage: rop.Stage, outputs: object) -> None:
        if isinstance(documents := documents_of(outputs), list):
            self._listed(stage, documents, self._step.name)

    def _parted(self, outputs: Mapping[str, Any]) -> None:
        """Report each list that goes on as a stage: a way that is not taken is no loss.

        Where none is taken, one that is empty stands for all; but in a loop something else goes on then: a question.
        """
        lists = {arm: outputs.get(arm) for arm in self._step.arms}
        taken = {arm: documents for arm, documents in lists.items() if documents}
        nothing = {} if self._step.first_round else dict([*lists.items()][:1])
        for arm, documents in (taken or nothing).items():
            name = arm_of(self._step.name, arm)
            with self._made(name) as stage:
                self._report_input(stage)
                self._listed(stage, documents if isinstance(documents, list) else [], name)

    def _listed(self, stage: rop.Stage, documents: list[Any], name: str) -> None:
        if self._outer is None:
            self._prompts().took(self._run if self._run.graph is not None else None, self._step, documents, name=name)
        # The best document may go another way behind a router: its outputs have scores, and what comes before it none.
        stage.returned(documents, scores=None if self._step.parted else ranked_by(documents))

    def _prompted(self, outputs: object, error: BaseException | None = None) -> None:
        """Take in a prompt that was made, or that a model was asked with, which may have raised."""
        step, inputs, prompts, run = self._step, self._inputs, self._prompts(), self._run
        made = outputs.get("prompt") if step.prompt == MADE and isinstance(outputs, Mapping) else None
        found = prompt_in(made if step.prompt == MADE else asked_with(inputs))
        if found is None or prompts.number > self._before:  # what runs in a model asks in its place
            return
        documents = self._filled_in() if self._agent is None else self._agent.handed()
        prompts.add(
            Prompt(
                texts=tuple(found[0]),
                text="\n".join(found[0]),
                pictures=found[1],
                what=step.prompt or MADE,
                node=step.name,
                name=step.name,
                implementation=type(self._component).__name__,
                fallback=fallen_back(outputs),
                fed_by=step.fed_by,
                behind=step.behind,
                graph=run.graph,
                run=run if run.graph is not None else None,
                within=self._agent or within.get(),
                context=self._context,
                times=(self._began, moment(self._handoff)),
                round=self._number,
                lists=() if documents is None else (documents,),
                beside=(*run.questions, *self._beside(), *said_beside(self._component, documents)),
                given=tuple(text for value in inputs.values() for text in texts_in(value)),
                replies=tuple(replies_in(outputs)),
                error=error,
                asks_for_more=run.graph is None or step.name in run.plan.before_sources,
                at_hand=tuple(prompts.at_hand.values()),
                sources=prompts.sources,
            )
        )

    def _beside(self) -> list[str]:
        """Return the texts that a prompt is made of beside documents: a question, a history."""
        inputs = {name: value for name, value in self._inputs.items() if self._step.prompt == MADE or name not in ASKS}
        return [*questions_in(inputs), *texts_in(inputs.get("messages"))]

    def _answered(self, outputs: object) -> None:
        """Report the sources and citations of an answer: by Haystack's rule references are places in ``documents``."""
        if not has_references(type(self._component)):
            sources, nothing = extracted(outputs)
            report = partial(rop.current_handoff().answered, "", sources=sources, citations=[], attaches="cited")
            self._prompts().answer(lambda labels: report(id=self._run.settings.id, abstained=nothing), cites=False)
            return
        documents = self._inputs.get("documents")
        citations = references(self._component, self._inputs, outputs)
        numbers = None if citations is None or documents is None else [str(n) for n, _ in enumerate(documents, 1)]
        all_of_them = citations is not None and not getattr(self._component, "return_only_referenced_documents", True)
        handoff, context, id_where = rop.current_handoff(), self._context, self._run.settings.id

        def attached(labels: Mapping[str, str]) -> None:
            with using_context(context):
                handoff.answered(
                    "",
                    sources=documents,
                    id=id_where,
                    labels=None if numbers is None else [labels.get(each, each) for each in numbers],
                    citations=None if citations is None else [labels.get(each, each) for each in citations],
                    attaches="shown" if all_of_them else "cited",
                )

        self._prompts().answer(attached, cites=citations is not None)
