"""What a handoff offers to the application, whether it is monitored or not."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self, Unpack, runtime_checkable

from rop_otel.core.handoff import Assessment
from rop_otel.tracing.handoffs.answering import Answered
from rop_otel.tracing.stages.stage_protocol import Stage


@runtime_checkable
class Handoff(Protocol):
    """One way from a selected object, or just a question, to the evidence that a reader is shown.

    :func:`rop_otel.handoff` makes one that its block ends, :func:`rop_otel.start_handoff` one that :meth:`close` ends.
    A ``with`` block makes it current: stages inside the block belong to it.
    """

    @property
    def id(self) -> str:
        """Its unique ID."""

    @property
    def trace_id(self) -> str:
        """Trace ID of its span, 32 hex digits; empty without an SDK."""

    @property
    def name(self) -> str:
        """Name of the interface."""

    @property
    def assessment(self) -> Assessment:
        """The assessment. Before the end, or if nothing was assessed, it has no verdict, and its note says why."""

    @property
    def running_stage(self) -> Stage:
        """The stage in which the caller runs, so that a decorated function can report more than its result.

        Outside of any stage it is one that does nothing.

        >>> import rop_otel as rop
        >>> @rop.stage("rerank")
        ... def rerank(hits):
        ...     rop.current_handoff().running_stage.implementation("word overlap", fallback=True)
        ...     return sorted(hits)
        >>> rerank(["b", "a"])
        ['a', 'b']
        """

    def select(self, selected: object) -> None:
        """Report which object was selected upstream, and so has to reach the reader.

        Args:
            selected: Its ID, or an object that carries an ID. A list: declared alternatives. None or an empty list:
                a selection was due and none came, which gives the verdict ``SELECTOR_ERROR``.
        """

    def answered(self, text: str, **given: Unpack[Answered]) -> None:
        """Report what the reader answered. The text itself is never recorded, only the labels that it cites.

        Args:
            text: The answer.
            given: See :class:`~rop_otel.tracing.handoffs.answering.Answered`.
        """

    def close(self) -> Assessment:
        """End the handoff and assess it; a second call changes nothing."""

    def __enter__(self) -> Self:
        """Make this handoff current inside of the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the block. This ends the handoff, unless :func:`rop_otel.start_handoff` made it."""

    async def __aenter__(self) -> Self:
        """Make this handoff current inside of the block."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the block. This ends the handoff, unless :func:`rop_otel.start_handoff` made it."""
