"""The facts of a span: those of a stage or handoff, without the texts that the span may hold."""

from __future__ import annotations

from typing import Final, NamedTuple

from rop_otel import semconv
from rop_otel.core.handoff import StageRecord
from rop_otel.core.handoff.attributes import (
    STAGE_ATTRIBUTES,
    Attributes,
    is_handoff,
    is_stage,
    named_handoff_id,
    stage_record,
)
from rop_otel.core.handoff.gaps import Gap
from rop_otel.core.handoff.values import names
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules, admitted, as_stage, handoff_attributes

_NOTHING: Final[Attributes] = {}
_OF_STAGES: Final = frozenset(STAGE_ATTRIBUTES.values())


class Reading(NamedTuple):
    """The facts of a span.

    Args:
        end_ns, start_ns, trace_id, span_id, name, failed, dropped_attributes: Of the span.
        facts: Attributes of ours, as this process may repeat them; none where it is neither stage nor handoff.
        as_handoff: Those of the handoff that it would be, beside the name; None where it is ours, or cannot be one.
        is_stage: Whether it is a stage, by our attributes or in another convention.
        is_handoff: Whether it says that it is a handoff.
        named: The handoff that it names.
    """

    end_ns: int
    start_ns: int
    trace_id: str
    span_id: str
    name: str
    failed: bool
    dropped_attributes: int
    facts: Attributes
    as_handoff: Attributes | None
    is_stage: bool
    is_handoff: bool
    named: str | None

    @property
    def implied(self) -> Attributes | None:
        """The attributes of the handoff that it would be; None where it is ours, or cannot be one."""
        return None if self.as_handoff is None else {semconv.HANDOFF_NAME: self.name, **self.as_handoff}

    @property
    def gaps(self) -> tuple[str, ...]:
        """Why spans of its trace, or of the handoff that it names, are missing, where it says so."""
        return names(self.facts.get(semconv.GAPS)) if semconv.GAPS in self.facts else ()

    @property
    def is_homeless(self) -> bool:
        """Whether it is a stage of another convention that names no handoff."""
        return semconv.STAGE_FOREIGN in self.facts and self.named is None

    def stage_record(self, *, parent_id: str | None, ended: bool = True) -> StageRecord | None:
        """Return its facts as a stage, below an enclosing one of its handoff; None where it is no stage.

        One that has not ended has no end.
        """
        return stage_record(
            self.facts,
            trace_id=self.trace_id,
            span_id=self.span_id,
            parent_id=parent_id,
            start_ns=self.start_ns,
            end_ns=self.end_ns if ended else None,
            failed=self.failed,
            dropped_attributes=self.dropped_attributes,
        )


def read(span: Span, rules: Rules, *, may_be_handoff: bool = True) -> Reading | None:
    """Return the facts of a span; None if it cannot be part of a handoff.

    Args:
        span: The span.
        rules: How spans of other conventions are read.
        may_be_handoff: Whether it may be a handoff that does not say so.
    """
    if span.unreadable or span.name == semconv.SPAN_ASSESSMENT:
        return None
    facts, as_handoff, name = _NOTHING, None, span.name
    ids = (span.end_ns, span.start_ns, span.trace_id, span.span_id)
    if name == semconv.SPAN_GAP:
        named = named_handoff_id(span.attributes)
        return Reading(*ids, name, span.failed, span.dropped_attributes, span.attributes, None, False, False, named)
    is_foreign = span.scope != semconv.SCOPE_NAME  # what our own spans say is hashed already
    if is_stage(span.attributes) or is_handoff(span.attributes):
        facts = admitted(span.attributes, rules) if is_foreign else span.attributes
    elif is_foreign:
        facts = as_stage(span, rules) or _NOTHING
    if is_foreign and may_be_handoff and not is_handoff(facts) and rules.may_be_handoff(span.name):
        name = str(admitted({semconv.HANDOFF_NAME: name}, rules)[semconv.HANDOFF_NAME])
        # What is admitted of a stage holds all that a handoff may say.
        as_handoff = facts if facts and rules.selected is None else handoff_attributes(span.attributes, rules)
    is_stripped = span.dropped_attributes > 0 and _may_have_lost_its_facts(span, facts)
    if not facts and as_handoff is None and not is_stripped:
        return None
    if is_stripped:
        facts = {**facts, semconv.GAPS: (Gap.STRIPPED.value,)}
    kind = (is_stage(facts), is_handoff(facts), named_handoff_id(facts))
    return Reading(*ids, name, span.failed, span.dropped_attributes, facts, as_handoff, *kind)


def _may_have_lost_its_facts(span: Span, facts: Attributes) -> bool:
    """Return whether a span that lost attributes may have lost what makes a handoff a FAIL.

    So may a handoff that says so, which may have had a cutoff, and a span with facts of a stage that is none. A stage
    has what it lists, and its list counts as cut.
    """
    return is_handoff(facts) or not (is_stage(facts) or _OF_STAGES.isdisjoint(span.attributes))
