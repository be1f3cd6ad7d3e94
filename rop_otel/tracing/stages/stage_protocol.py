"""What a stage offers to the application, whether it is monitored or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Protocol, Self, Unpack, runtime_checkable

from rop_otel.tracing.stages.prompting import Prompted, ShownIn
from rop_otel.tracing.stages.stage_facts import Returned


@runtime_checkable
class Stage(Protocol):
    """A stage while it runs. Made by :func:`rop_otel.stage` and :func:`rop_otel.using_stage`, never by hand.

    Its methods tell what only the application knows; each may be called at any time before the stage ends.
    """

    @property
    def trace_id(self) -> str:
        """Trace of its span in hex, empty without one."""

    @property
    def span_id(self) -> str:
        """Its span in hex, empty without one."""

    def returned(self, results: object, **told: Unpack[Returned]) -> None:
        """Tell what the stage returns; in a decorated function it takes the place of what the function returns.

        Args:
            results: The list of documents, or of their IDs, in order.
            told: See :class:`~rop_otel.tracing.stages.stage_facts.Returned`.
        """

    def shown_in(
        self, prompt: str | Iterable[str], results: Sequence[object], **given: Unpack[ShownIn]
    ) -> Prompted | None:
        """Report what a prompt shows of documents, in the place of :meth:`returned`: which, and how much of each.

        The documents whose text the prompt holds are recorded in its order, each with its label. Where it holds none,
        that is recorded, and where it cannot be decided, so is that: neither has a verdict.

        Args:
            prompt: What the model is asked with; of several messages, the texts.
            results: The documents that were to be shown, in order.
            given: See :class:`~rop_otel.tracing.stages.prompting.ShownIn`.

        Returns:
            What it shows; None where it cannot be decided, or nothing records the stage.
        """

    def input(self, *results: object) -> None:
        """Tell what the stage is handed: one list of documents, or several that it joins.

        Args:
            results: As for :meth:`returned`. Without this, a stage is taken to be handed what feeds it.
        """

    def implementation(self, name: str, *, fallback: bool = False) -> None:
        """Tell what really runs.

        Args:
            name: The model or method.
            fallback: True where it is one that the stage fell back to.
        """

    def query_form(self, form: str) -> None:
        """Tell how the query was built: ``question``, ``rewrite``, ``title`` or another."""

    def __enter__(self) -> Self:
        """Begin, and be current inside of the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End with the block."""
