"""Two sets of handoffs paired by record: what was kept, recovered, lost and missed by both, as the page pairs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

FATES: Final = ("kept", "recovered", "lost", "missed", "undecided")
_MOST_RECORDS: Final = 200
_ARRIVED: Final = {"PASS": "1", "FAIL": "0"}
_FATES: Final = {"11": "kept", "10": "lost", "01": "recovered", "00": "missed"}


class Side(NamedTuple):
    """One of both sets.

    Args:
        places: The stages that the rows' marks stand for.
        rows: The handoffs; of several of one record the first counts.
    """

    places: Sequence[str]
    rows: Sequence[Mapping[str, Any]]


def compared(before: Side, after: Side) -> dict[str, Any]:
    """Return how the handoffs of records fared before and after."""
    one, other = _by_record(before), _by_record(after)
    pairs = [(row, other[record]) for record, row in one.items() if record in other]
    fates = [(_fate(_arrived(old), _arrived(new)), old, new) for old, new in pairs]
    return {
        "pairs": len(pairs),
        "only_before": len(one) - len(pairs),
        "only_after": len(other) - len(pairs),
        "repeated": sum(_named(side) for side in (before, after)) - len(one) - len(other),
        "unnamed": sum(len(side.rows) - _named(side) for side in (before, after)),
        **_counts(fate for fate, _, _ in fates),
        "places": [
            {
                "place": place,
                **_counts(_fate(_mark(old, before, place), _mark(new, after, place)) for old, new in pairs),
            }
            for place in before.places
            if place in after.places
        ],
        "records": {
            fate: [
                [old["record_id"], old["handoff_id"], new["handoff_id"]] for found, old, new in fates if found == fate
            ][:_MOST_RECORDS]
            for fate in ("recovered", "lost")
        },
    }


def _by_record(side: Side) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for row in side.rows:
        if row["record_id"] is not None:
            found.setdefault(row["record_id"], row)
    return found


def _named(side: Side) -> int:
    return sum(row["record_id"] is not None for row in side.rows)


def _arrived(row: Mapping[str, Any]) -> str:
    return _ARRIVED.get(row["verdict"], "-")


def _mark(row: Mapping[str, Any], side: Side, place: str) -> str:
    return str(row["selected_at"][side.places.index(place)])


def _fate(before: str, after: str) -> str:
    return _FATES.get(before + after, "undecided")


def _counts(fates: Iterable[str]) -> dict[str, int]:
    counts = Counter(fates)
    return {fate: counts[fate] for fate in FATES}
