"""Where in which handoff the application is now, kept in the OpenTelemetry context and so carried with it.

A context is put back by attaching the one before it, never by its token: a token used in another task or thread (a
generator that the garbage collector closes) is an error that OpenTelemetry logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from opentelemetry.context import Context, attach, create_key, get_current, set_value
from opentelemetry.trace import Span, set_span_in_context

if TYPE_CHECKING:
    from rop_otel.tracing.handoff import Handoff
    from rop_otel.tracing.stage import Stage

_KEY: Final = create_key("rop_otel")


class Here:
    """A place in a handoff.

    Args:
        handoff: The innermost open handoff, None outside of any.
        stage: The innermost running stage of that handoff.
        round: The round under way.
    """

    __slots__ = ("handoff", "round", "stage")

    def __init__(
        self,
        handoff: Handoff | None = None,
        stage: Stage | None = None,
        round: int | None = None,  # noqa: A002 - the contract's word
    ) -> None:
        self.handoff = handoff
        self.stage = stage
        self.round = round


_NOWHERE: Final = Here()


def here(context: Context | None = None) -> Here:
    """Return the place that a context, None for the current one, is at."""
    found = (get_current() if context is None else context).get(_KEY)
    return found if isinstance(found, Here) else _NOWHERE


def moved(context: Context, place: Here, span: Span | None = None) -> Context:
    """Return a context that is at another place, with another current span if one is given."""
    if span is None:
        return set_value(_KEY, place, context)
    placed = set_span_in_context(span, context)
    dict.__setitem__(placed, _KEY, place)  # nobody else has this new context yet, and a second copy costs as much again
    return placed


def put_back(context: Context, before: Context) -> None:
    """Make the context before this one current again, unless another one is current by now."""
    if get_current() is context:
        attach(before)
