"""The handoff that does nothing."""

from __future__ import annotations

from types import TracebackType
from typing import Self, Unpack

from rop_otel.core.handoff import Assessment
from rop_otel.tracing.handoffs.answering import Answered
from rop_otel.tracing.stages.stage_protocol import Stage
from rop_otel.tracing.stages.using import running_stage


class NoopHandoff:
    """The twin that does nothing: monitoring is off, or no handoff is open.

    Args:
        name: Name of the handoff that it stands for.
        note: Why it does nothing.
    """

    def __init__(self, name: str, note: str) -> None:
        self._name = name
        self._note = note
        self.id = ""
        self.trace_id = ""

    @property
    def name(self) -> str:
        """Name of the interface."""
        return self._name

    @property
    def assessment(self) -> Assessment:
        """An assessment without a verdict, whose note says why."""
        return Assessment(handoff_name=self._name, note=self._note)

    @property
    def running_stage(self) -> Stage:
        """The stage in which the caller runs. It may be in no handoff, or in the handoff of another service."""
        return running_stage()

    def select(self, selected: object) -> None:
        """Do nothing."""

    def answered(self, text: str, **given: Unpack[Answered]) -> None:
        """Do nothing."""

    def close(self) -> Assessment:
        """Return :attr:`assessment`."""
        return self.assessment

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def __repr__(self) -> str:
        return f"<NoopHandoff {self.assessment}>"
