"""The answers of one handoff, recorded as stages of it."""

from __future__ import annotations

from typing import Final, Protocol

from rop_otel.tracing.handoffs.answering import OF_ANSWERS, Answered, Attached, cited_labels
from rop_otel.tracing.position.context_position import HandoffPlace, Position, current_position, moved
from rop_otel.tracing.running.runtime import Runtime
from rop_otel.tracing.stages.live_stage import LiveStage
from rop_otel.tracing.stages.spec import READER
from rop_otel.tracing.stages.stage_owner import Owner


class _Owner(Owner, HandoffPlace, Protocol):
    """The handoff of an answer."""

    @property
    def name(self) -> str:
        """Its name."""


class Answers:
    """What the stages of a handoff showed, and the facts of its answers.

    Attributes:
        attached: Reads the sources of an answer.
    """

    __slots__ = ("_shown", "attached")

    def __init__(self) -> None:
        self.attached: Final = Attached()
        self._shown: list[str] = []

    def show(self, labels: tuple[str, ...]) -> None:
        """Remember labels that a stage showed: labels in the answer are recognised by them."""
        self._shown += labels

    def citations_in(self, text: str, runtime: Runtime, place: str) -> tuple[str, ...]:
        """Return the labels that an answer cites; ``place`` names the handoff in log lines."""
        return cited_labels(text, None, self._shown, runtime, place)

    def record(self, text: str, given: Answered, handoff: _Owner) -> None:
        """Record an answer as a stage of its own, in the round in which it is given."""
        at, trace = current_position(), handoff.trace
        stage = LiveStage(READER, handoff.runtime)
        place = Position(handoff, None, at.round if at.handoff is handoff else None)
        stage._start(moved(trace.before, Position(handoff), trace.span), place)
        try:
            self._report(stage, text, given, f"handoff {handoff.name!r}")
        finally:
            stage._finish()

    def _report(self, stage: LiveStage, text: str, given: Answered, place: str) -> None:
        facts, runtime = stage._facts, stage._runtime
        sources = given.get("sources")
        if sources is not None and stage._wanted:
            reading = self.attached.read(sources, given.get("id"), runtime, place)
            facts.returned(reading, sources, {"labels": given.get("labels")})
        facts.say({name: value for name, value in given.items() if name in OF_ANSWERS})
        facts.cite(cited_labels(text, given.get("citations"), self._shown, runtime, place))
