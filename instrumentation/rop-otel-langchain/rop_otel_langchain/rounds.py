"""Rounds of a handoff: calls of tools that retrieve, as agents make several, and of retrievers made of several stages.

Calls that run at once mix, and each stage is fed by those of its own call.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from opentelemetry.context import create_key, get_value, set_value

import rop_otel as rop
from rop_otel.instrumenting import Begin, Function, Patches, Take, no_matter, using_context
from rop_otel_langchain.carrying import call_here, resumed
from rop_otel_langchain.containing import contains_retrieval
from rop_otel_langchain.feeding import is_source
from rop_otel_langchain.runs import inside, run_here
from rop_otel_langchain.trail import trail_here, within
from rop_otel_langchain.watching import Watching, never_raising

_PART: Final = create_key("rop_otel_langchain part")
"""The tool or retriever whose call is the innermost round."""


def watch_tools(patches: Patches, watching: Watching) -> None:
    """Make a round of each call of a tool that retrieves."""

    def around(original: Function) -> Begin:
        return functools.partial(_of_tool, watching)

    patches.family(BaseTool, patches.pair(around, "invoke", "ainvoke"))


@contextmanager
def _of_tool(watching: Watching, tool: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Take]:
    with resumed(args[1:], kwargs):
        number = _number_of_tool(watching, tool)
        if number is None:
            yield no_matter
            return
        with using_context(within(inside(None, set_value(_PART, tool)), number)), rop.using_round(number):
            yield no_matter


@never_raising
def _number_of_tool(watching: Watching, tool: Any) -> int | None:
    """Return the number of the round that a call of a tool begins; None where it is none.

    A tool's method may call its base class's. In a handoff that the application opened, with no call of a chain, each
    text counts, some of them in tools, so that there they are of no round.
    """
    call = call_here() if watching.on and get_value(_PART) is not tool else None
    if call is None or call.trail is None or not contains_retrieval(tool):
        return None
    return next(call.trail.rounds)


@contextmanager
def of_retriever(watching: Watching, component: Any) -> Iterator[None]:
    """Run a call of a component as the round that it is, if it is one."""
    number = _number_of_retriever(watching, component)
    if number is None:
        yield
        return
    with using_context(inside(None, set_value(_PART, component))), rop.using_round(number):
        yield


@never_raising
def _number_of_retriever(watching: Watching, component: Any) -> int | None:
    if not watching.on or not isinstance(component, BaseRetriever) or is_source(component, watching.kinds):
        return None
    trail = trail_here(watching) if get_value(_PART) is None else None
    if trail is None:
        return None
    run = run_here()
    if run is None or run.number is not None:
        if run is not None:
            run.several = True
        return next(trail.rounds)
    run.number = trail.begin_round()
    return run.number
