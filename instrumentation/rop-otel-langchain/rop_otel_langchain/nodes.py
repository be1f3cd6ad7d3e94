"""Runs of a graph's nodes: one that runs again retrieves in a round of its own, and so do those that run at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, cast

from opentelemetry.context import Context, create_key, get_value, set_value

import rop_otel as rop
from rop_otel.instrumenting import current_context, using_context
from rop_otel_langchain.carrying import call_here
from rop_otel_langchain.trail import Trail, trail_here
from rop_otel_langchain.watching import Watching, never_raising

_RUN: Final = create_key("rop_otel_langchain node")
"""The run of a node that the caller is inside of."""

_RUNS: Final = 10_000
"""Runs of one node that are told apart."""


class _Run:
    """A run of a node.

    Args:
        name: Of the run, which no other has.
        again: Whether the node ran before.
    """

    def __init__(self, name: str, *, again: bool) -> None:
        self.name = name
        self.again = again
        self.number: int | None = None

    def round(self, trail: Trail, *, retrieves: bool) -> int | None:
        """Return the number of the round that a stage in it is of; None: of none.

        What retrieves begins a round, which is of the whole run; a node that only takes documents is of one where it
        runs again, the latest.
        """
        if self.number is None and retrieves:
            self.number = trail.latest = next(trail.rounds)
        elif self.number is None and self.again:
            self.number = trail.latest
        return self.number


@contextmanager
def in_node(watching: Watching, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[None]:
    """Run a part of a call as the run of a node, if it is one.

    Args:
        watching: The instrumentation's settings.
        args: Arguments of the part after its input, of which the configuration is the first.
        kwargs: Its other arguments.
    """
    run = _run(watching, args[0] if args else kwargs.get("config"))
    if run is None:
        yield
        return
    with using_context(set_value(_RUN, run)):
        yield


@contextmanager
def of_node(watching: Watching, component: Any, *, retrieves: bool) -> Iterator[None]:
    """Run a stage in the round of the run of the node that it is in."""
    number = _round(watching, retrieves=retrieves)
    if number is None:
        yield
        return
    with rop.using_round(number):
        yield


def is_in_node() -> bool:
    """Return whether the caller is in the run of a node, and in no tool inside of it."""
    return get_value(_RUN) is not None


def outside() -> Context:
    """Return a context that is in no run of a node."""
    return set_value(_RUN, None, current_context())


@never_raising
def _round(watching: Watching, *, retrieves: bool) -> int | None:
    run = cast("_Run | None", get_value(_RUN)) if watching.on and not watching.in_stage else None
    trail = None if run is None else trail_here(watching)
    return None if run is None or trail is None else run.round(trail, retrieves=retrieves)


@never_raising
def _run(watching: Watching, config: Any) -> _Run | None:
    """Return the run of a node that a part is, or None: it is in the same one as what is around it."""
    metadata = config.get("metadata") if watching.on and isinstance(config, Mapping) else None
    name = metadata.get("langgraph_checkpoint_ns") if isinstance(metadata, Mapping) else None
    call = call_here()
    around = cast("_Run | None", get_value(_RUN))
    if not isinstance(name, str) or not name or (around is not None and around.name == name) or call is None:
        return None
    trail = call.trail
    if trail is None:
        return None
    node = "|".join(each.partition(":")[0] for each in name.split("|"))
    runs = trail.runs.setdefault(node, [])
    if name not in runs and len(runs) < _RUNS:
        runs.append(name)
    return _Run(name, again=bool(runs) and runs[0] != name)
