"""Recorded spans assessed: the report of a replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rop_otel.assembling import assemble
from rop_otel.core.handoff import Assessment, HandoffRecord, Severity, Verdict, assess
from rop_otel.core.handoff.stage_lists import StageLists, lists_of
from rop_otel.core.handoff.terms import at_hand
from rop_otel.core.handoff.written import handoff_as_dict
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.accounts import Input
from rop_otel.core.profile.declaration import Opened
from rop_otel.replay.recorded_run import AssessedRun, assess_run, handoffs_of_run
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What recorded spans show.

    Args:
        assessments: In order of the handoff spans' start.
        handoffs: What was recorded of each of these.
        lists: The lists of each stage of each of these.
        orphan_stages: Stage spans that belong to no handoff.
        incomplete: IDs of handoffs whose own span is missing, sorted.
        duplicates: IDs of handoff spans that were not assessed, since another had the ID before, sorted.
        absent_resolvers: Hashes of resolvers that handoffs name and that were not given, sorted.
        run: What the handoffs of a declared run amount to; None without a declaration.
        unreadable: Spans of others that cannot be read, which are left out.
        resolver: The resolver in force, None without one.
        declaration: The declaration of the run, None without one.
        declared: IDs of the handoffs that were assessed before it.
    """

    assessments: tuple[Assessment, ...] = ()
    handoffs: tuple[HandoffRecord, ...] = ()
    lists: tuple[tuple[StageLists, ...], ...] = ()
    orphan_stages: int = 0
    incomplete: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    absent_resolvers: tuple[str, ...] = ()
    run: AssessedRun | None = None
    unreadable: int = 0
    resolver: Resolver | None = None
    declaration: Opened | None = None
    declared: frozenset[str] = frozenset()

    @property
    def clean(self) -> bool:
        """Whether no handoff FAILs and no finding is an error."""
        return not any(
            assessment.verdict is Verdict.FAIL
            or any(finding.severity is Severity.ERROR for finding in assessment.findings)
            for assessment in self.assessments
        )

    def as_dict(self, *, lists: bool = False) -> dict[str, Any]:
        """Return the JSON shape of the contract, with what was selected and judged, and what each stage dropped.

        Args:
            lists: Whether to give the IDs of each stage's list, too.
        """
        each = zip(self.assessments, self.handoffs, self.lists, strict=True)
        return {
            "handoffs": [handoff_as_dict(*parts, with_ids=lists) for parts in each],
            "orphan_stages": self.orphan_stages,
            "incomplete_handoffs": list(self.incomplete),
            "duplicate_handoffs": list(self.duplicates),
            "run": None if self.run is None else self.run.as_dict(),
        }


def replay(
    spans: Iterable[Span],
    *,
    resolver: Resolver | None = None,
    declaration: Opened | None = None,
    rules: Rules | None = None,
    inputs: Sequence[Input] = (),
) -> Report:
    """Assess recorded spans.

    Args:
        spans: In any order, from any number of services, with others in between; may be empty.
        resolver: The resolver in force; None: an ID stands for itself.
        declaration: The declaration of a run: a valid one brings the resolver in force, and assesses the handoffs
            of its run.
        rules: How spans of other conventions are read; None: as their conventions say.
        inputs: The files that the spans are from, looked at when the last span has been read.
    """
    assembled = assemble(spans, rules)
    declared: frozenset[str] = frozenset()
    run: AssessedRun | None = None
    if declaration is not None:
        of_run = handoffs_of_run(assembled.handoffs, declaration)
        declared = frozenset(handoff.handoff_id for handoff in of_run)
        run = assess_run(of_run, declaration, inputs=inputs)
        resolver = declaration.declaration.resolver if declaration.declaration else resolver
    return Report(
        assessments=tuple(
            assess(handoff, resolver=resolver, declaration=declaration if handoff.handoff_id in declared else None)
            for handoff in assembled.handoffs
        ),
        handoffs=assembled.handoffs,
        lists=tuple(lists_of(handoff, resolver=resolver) for handoff in assembled.handoffs),
        orphan_stages=assembled.orphan_stages,
        incomplete=assembled.incomplete,
        duplicates=assembled.duplicates,
        absent_resolvers=tuple(
            sorted(
                {
                    handoff.resolver_sha256
                    for handoff in assembled.handoffs
                    if handoff.resolver_sha256 and not at_hand(handoff, resolver)
                }
            )
        ),
        run=run,
        unreadable=assembled.unreadable,
        resolver=resolver,
        declaration=declaration,
        declared=declared,
    )
