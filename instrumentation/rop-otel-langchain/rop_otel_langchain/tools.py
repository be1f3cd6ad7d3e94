"""Tools that retrieve: each call of one, as agents make several, is a round of the handoff."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from langchain_core.tools import BaseTool
from opentelemetry.context import create_key, get_value, set_value

import rop_otel as rop
from rop_otel.instrumenting import using_context
from rop_otel_langchain.carrying import call_here, resumed
from rop_otel_langchain.containing import contains_retrieval
from rop_otel_langchain.patching import Function, Patches, Wrap
from rop_otel_langchain.trail import within
from rop_otel_langchain.watching import Watching, never_raising

_TOOL: Final = create_key("rop_otel_langchain tool")
"""The tool that is called: its method may call its base class's."""


def watch_tools(patches: Patches, watching: Watching) -> None:
    """Make a round of each call of a tool that retrieves."""
    patches.family(BaseTool, {"invoke": _sync(watching), "ainvoke": _async(watching)})


def _sync(watching: Watching) -> Wrap:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with _as_round(watching, self, args, kwargs):
                return original(self, *args, **kwargs)

        return call

    return wrap


def _async(watching: Watching) -> Wrap:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with _as_round(watching, self, args, kwargs):
                return await original(self, *args, **kwargs)

        return call

    return wrap


@contextmanager
def _as_round(watching: Watching, tool: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[None]:
    with resumed(args[1:], kwargs):
        number = _number(watching, tool)
        if number is None:
            yield
            return
        inside = within(set_value(_TOOL, tool), number)
        with using_context(inside), rop.using_round(number):
            yield


@never_raising
def _number(watching: Watching, tool: Any) -> int | None:
    """Return the number of the round that a call begins; None where it is none."""
    if not watching.on or get_value(_TOOL) is tool:
        return None
    call = call_here()
    trail = None if call is None else call.trail
    return next(trail.rounds) if trail is not None and contains_retrieval(tool) else None
