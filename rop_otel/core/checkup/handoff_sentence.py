"""One handoff in one sentence, as logs and events have it."""

from __future__ import annotations

from typing import Final

from rop_otel.core.handoff import Assessment, Ids

_MOST: Final = 3
"""Declared alternatives that a sentence names."""


def sentence(assessment: Assessment, selected: Ids | None) -> str:
    """Return an assessment in words, with what was selected.

    Args:
        assessment: The assessment.
        selected: The selection as it was recorded: hashed where there is a key.
    """
    if not selected:
        return str(assessment)
    more = len(selected) - _MOST
    named = ", ".join(map(repr, selected[:_MOST]))
    return f"{assessment}; selected: {named}" + (f" and {more} more" if more > 0 else "")
