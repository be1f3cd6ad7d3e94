"""Runs of a graph's nodes: each that retrieves is a round, so that loops and nodes that run at once are kept apart.

A stage that only takes documents is of the latest round where all that it is handed was found in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import rop_otel as rop
from rop_otel.instrumenting import current_context, using_context
from rop_otel_langchain.documents import Documents
from rop_otel_langchain.runs import Run, inside, run_here, run_of
from rop_otel_langchain.trail import trail_here
from rop_otel_langchain.watching import Watching, never_raising


@contextmanager
def in_node(watching: Watching, inputs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[None]:
    """Run a part of a call as the run of a node, if it is one.

    Args:
        watching: The instrumentation's settings.
        inputs: What the part is called with.
        args: Its other arguments, of which the configuration is the first.
        kwargs: Its other arguments.
    """
    run = _run(watching, inputs, args[0] if args else kwargs.get("config"))
    if run is None:
        yield
        return
    with using_context(inside(run, current_context())):
        yield


@contextmanager
def of_node(watching: Watching, handed: Documents | None) -> Iterator[None]:
    """Run a stage in the round of the node that it is in.

    Args:
        watching: The instrumentation's settings.
        handed: What the stage is handed; None: it retrieves, and so begins a round, which is of the node's whole run.
    """
    number = _round(watching, handed)
    if number is None:
        yield
        return
    with rop.using_round(number):
        yield


@never_raising
def _round(watching: Watching, handed: Documents | None) -> int | None:
    run = run_here() if watching.on and not watching.in_stage else None
    trail = None if run is None else trail_here(watching)
    if run is None or trail is None:
        return None
    if run.number is None and handed is None:
        run.number = trail.begin_round()
    if run.several and handed is not None:
        return None
    return trail.round_of(handed) if run.number is None else run.number


@never_raising
def _run(watching: Watching, inputs: Any, config: Any) -> Run | None:
    return run_of(inputs, config) if watching.on else None
