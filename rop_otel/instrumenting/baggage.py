"""The selection as W3C baggage between services: what comes in, and to whom it goes out.

OpenTelemetry sends baggage with every request to whoever is asked, and a propagator does not see whom. So the selection
is in the context only inside a block that knows the address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote, unquote, urlsplit

from opentelemetry import baggage
from opentelemetry.context import Context

from rop_otel import semconv
from rop_otel.core.handoff import Ids
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.handoffs.handoff_opening import handoff_at
from rop_otel.tracing.position.context_position import current_context, enter, in_block, put_back
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import current

_LONGEST: Final = 2048
"""Characters of a selection on the wire; a longer one is neither sent nor taken, since half of it would be another."""

_APART: Final = re.compile(r"[%,\s]")
_AMBIGUOUS: Final = re.compile(r"[\\\s\x00-\x1f]")
"""What programs read differently in an address, and so may take them to another host."""


def received(context: Context) -> Ids | None:
    """Return the selection that a context carries; None where it carries none that can be used."""
    entry = baggage.get_baggage(semconv.SELECTED_IDS, context)
    if not isinstance(entry, str):
        return None
    if _is_long(entry):
        _complain("received")
        return None
    return tuple(unquote(each) for each in entry.split(",") if each) or None


def without_selection(context: Context) -> Context:
    """Return a context that carries no selection; the same one where it carries none."""
    if baggage.get_baggage(semconv.SELECTED_IDS, context) is None:
        return context
    return baggage.remove_baggage(semconv.SELECTED_IDS, context)


class using_baggage:  # noqa: N801 - used like a function
    """A ``with`` block in which requests carry the selection of the current handoff, if they go to an allowed host.

    The selection is the baggage entry ``rop.selected.ids``, which whatever injects OpenTelemetry's context into a
    request sends along; for another host the block takes it out. Never sent are hashed IDs, since who receives them
    would hash them again, and more than 2048 characters. The block raises nothing.

    Args:
        url: Where the requests inside the block go; its host is looked for in the setting ``baggage_hosts``.
    """

    __slots__ = ("_before", "_context", "_url")

    def __init__(self, url: str) -> None:
        self._url = url

    def __enter__(self) -> Self:
        self._before: Context = current_context()
        self._context = self._before
        try:
            self._context = _carrying(self._url, self._before)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            self._context = without_selection(self._before)
            current().diagnostics.failure(Problem.HANDOFF, "using_baggage()", "the selection could not be sent along")
        self._context = in_block(self._context)
        enter(self._context, self._before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        put_back(self._context, self._before)


def _carrying(url: str, context: Context) -> Context:
    config, handoff = current().config, handoff_at(context)
    if not _is_allowed(url, config.baggage_hosts):
        return without_selection(context)
    selected = None if handoff is None or config.hash_key is not None else handoff.selected
    if not selected or "" in selected:
        return context
    entry = _written(selected)
    if _is_long(entry):
        _complain("selected")
        return without_selection(context)
    return baggage.set_baggage(semconv.SELECTED_IDS, entry, context)


def _is_allowed(url: str, hosts: Iterable[str]) -> bool:
    """Return whether the host of an address is one of these, or below one that starts with a dot."""
    if _AMBIGUOUS.search(url):
        return False
    host = urlsplit(url).hostname or ""
    return any(host.endswith(each) if each.startswith(".") else host == each for each in hosts)


def _written(selected: Ids) -> str:
    """Return IDs with commas between them; what would be taken apart inside an ID is percent-encoded.

    >>> _written(("timeouts", "a,b"))
    'timeouts,a%2Cb'
    """
    return ",".join(_APART.sub(lambda found: quote(found[0], safe=""), each) for each in selected)


def _is_long(entry: str) -> bool:
    return len(quote(entry, safe="")) > _LONGEST


def _complain(what: str) -> None:
    message = f"the {what} IDs take more than {_LONGEST} characters of baggage and are left out"
    current().diagnostics.misuse(Problem.HANDOFF, "baggage", message)
