"""Runs of agents as handoffs: each call of a tool is a round, and what its message shows is what was packed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from types import TracebackType
from typing import Any, Final, Self

import rop_otel as rop
from rop_otel.instrumenting import (
    Deferred,
    Settings,
    create_lock,
    failure,
    kinds,
    raise_if_delivered,
    reset_variable,
    set_variable,
    topmost,
    using_context,
)
from rop_otel_haystack.kinds import RETRIEVER
from rop_otel_haystack.reading import documents_in, left_in, ranked_by, tool_messages


class AgentRun:
    """One run of an agent. It is a handoff as soon as one of its tools retrieves.

    Args:
        block: The handoff.
        outer: The run in which it is a tool, and to whose handoff it belongs.
    """

    __slots__ = ("_block", "_handoff", "_lock", "_outer", "calls", "numbers")

    def __init__(self, block: topmost, outer: AgentRun | None) -> None:
        self._block = block
        self._outer = outer
        self._lock = create_lock()
        self._handoff: Deferred | None = None
        self.numbers: Iterator[int] = count(1) if outer is None else outer.numbers
        """Numbers of the rounds of a handoff."""
        self.calls: list[ToolCall] = []

    def handoff(self) -> Deferred:
        """Return the handoff; it begins in the context of the first call of a tool, below other spans of the run."""
        if self._outer is not None:
            return self._outer.handoff()
        with self._lock:
            made = self._handoff or Deferred(self._block)
            if self._handoff is None:  # a signal handler may have called a tool
                self._handoff = made
            return self._handoff

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
        """Be in its round with something that retrieves, and tells its stages."""
        self.watched = True
        token = set_variable(
            calling, None
        )  # first: a selector is asked when the handoff begins, and may run pipelines too
        try:
            with self.round():
                yield
        finally:
            reset_variable(calling, token)

    @contextmanager
    def round(self) -> Iterator[None]:
        """Be in its round of the handoff."""
        with using_context(self.handoff.context()), rop.using_round(self.number):
            yield


_agent: Final[ContextVar[AgentRun | None]] = ContextVar("rop_otel_haystack_agent", default=None)
calling: Final[ContextVar[ToolCall | None]] = ContextVar("rop_otel_haystack_tool", default=None)
"""The call of a tool that runs here, outside of the pipelines in it."""


class WatchedAgent:
    """A ``with`` block around one run of an agent; it never raises.

    Args:
        agent: The agent.
        inputs: What it is run with.
        settings: The user's.
    """

    __slots__ = ("_run", "_settings", "_token")

    def __init__(self, agent: Any, inputs: Mapping[str, Any], settings: Settings) -> None:
        self._settings = settings
        block = topmost(settings, name=type(agent).__name__, inputs=inputs)
        self._run = AgentRun(block, _agent.get())

    def __enter__(self) -> Self:
        self._token = set_variable(_agent, self._run)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            reset_variable(_agent, self._token)
        finally:
            self._run.end(error)

    def returned(self, outputs: object) -> None:
        """Tell what the messages of its tools show."""
        for call in self._run.calls:
            try:
                self._packed(call, outputs)
            except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
                raise_if_delivered(error)
                failure(f"Haystack tool {call.tool.name!r}", "what its message shows cannot be read")

    def _packed(self, call: ToolCall, outputs: object) -> None:
        with (
            call.round(),
            rop.using_stage(kinds.PACKING, name=call.tool.name, input=call.documents, id=self._settings.id) as stage,
        ):
            text = tool_messages(outputs, call.tool.name, call.arguments)
            stage.returned(left_in(call.documents, {"prompt": text}))


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

    __slots__ = ("_call", "_settings", "_token")

    def __init__(self, call: ToolCall, settings: Settings) -> None:
        self._call = call
        self._settings = settings

    def __enter__(self) -> Self:
        self._token = set_variable(calling, self._call)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        reset_variable(calling, self._token)

    def returned(self, result: object) -> None:
        """Take in what the tool returned; one that returns documents by a way of its own is a source."""
        call = self._call
        try:
            call.found(result)
            if not call.documents:
                return
            call.agent.calls.append(call)
            if not call.watched:
                with call.round(), self._source() as stage:
                    stage.returned(call.documents, scores=ranked_by(call.documents))
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure(f"Haystack tool {call.tool.name!r}", "what it returned cannot be read")

    def _source(self) -> rop.Stage:
        return rop.using_stage(
            RETRIEVER,
            name=self._call.tool.name,
            source=True,
            id=self._settings.id,
            implementation=type(self._call.tool).__name__,
        )
