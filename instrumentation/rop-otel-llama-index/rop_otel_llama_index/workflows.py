"""Runs of workflows, and so of agents: each is a handoff, once something in it retrieves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import TracebackType
from typing import Any, cast

from llama_index.core.instrumentation.dispatcher import active_instrument_tags  # type: ignore[attr-defined]
from llama_index.core.workflow import StopEvent
from opentelemetry.context import Context

from rop_otel.instrumenting import Once, Settings, make_current, topmost, using_context
from rop_otel_llama_index.answers import answer_of_rounds
from rop_otel_llama_index.gathering import Gathering
from rop_otel_llama_index.nodes import words
from rop_otel_llama_index.watched import Call, Enclosing, innermost, outside


class WorkflowRun(Enclosing):
    """A run of a workflow, an agent's too, in which the handoff begins with the first part that is watched.

    Args:
        block: The handoff.
        settings: Of the instrumentation.
        question: What it is asked.
    """

    def __init__(self, instance: Any, block: topmost, settings: Settings, question: object = None) -> None:
        super().__init__(instance)
        self._starting = Once(partial(_called, block))
        self.gathering = self._own = Gathering(settings, question)

    def start(self) -> None:
        """Be a call from here on, in the context of its first part: there others' spans of the run are current too."""
        if self.call is None:
            self.call = self._begun = self._starting.get()

    def place(self) -> Context:
        """Return the context in which its parts run."""
        return cast(Call, self.call).context()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Be no longer current here: what was started goes on in tasks; the end is that of LlamaIndex's span of it."""
        make_current(self._before)

    def returned(self, result: Any) -> None:
        """Record what its steps asked a model, and what an agent answers."""
        if self.call is None or not (self._own.nodes or self.call.labels):
            return  # nothing was retrieved
        if isinstance(result, StopEvent) and result.result is not None:
            result = result.result
        with using_context(self.place()), self.in_round():
            if not self._own.pack(self, result):
                answer_of_rounds(self.call, words(result), self.instance)

    def end(self, error: BaseException | None = None) -> None:
        """End the handoff for good: a thread that a timeout leaves behind may be the first to retrieve."""
        self.start()
        super().end(error)
        self._own.clear()  # an exception keeps what led to it, and with it the run


def _called(block: topmost) -> Call:
    with using_context(outside()):
        return Call(block)


def begin_run(settings: Settings, instance: Any, arguments: Mapping[str, Any]) -> WorkflowRun | None:
    """Return the run of a workflow that begins here; None where it belongs to a call around it.

    Args:
        settings: Of the instrumentation.
        instance: The workflow.
        arguments: What it is run with.
    """
    outer = innermost()
    if isinstance(outer, WorkflowRun):
        outer.start()
    if outer is not None and outer.call is not None:
        return None
    given = dict(_given(arguments))
    question = _question(given)
    block = topmost(
        settings,
        name=type(instance).__name__,
        inputs=question,
        metadata={**given, **active_instrument_tags.get()},
    )
    return WorkflowRun(instance, block, settings, question)


def _given(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give what the first event of the run holds, however it is given."""
    event = arguments.get("start_event")
    if event is not None:
        yield from ((name, getattr(event, name)) for name in type(event).model_fields)
        yield from event.items()
    yield from arguments.get("kwargs", {}).items()


def _question(given: Mapping[str, Any]) -> Any:
    """Return an agent's message; of another workflow the first text, or all that it is given where there is none."""
    message = given.get("user_msg")
    if message is not None:
        return getattr(message, "content", message)
    return next((value for value in given.values() if isinstance(value, str)), given)
