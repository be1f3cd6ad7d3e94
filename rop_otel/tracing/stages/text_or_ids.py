"""Distinguishes text from IDs in what a stage returns or is handed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from rop_otel.core.handoff import Ids, kinds
from rop_otel.tracing.results.result_reader import Reading
from rop_otel.tracing.running.runtime import Runtime
from rop_otel.tracing.stages.spec import Spec
from rop_otel.tracing.stages.stage_owner import Owner


class Reported(Protocol):
    """The facts of a stage so far."""

    @property
    def spec(self) -> Spec:
        """What its author says of it."""

    @property
    def runtime(self) -> Runtime:
        """What it works with."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Fields of its record."""

    @property
    def owner(self) -> Owner | None:
        """Its handoff."""


def recorded_ids(reading: Reading, stage: Reported) -> Ids | None:
    """Return the IDs of a list as they are recorded; None where they are text.

    Most stages are handed the list that the one before returned: what is known of it holds again.

    Args:
        reading: Of a list in which IDs were found.
        stage: Which returned the list, or was handed it.
    """
    ids, runtime = reading.ids or (), stage.runtime
    known = {} if stage.owner is None else stage.owner.lists
    recorded = known.get(ids)
    if recorded is None:
        if not runtime.shape.fit(ids):
            return None
        recorded = known[ids] = runtime.hashed(ids)
    return None if reading.bare and _is_text(ids, stage) else recorded


def _is_text(ids: Ids, stage: Reported) -> bool:
    """Return whether strings that were read as IDs are text.

    Questions look like IDs of several words. They count as text if the stage is of a kind of its own and no source, if
    it was handed none of them, and if no earlier stage returned one.
    """
    if stage.spec.source or stage.spec.kind in kinds.KINDS:
        return False
    wordy = frozenset(stage.runtime.hashed(tuple(raw for raw in ids if len(raw.split()) > 1)))
    opened = None if stage.owner is None else stage.owner.opened
    known = not wordy.isdisjoint(stage.fields.get("input", ()))
    return bool(wordy) and not (known or (opened is not None and opened.returned_any(wordy)))
