"""Attributes under a limit on the length of values: what would be cut without a sign is left out with one.

OpenTelemetry cuts each text of a list by itself. An ID that is cut is another ID, and nothing says so: replay of the
spans would lose an object that reached the reader. So a list of IDs ends before the first one that is too long, with
its true length beside it, as one does that is cut to a number of IDs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rop_otel.core.handoff.record import HANDOFF_FACTS, STAGE_FACTS

_COUNTED: Final = {
    each.attribute: next(count.attribute for count in STAGE_FACTS if count.counts == each.field)
    for each in STAGE_FACTS
    if each.cut == "counted"
}
"""The attributes of lists of IDs, with those of their true lengths."""

_ALIGNED: Final = tuple(each.attribute for each in STAGE_FACTS if each.cut == "aligned")
_RETURNED: Final = next(each.attribute for each in STAGE_FACTS if each.field == "returned")
_OF_HANDOFFS: Final = {each.attribute: each.instead for each in HANDOFF_FACTS if each.hashed is not None}
"""IDs of handoffs, with what says of one that it is there and cannot be read; None: it is left out."""


def fits(attributes: Mapping[str, Any], longest: int) -> bool:
    """Return whether no text in attributes is longer than a limit."""
    return not any(_too_long(value, longest) for value in attributes.values())


def within(attributes: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """Return attributes of which no ID is longer than a limit.

    Args:
        attributes: Of a stage's span, or of a handoff's.
        longest: Characters.
    """
    kept = dict(attributes)
    for ids, count in _COUNTED.items():
        given = kept.get(ids, ())
        end = next((at for at, raw in enumerate(given) if len(raw) > longest), len(given))
        if end == len(given):
            continue
        kept[ids] = given[:end]
        kept[count] = max(len(given), kept.get(count) or 0)
        if ids == _RETURNED:
            kept.update({name: kept[name][:end] for name in _ALIGNED if name in kept})
    for name in _ALIGNED:
        if _too_long(kept.get(name), longest):
            del kept[name]
    for name, instead in _OF_HANDOFFS.items():
        if _too_long(kept.get(name), longest):
            del kept[name]
            if instead is not None:
                kept[name] = instead
    return kept


def _too_long(value: object, longest: int) -> bool:
    if isinstance(value, str):
        return len(value) > longest
    if isinstance(value, tuple) and value and isinstance(value[0], str):  # then all of them are
        return max(map(len, value)) > longest
    return False
