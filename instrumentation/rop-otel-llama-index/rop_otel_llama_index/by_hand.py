"""Parts that the application calls by hand within a handoff of its own, one after another."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import count

import rop_otel as rop
from rop_otel.instrumenting import (
    Settings,
    before_the_end,
    current_context,
    failure,
    has_shown,
    notes,
    raise_if_delivered,
    using_context,
)
from rop_otel_llama_index.gathering import Gathering
from rop_otel_llama_index.watched import BY_HAND


class ByHand:
    """What was retrieved in an open handoff, outside of any engine, and what models were asked since.

    Args:
        handoff: Of the application.
        settings: Of the instrumentation.
    """

    def __init__(self, handoff: rop.Handoff, settings: Settings) -> None:
        self._handoff = handoff
        self._context = current_context()
        self.gathering: Gathering | None = Gathering(settings)
        self.inside: int | None = None
        """The round of what is called next."""
        self.rounds = count(1)
        """Numbers of rounds, also of those in what is called."""

    def goes_on(self) -> None:
        """Take in where something is called: what is shown belongs to the last such place."""
        self._context = current_context()

    def settle(self) -> None:
        """Record what the prompts show, unless the application or a synthesizer has."""
        notes(self._handoff).pop(BY_HAND, None)
        gathering, self.gathering = self.gathering, None
        context, self._context = self._context, current_context()
        if gathering is None or has_shown(self._handoff):
            return
        try:
            with using_context(context), nullcontext() if self.inside is None else rop.using_round(self.inside):
                gathering.pack_last()
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure("LlamaIndex, parts called by hand", "what they showed could not be read")


def call_by_hand(settings: Settings) -> None:
    """Take in that a part is called by hand, if it is: in an open handoff, and in no stage of the application."""
    handoff = rop.current_handoff()
    if not handoff.id or handoff.running_stage.span_id:
        return
    kept = notes(handoff)
    found = kept.get(BY_HAND)
    if found is None:
        made = ByHand(handoff, settings)
        found = kept.setdefault(BY_HAND, made)
        if found is made:
            before_the_end(handoff, made.settle)
    found.goes_on()
