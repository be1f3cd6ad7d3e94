"""The stages that a handoff declares, and which of them no span showed."""

from __future__ import annotations

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

    __slots__ = ("_places", "missing")

    def __init__(self, entries: Sequence[str], observed: Iterable[StageRecord]) -> None:
        self._places = {entry: place for place, entry in reversed(list(enumerate(entries)))}
        seen = {self._entry(stage) for stage in observed} if entries else set()
        self.missing = tuple(entry for entry in self._places_in_order() if entry not in seen)

    def _places_in_order(self) -> list[str]:
        return sorted(self._places, key=self._places.__getitem__)

    def _entry(self, stage: StageRecord) -> str:
        return stage.name if stage.name is not None and stage.name in self._places else stage.kind

    def missing_between(self, last: Iterable[StageRecord], stage: StageRecord) -> str | None:
        """Return the first missing entry, no source or reader, between the last of some stages and a later stage."""
        before = [self._places[entry] for entry in map(self._entry, last) if entry in self._places]
        after = self._places.get(self._entry(stage))
        if not before or after is None:
            return None
        latest = max(before)
        between = (entry for entry in self.missing if latest < self._places[entry] < after)
        return next((entry for entry in between if entry not in kinds.SOURCES and entry != kinds.READER), None)
