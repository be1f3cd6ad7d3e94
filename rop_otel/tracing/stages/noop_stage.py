"""The stage that does nothing."""

from __future__ import annotations

from types import TracebackType
from typing import Final, Self


class NoopStage:
    """The twin that does nothing: monitoring is off, or no stage is running."""

    __slots__ = ("span_id", "trace_id")

    def __init__(self) -> None:
        self.trace_id = self.span_id = ""

    def returned(self, results: object, **given: object) -> None:
        """Do nothing."""

    def shown_in(self, prompt: object, results: object, **given: object) -> None:
        """Do nothing, and know nothing."""

    def input(self, *results: object) -> None:
        """Do nothing."""

    def implementation(self, name: str, *, fallback: bool = False) -> None:
        """Do nothing."""

    def query_form(self, form: str) -> None:
        """Do nothing."""

    def __repr__(self) -> str:
        return "<NoopStage: no stage is running here, or monitoring is off>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


NOOP_STAGE: Final = NoopStage()
