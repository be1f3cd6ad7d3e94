"""Distinguishes text from IDs in what a stage returns or is handed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from rop_otel.core.handoff import kinds
from rop_otel.tracing.results.result_reader import Reading
from rop_otel.tracing.running.ledger import OpenHandoff
from rop_otel.tracing.running.runtime import Runtime
from rop_otel.tracing.stages.spec import Spec


class Telling(Protocol):
    """The facts of a stage so far."""

    @property
    def spec(self) -> Spec:
        """What its author says of it."""

    @property
    def runtime(self) -> Runtime:
        """What it works with."""

    @property
    def told(self) -> Mapping[str, Any]:
        """Fields of its record."""

    @property
    def opened(self) -> OpenHandoff | None:
        """Its handoff, as far as that is assessed here."""


def is_text(reading: Reading, stage: Telling) -> bool:
    """Return whether what was read as IDs is text.

    Questions look like IDs of several words. They count as text if the stage is of a kind of its own and no source, if
    it was handed none of them, and if no earlier stage returned one.

    Args:
        reading: Of a list in which IDs were found.
        stage: Which returned the list, or was handed it.
    """
    ids, runtime, spec = reading.ids or (), stage.runtime, stage.spec
    if not runtime.shape.fit(ids):
        return True
    if not reading.bare or spec.source or spec.kind in kinds.KINDS:
        return False
    wordy = frozenset(runtime.hashed(tuple(raw for raw in ids if len(raw.split()) > 1)))
    known = not wordy.isdisjoint(stage.told.get("input", ()))
    return bool(wordy) and not (known or (stage.opened is not None and stage.opened.returned_any(wordy)))
