"""Which run of a graph's node the caller is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from opentelemetry.context import Context, create_key, get_value, set_value

from rop_otel_langchain.documents import Documents, documents_in

_RUN: Final = create_key("rop_otel_langchain node")


class Run:
    """A run of a node.

    Args:
        name: Of the run, which no other has.
        given: The documents in the state that it is given.

    Attributes:
        number: Of the round that it is, if it is one.
        several: Whether there are other rounds in it.
    """

    __slots__ = ("given", "name", "number", "several")

    def __init__(self, name: str, given: Documents) -> None:
        self.name = name
        self.given = given
        self.number: int | None = None
        self.several = False


def run_here() -> Run | None:
    """Return the run that the caller is in; None outside of any, and in a tool."""
    return cast("Run | None", get_value(_RUN))


def run_of(inputs: Any, config: Any) -> Run | None:
    """Return the run that begins with a part of a call; None where it is in the same one as what is around it.

    Args:
        inputs: What the part is called with.
        config: Its configuration, in which LangGraph says where it is.
    """
    metadata = config.get("metadata") if isinstance(config, Mapping) else None
    name = metadata.get("langgraph_checkpoint_ns") if isinstance(metadata, Mapping) else None
    around = run_here()
    if not isinstance(name, str) or not name or (around is not None and around.name == name):
        return None
    return Run(name, [document for each in documents_in(inputs) for document in each])


def inside(run: Run | None, context: Context) -> Context:
    """Return a context that is in a run, or in none."""
    return set_value(_RUN, run, context)
