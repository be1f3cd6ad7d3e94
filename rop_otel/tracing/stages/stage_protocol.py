"""What a stage offers to the application, whether it is monitored or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Protocol, Self, Unpack, runtime_checkable

from rop_otel.tracing.stages.prompting import Prompted, ShownIn
from rop_otel.tracing.stages.stage_facts import Returned


@runtime_checkable
class Stage(Protocol):
    """A stage while it runs. Only :func:`rop_otel.stage` and :func:`rop_otel.using_stage` make one.

    Its methods report what only the application knows. Each may be called at any time before the stage ends.
    """

    @property
    def trace_id(self) -> str:
        """Trace ID of its span, 32 hex digits; empty without a span."""

    @property
    def span_id(self) -> str:
        """ID of its span, 16 hex digits; empty without a span."""

    def returned(self, results: object, **given: Unpack[Returned]) -> None:
        """Report what the stage returns. In a decorated function this replaces what the function returns.

        Args:
            results: The list of documents, or of their IDs, in order. An empty list: the stage returned none.
            given: See :class:`~rop_otel.tracing.stages.stage_facts.Returned`.
        """

    def shown_in(
        self, prompt: str | Iterable[str], results: Sequence[object], **given: Unpack[ShownIn]
    ) -> Prompted | None:
        """Report, instead of calling :meth:`returned`, which documents a prompt shows and how much of each.

        The documents whose text the prompt holds are recorded in the prompt's order, each with its label. If the prompt
        holds none, or if this cannot be decided, that is recorded, and the handoff is ``UNVERIFIABLE``.

        Args:
            prompt: What the model is asked with; of several messages, the texts.
            results: The documents that were to be shown, in order.
            given: See :class:`~rop_otel.tracing.stages.prompting.ShownIn`.

        Returns:
            What the prompt shows; None if this cannot be decided, or if the stage is not monitored.
        """

    def input(self, *results: object) -> None:
        """Report what the stage is handed: one list of documents, or several that it joins.

        Args:
            results: As for :meth:`returned`. Without this call, a stage counts as handed what feeds it.
        """

    def implementation(self, name: str, *, fallback: bool = False) -> None:
        """Report which implementation really runs.

        Args:
            name: The model or method.
            fallback: True if it is a fallback.
        """

    def query_form(self, form: str) -> None:
        """Report how the query was built: ``question``, ``rewrite``, ``title`` or another form."""

    def __enter__(self) -> Self:
        """Begin the stage, and make it current inside of the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the stage with the block."""
