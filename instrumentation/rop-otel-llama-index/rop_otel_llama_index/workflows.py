"""Runs of workflows, and so of agents: each is a handoff, once something in it retrieves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llama_index.core.instrumentation.dispatcher import active_instrument_tags  # type: ignore[attr-defined]

from rop_otel.instrumenting import Settings, topmost
from rop_otel_llama_index.gathering import WorkflowRun
from rop_otel_llama_index.watched import innermost


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
    block = topmost(
        settings,
        name=type(instance).__name__,
        inputs=_question(given),
        metadata={**given, **active_instrument_tags.get()},
    )
    return WorkflowRun(instance, block, settings)


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
