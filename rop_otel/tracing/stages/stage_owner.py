"""The part of a handoff that its stages use."""

from __future__ import annotations

from typing import Protocol

from rop_otel.core.handoff import Ids
from rop_otel.tracing.results.result_reader import Reader
from rop_otel.tracing.running.handoff_trace import HandoffTrace
from rop_otel.tracing.running.ledger import OpenHandoff
from rop_otel.tracing.running.runtime import Runtime


class Owner(Protocol):
    """The handoff of a stage, as far as its stages know it."""

    @property
    def id(self) -> str:
        """Its ID."""

    @property
    def runtime(self) -> Runtime:
        """What it works with."""

    @property
    def trace(self) -> HandoffTrace:
        """Its span, IDs and clock."""

    @property
    def opened(self) -> OpenHandoff | None:
        """Its entry in the ledger."""

    @property
    def lists(self) -> dict[Ids, Ids]:
        """The lists that its stages returned or were handed so far, each as it is recorded."""

    def note(self, reader: Reader, ids: Ids) -> None:
        """Remember how a stage read what it returned."""

    def show(self, labels: tuple[str, ...]) -> None:
        """Remember labels that a stage showed."""
