"""Who stands above whom among the spans."""

from __future__ import annotations

from collections.abc import Container, Mapping

Key = tuple[str, str]
"""Trace ID and span ID."""


class NearestAbove:
    """Finds the nearest marked span above a span; what was walked once is not walked again.

    Args:
        parents: Span to its parent; a parent that is not there itself ends the walk, and so does a cycle.
        marked: The spans to look for.
    """

    def __init__(self, parents: Mapping[Key, Key | None], marked: Container[Key]) -> None:
        self._parents = parents
        self._marked = marked
        self._known: dict[Key, Key | None] = {}

    def __call__(self, key: Key) -> Key | None:
        """Return the nearest marked span above, None where there is none."""
        walked: dict[Key, None] = {}
        here = self._parents.get(key)
        while here is not None and here not in self._marked and here not in self._known and here not in walked:
            walked[here] = None
            here = self._parents.get(here)
        found = None
        if here is not None:
            found = here if here in self._marked else self._known.get(here)
        self._known.update(dict.fromkeys(walked, found))
        return None if found == key else found
