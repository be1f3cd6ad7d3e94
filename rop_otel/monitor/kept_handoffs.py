"""Handoffs that are kept, as they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from rop_otel import semconv
from rop_otel.core.handoff import HandoffRecord
from rop_otel.core.handoff.kinds import RESCUE
from rop_otel.core.handoff.run_order import RunOrder
from rop_otel.core.handoff.sums import Sums
from rop_otel.core.handoff.totals import Spot
from rop_otel.errors import RopError
from rop_otel.monitor.assessing import Assessor
from rop_otel.monitor.store import Store, Wanted
from rop_otel.monitor.stored import short
from rop_otel.page import AssessedSet, Carried
from rop_otel.page.document import MOST_STAGES, place_of, summary
from rop_otel.page.plain_detail import plain_detail

_SHOWN: Final = Spot(semconv.SHOWN)
_MARKS: Final = ("selected_at", "judged_at")
_NS: Final = 1_000_000_000

_MOST_SHOWN: Final = 4_000_000
"""Characters of the IDs in the lists of a handoff that is shown: JSON has each several times."""

_MOST_CHOICES: Final = 100
"""Names, services and runs that one can choose from."""


class TooMuchError(RopError):
    """A handoff holds more than is shown."""


class KeptHandoffs:
    """What is shown of the handoffs in a store. It may be asked by any number of threads.

    Args:
        store: Keeps them.
        assessor: Assesses them, as it did when they were kept.
    """

    def __init__(self, store: Store, assessor: Assessor) -> None:
        self._store = store
        self._assessor = assessor

    def detail(self, handoff_id: str) -> dict[str, Any] | None:
        """Return one handoff as the page shows it, worked out again from its spans; None where none has this ID.

        Raises:
            TooMuchError: It holds more than is shown.
        """
        trace_id = self._store.trace_of(handoff_id)
        if trace_id is None:
            return None
        carried = Carried()
        spans = self._store.spans_of([trace_id], [])
        for span in spans:
            carried.add(span)
        records = self._assessor.assembled(spans).handoffs
        record = next((each for each in records if short(each.handoff_id) == handoff_id), None)
        if record is None:
            return None
        if (size := _size(record)) > _MOST_SHOWN:
            raise TooMuchError(
                f"its lists hold {size:,} characters, more than is shown; rop-otel export writes its spans"
            )
        return plain_detail(self._set(record, carried), 0)

    def _set(self, record: HandoffRecord, carried: Carried) -> AssessedSet:
        return AssessedSet(
            name="kept",
            assessments=(self._assessor.assess(record),),
            records=(record,),
            resolver=self._assessor.resolver,
            declaration=self._assessor.declaration,
            declared=frozenset([record.handoff_id] if self._assessor.is_declared(record) else ()),
            carried=carried,
        )

    def rows(self, wanted: Wanted, *, limit: int, after: str | None = None) -> dict[str, Any]:
        """Return a page of rows, the handoff that was settled last first, with the places that their marks stand for.

        Raises:
            ValueError: ``after`` is none that a page gives.
        """
        page = self._store.handoffs(wanted, limit=limit, after=after)
        return {**listed(page.rows), "after": page.after}

    def summary(self, wanted: Wanted) -> dict[str, Any]:
        """Return what handoffs add up to, as a whole and by the hour."""
        sums = Sums()
        hours = []
        for start, found in groupby(self._store.sums(wanted), key=lambda each: each[0]):
            hour = Sums()
            for _, each in found:
                hour.merge(each)
            sums.merge(hour)
            hours.append(
                {
                    "start": start // _NS,
                    "handoffs": hour.handoffs,
                    "verdicts": dict(hour.verdicts),
                    "selected": hour.shown.selected._asdict(),
                }
            )
        totals = sums.totals()
        return {
            "handoffs": totals.handoffs,
            "summary": summary(AssessedSet(name="kept"), totals),
            "hours": hours,
            "choices": self._store.choices(wanted, limit=_MOST_CHOICES),
        }


def listed(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return rows as the page has them, beside the places that their marks stand for."""
    groups: dict[tuple[Spot, ...], list[dict[str, Any]]] = {}
    shown = [dict(row) for row in rows]
    for row in shown:  # most have the same stages
        groups.setdefault(tuple(map(tuple, row.pop("stages"))), []).append(row)  # type: ignore[arg-type]
    columns = _columns(groups)
    for spots, own in groups.items():
        places = [spots.index(spot) if spot in spots else None for spot in columns]
        if places != list(range(len(spots))):
            for row in own:
                for name in _MARKS:
                    marks = row[name]
                    row[name] = "".join("-" if place is None else marks[place] for place in places)
    return {"places": [place_of(Spot(*spot)) for spot in columns], "handoffs": shown}


def _columns(groups: Mapping[tuple[Spot, ...], Sequence[Mapping[str, Any]]]) -> list[Spot]:
    """Return the stages of some handoffs that say whether objects survive, in order: of too many the most frequent."""
    order = RunOrder()
    counts: Counter[Spot] = Counter()
    for spots, rows in groups.items():
        order.take(spots[:-1])
        counts.update(
            {
                spot: len(rows)
                for place, spot in enumerate(spots[:-1])
                if spot[0] != RESCUE or any(row[_MARKS[0]][place] == "1" for row in rows)
            }
        )
    kept = {spot for spot, _ in counts.most_common(MOST_STAGES)}
    return [*(spot for spot in order if spot in kept), _SHOWN]


def _size(record: HandoffRecord) -> int:
    lists = [record.selected, record.judged]
    for stage in record.stages:
        lists += [stage.returned, stage.input, stage.labels, stage.scopes, stage.citations]
    return len(record.handoff_id) + sum(len(text) for each in lists for text in each or ())
