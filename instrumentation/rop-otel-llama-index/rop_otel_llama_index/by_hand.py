"""Parts that the application calls by hand within a handoff of its own, one after another."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import count

import rop_otel as rop
from rop_otel.instrumenting import Settings, guarded, has_shown, kept_until_the_end
from rop_otel_llama_index.gathering import Gathering
from rop_otel_llama_index.watched import BY_HAND


class ByHand:
    """What was retrieved in an open handoff, outside of any engine, and what models were asked since.

    Args:
        settings: Of the instrumentation.
    """

    def __init__(self, settings: Settings) -> None:
        self.gathering = Gathering(settings)
        self.inside: int | None = None
        """The round of what is called next."""
        self.rounds = count(1)
        """Numbers of rounds, also of those in what is called."""

    def settle(self) -> None:
        """Record what the prompts show, unless the application or a synthesizer has; the handoff is current."""
        handoff = rop.current_handoff()
        with guarded("LlamaIndex, parts called by hand", "what they showed could not be read"):
            if not has_shown(handoff):
                with nullcontext() if self.inside is None else rop.using_round(self.inside):
                    self.gathering.pack_last()


def call_by_hand(settings: Settings) -> None:
    """Take in that a part is called by hand, if it is: in an open handoff, and in no stage of the application."""
    handoff = rop.current_handoff()
    if handoff.id and not handoff.running_stage.span_id:
        kept_until_the_end(handoff, BY_HAND, lambda: ByHand(settings), ByHand.settle)
