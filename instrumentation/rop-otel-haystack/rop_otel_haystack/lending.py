"""Components that others hold, and run in threads in which nothing is known of the handoff.

Haystack's retrievers that ask several others at once do so. While one runs, it lends the place where it is to those
that it holds; who runs in a bare thread meanwhile is taken to be there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from opentelemetry.context import Context

import rop_otel as rop
from rop_otel.instrumenting import create_lock

_MOST: Final = 64
"""Longer lists are looked at by nobody: they hold documents rather than components."""


class Inside(NamedTuple):
    """A component that runs, for others that it runs itself.

    Args:
        context: In which it runs.
        stage: That it is.
        implementation: Its class.
        handoff: ID of the handoff that it runs in.
    """

    context: Context
    stage: rop.Stage
    implementation: str
    handoff: str


_places: Final[dict[int, list[Inside]]] = {}
_lock: Final = create_lock()


@contextmanager
def lending(component: Any, place: Inside) -> Iterator[None]:
    """Lend its place to the components that a component holds.

    Args:
        component: The one that runs here.
        place: Where it is.
    """
    held = [id(each) for each in _held(component)]
    with _lock:
        for each in held:
            _places.setdefault(each, []).append(place)
    try:
        yield
    finally:
        with _lock:
            for each in held:
                _places[each] = [other for other in _places.get(each, ()) if other is not place]
                if not _places[each]:
                    del _places[each]


def lent_to(component: Any) -> Sequence[Inside]:
    """Return the places that are lent to a component: of several, nobody knows which it runs at."""
    with _lock:
        return _places.get(id(component), ())


def _held(component: Any) -> Iterator[Any]:
    for value in list(getattr(component, "__dict__", {}).values()):
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else (value,)
        if len(parts) <= _MOST:
            yield from (each for each in list(parts) if type(type(each)).__name__ == "ComponentMeta")
