"""Tells text from IDs in what a stage returns or is handed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rop_otel.core.handoff import kinds
from rop_otel.tracing.reading import Reading

if TYPE_CHECKING:
    from rop_otel.tracing.stage import Stage


def is_text(reading: Reading, stage: Stage) -> bool:
    """Return whether what was read as IDs is text.

    Questions look like IDs of several words. They are text from a stage of a kind of its own that is no source, where
    it was handed none of them and no stage before it returned one.

    Args:
        reading: Of a list in which IDs were found.
        stage: Which returned the list, or was handed it.
    """
    ids, runtime, spec = reading.ids or (), stage._runtime, stage._spec
    if not runtime.shape.fit(ids):
        return True
    if not reading.bare or spec.source or spec.kind in kinds.KINDS:
        return False
    wordy = frozenset(runtime.hashed(tuple(raw for raw in ids if len(raw.split()) > 1)))
    known = not wordy.isdisjoint(stage._facts.input or ())
    return bool(wordy) and not (known or (stage._opened is not None and stage._opened.returned_any(wordy)))
