"""Who stands above whom among the spans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping

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


def nearest_alike(parents: Mapping[Key, Key | None], owners: Mapping[Key, Key]) -> dict[Key, Key | None]:
    """Return for each owned span the nearest span above it that has the same owner, None where there is none.

    Args:
        parents: Span to its parent, as for :class:`NearestAbove`. A circle is cut above the smallest owned span in it.
        owners: Span to its owner; others do not count.
    """
    above = NearestAbove(parents, owners)
    nearest = {key: above(key) for key in owners}
    below: defaultdict[Key, list[Key]] = defaultdict(list)
    for key, parent in nearest.items():
        if parent is not None:
            below[parent].append(key)
    alike: dict[Key, Key | None] = {}
    for top in _tops(nearest, alike):
        latest: dict[Key, Key | None] = {}  # by owner, on the way from the top to here
        ahead: list[tuple[Key, bool]] = [(top, True)]
        while ahead:
            key, down = ahead.pop()
            owner = owners[key]
            if not down:
                latest[owner] = alike[key]
            elif key not in alike:
                alike[key] = latest.get(owner)
                latest[owner] = key
                ahead.append((key, False))
                ahead.extend((each, True) for each in below[key])
    return alike


def _tops(parents: Mapping[Key, Key | None], seen: Container[Key]) -> Iterator[Key]:
    """Yield the spans without a parent and, once what is below those has been seen, one span of each circle."""
    yield from (key for key, parent in parents.items() if parent is None)
    for key in parents:
        if key in seen:
            continue
        walked: dict[Key, None] = {}
        here: Key | None = key
        while here is not None and here not in walked:
            walked[here] = None
            here = parents[here]
        path = list(walked)
        if here is not None:
            yield min(path[path.index(here) :])
