"""Runs of agents as handoffs: each call of a tool is a round, and what its message shows is what was packed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, Final

import rop_otel as rop
from rop_otel.instrumenting import (
    Deferred,
    Kind,
    Once,
    Settings,
    Take,
    Variables,
    citations_in,
    guarded,
    kinds,
    record_shown,
    stage_of,
    topmost,
    using_context,
)
from rop_otel_haystack.kinds import RETRIEVER
from rop_otel_haystack.reader_prompts import Prompts
from rop_otel_haystack.reading import documents_in, filled_in, last_text, ranked_by, tool_messages
from rop_otel_haystack.showing import shown_by


class AgentRun:
    """One run of an agent. It is a handoff as soon as one of its tools retrieves.

    Args:
        block: The handoff.
        outer: The run in which it is a tool, and to whose handoff it belongs.
        agent: The agent.
        inputs: What it is run with.
    """

    __slots__ = ("_block", "_handoff", "_inputs", "_outer", "calls", "identity", "numbers")

    def __init__(self, block: topmost, outer: AgentRun | None, agent: object, inputs: Mapping[str, Any]) -> None:
        self._block = block
        self._inputs = inputs
        self.identity = id(agent)
        self._outer = outer
        self._handoff = Once(lambda: Deferred(block))
        self.numbers: Iterator[int] = count(1) if outer is None else outer.numbers
        """Numbers of the rounds of a handoff."""
        self.calls: list[ToolCall] = []

    def handoff(self) -> Deferred:
        """Return the handoff; it begins in the context of the first call of a tool, below other spans of the run."""
        return self._handoff.get() if self._outer is None else self._outer.handoff()

    def handed(self) -> list[Any] | None:
        """Return the documents that fill in the agent's own prompt, None where it has none of them."""
        return filled_in(self._inputs)

    @property
    def answers(self) -> bool:
        """Whether the answer is ours to report: of a handoff that began with this run."""
        return self._outer is None and self._block.owns

    def end(self, error: BaseException | None) -> None:
        """End the handoff, if it began with this run; what a thread that goes on calls begins none."""
        if self._outer is None:
            self.handoff().end(error)


