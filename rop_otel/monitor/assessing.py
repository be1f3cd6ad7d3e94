"""The spans of a trace assessed: with clocks put right, by the resolver and the declaration in force."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.assembling import Assembled, assemble
from rop_otel.core.handoff import Assessment, HandoffRecord, assess
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.declaration import Opened
from rop_otel.monitor.clock_skew import with_one_clock
from rop_otel.monitor.declared_runs import line_of
from rop_otel.monitor.store import StoredHandoff
from rop_otel.monitor.stored import stored_handoff
from rop_otel.replay.recorded_run import handoffs_of_run
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules


class Assessor:
    """Assesses handoffs, when their traces are settled and when they are shown.

    Args:
        resolver: The resolver in force; None: an ID stands for itself.
        declaration: The declaration of a run, whose handoffs are assessed by it, and whose resolver is in force.
        rules: How spans of other conventions are read.

    Attributes:
        resolver, declaration: Those in force.
    """

    def __init__(self, resolver: Resolver | None, declaration: Opened | None, rules: Rules | None) -> None:
        declared = None if declaration is None else declaration.declaration
        self.resolver = resolver if declared is None else declared.resolver
        self.declaration = declaration
        self._rules = rules

    def assembled(self, spans: Sequence[Span]) -> Assembled:
        """Return what spans amount to."""
        return assemble(with_one_clock(spans), self._rules)

    def assess(self, record: HandoffRecord) -> Assessment:
        """Assess one handoff."""
        declaration = self.declaration if self.is_declared(record) else None
        return assess(record, resolver=self.resolver, declaration=declaration)

    def stored(self, record: HandoffRecord, assessment: Assessment, *, service: str | None) -> StoredHandoff:
        """Return an assessed handoff as it is kept.

        Args:
            record: The handoff.
            assessment: As :meth:`assess` gave it.
            service: The service of the handoff's span; None where it has none.
        """
        line = line_of(record, self.declaration) if self.declaration and self.is_declared(record) else None
        return stored_handoff(record, assessment, service=service, observation=line)

    def is_declared(self, record: HandoffRecord) -> bool:
        """Return whether a handoff is one of the declared run."""
        return self.declaration is not None and bool(handoffs_of_run([record], self.declaration))
