"""The stages that a handoff declares, and which of them no span showed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.record import StageRecord


class Expected:
    """Declared stages against observed ones.

    An entry is a stage's name, else its kind. A named stage also counts under its kind, unless its name is declared
    itself.

    Args:
        entries: Declared stages in order; may be empty.
        observed: Every stage span, those left out included.
    """

    __slots__ = ("_entries", "_places", "_seen", "missing")

    def __init__(self, entries: Sequence[str], observed: Iterable[StageRecord]) -> None:
        self._entries = entries
        self._places: dict[str, list[int]] = {}
        for place, entry in enumerate(entries):
            self._places.setdefault(entry, []).append(place)
        self._seen = {self._entry(stage) for stage in observed} if entries else set()
        self.missing = tuple(entry for entry in self._places if entry not in self._seen)

    def _entry(self, stage: StageRecord) -> str:
        return stage.name if stage.name is not None and stage.name in self._places else stage.kind

    def missing_between(self, last: StageRecord, stage: StageRecord) -> str | None:
        """Return the first missing entry, no source or reader, between the last place of a stage and a later one's."""
        before, after = self._places.get(self._entry(last)), self._places.get(self._entry(stage))
        if not before or not after:
            return None
        following = bisect_right(after, before[-1])
        if following == len(after):
            return None
        for entry in self._entries[before[-1] + 1 : after[following]]:
            if entry not in self._seen and entry not in kinds.SOURCES and entry != kinds.READER:
                return entry
        return None