class ToolCall:
    """One call of a tool, which is a round.

    Args:
        agent: The run of the agent that calls it.
        tool: The tool.
        arguments: What it is called with.
    """

    __slots__ = ("agent", "arguments", "documents", "handoff", "number", "tool", "watched")

    def __init__(self, agent: AgentRun, tool: Any, arguments: Mapping[str, Any]) -> None:
        self.agent = agent
        self.handoff = agent.handoff()
        self.tool = tool
        self.arguments = arguments
        self.number = next(agent.numbers)
        self.documents: list[Any] = []
        """What it retrieved, each document once."""
        self.watched = False
        """Whether something that is watched ran in it."""

    def found(self, result: object) -> None:
        """Take in documents that it, or a pipeline in it, returned."""
        self.documents = list({each.id: each for each in [*self.documents, *documents_in(result)]}.values())

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Be in its round with something that retrieves, and reports its stages."""
        self.watched = True
        variables = Variables()
        try:
            variables.set(calling, None)  # first: a selector is asked when the handoff begins, and may run pipelines
            with self.round():
                yield
        finally:
            variables.put_back()

    @contextmanager
    def round(self) -> Iterator[None]:
        """Be in its round of the handoff."""
        with using_context(self.handoff.context()), rop.using_round(self.number):
            yield


_agent: Final[ContextVar[AgentRun | None]] = ContextVar("rop_otel_haystack_agent", default=None)
calling: Final[ContextVar[ToolCall | None]] = ContextVar("rop_otel_haystack_tool", default=None)
"""The call of a tool that runs here, outside of the pipelines in it."""

within: Final[ContextVar[ToolCall | None]] = ContextVar("rop_otel_haystack_within", default=None)
"""The call of a tool that runs here, or around here."""


def asking() -> AgentRun | None:
    """Return the agent that runs here, outside of its tools: what it runs is the model that it asks."""
    return _agent.get() if within.get() is None else None


class WatchedAgent:
    """A ``with`` block around one run of an agent; it never raises.

    Args:
        agent: The agent.
        inputs: What it is run with.
        settings: The user's.
        answers: Whether its answer is that of the pipeline in which it runs.
    """

    __slots__ = ("_answers", "_labels", "_run", "_settings", "_variables")

    def __init__(self, agent: Any, inputs: Mapping[str, Any], settings: Settings, *, answers: bool) -> None:
        self._settings = settings
        self._answers = answers
        self._labels: list[tuple[str, ...]] = []
        block = topmost(settings, name=type(agent).__name__, inputs=inputs)
        self._run = AgentRun(block, _agent.get(), agent, inputs)
        self._variables = Variables()

    def __enter__(self) -> Take:
        self._variables.begin((_agent, self._run), (within, None))
        return self.returned

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._variables.put_back()
        finally:
            self._run.end(error)

    def returned(self, outputs: object) -> None:
        """Report what the messages of its tools show."""
        for call in self._run.calls:
            with guarded(f"Haystack tool {call.tool.name!r}", "what its message shows cannot be read"):
                self._packed(call, outputs)
        with guarded("Haystack agent", "what it answered cannot be read"):
            text = last_text(outputs)
            if self._run.answers:
                with using_context(self._run.handoff().context()):
                    self._answered(rop.current_handoff(), text)
            elif self._answers:
                handoff = rop.current_handoff()
                Prompts.of(handoff, self._settings).last_answer = partial(self._answered, handoff, text)

    def _answered(self, handoff: rop.Handoff, text: str) -> None:
        """Report what the agent cites; of several messages each may have labels, and those of all were shown."""
        last = self._labels[-1] if self._labels else ()
        earlier = {label for labels in self._labels for label in labels}.difference(last)
        handoff.answered(text, citations=[each for each in citations_in(handoff, text) if each not in earlier])

    def _packed(self, call: ToolCall, outputs: object) -> None:
        settings = self._settings
        with call.round():
            Prompts.of(rop.current_handoff(), settings).tools.setdefault(self._run, []).extend(call.documents)
            texts = [tool_messages(outputs, call.tool.name, call.arguments)]
            shown = shown_by(texts, call.documents, settings)
            packing = Kind(kinds.PACKING, name=call.tool.name)
            with stage_of(settings, packing, input=call.documents) as stage:
                record_shown(stage, call.documents, shown, settings)
            if shown is not None and shown.labels:
                self._labels.append(shown.labels)


def watched_tool(tool: Any, arguments: Mapping[str, Any], settings: Settings) -> WatchedTool | None:
    """Return the block to run a tool in, None where no agent that is watched calls it."""
    agent, outer = _agent.get(), calling.get()
    if agent is None or (outer is not None and outer.tool is tool):  # a tool that is awaited may run itself in a thread
        return None
    return WatchedTool(ToolCall(agent, tool, arguments), settings)


class WatchedTool:
    """A ``with`` block around one call of a tool; it never raises.

    Args:
        call: The call.
        settings: The user's.
    """

    __slots__ = ("_call", "_settings", "_variables")

    def __init__(self, call: ToolCall, settings: Settings) -> None:
        self._call = call
        self._settings = settings
        self._variables = Variables()

    def __enter__(self) -> Take:
        self._variables.begin((calling, self._call), (within, self._call))
        return self.returned

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._variables.put_back()

    def returned(self, result: object) -> None:
        """Take in what the tool returned; one that returns documents by a way of its own is a source."""
        call = self._call
        with guarded(f"Haystack tool {call.tool.name!r}", "what it returned cannot be read"):
            call.found(result)
            if not call.documents:
                return
            call.agent.calls.append(call)
            if not call.watched:
                with call.round(), self._source() as stage:
                    stage.returned(call.documents, scores=ranked_by(call.documents))

    def _source(self) -> rop.Stage:
        tool = self._call.tool
        return stage_of(self._settings, Kind(RETRIEVER, source=True, name=tool.name), tool)
