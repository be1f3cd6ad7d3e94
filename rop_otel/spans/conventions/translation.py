"""A span of another convention read as a stage or a handoff: the result is attributes of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff.attributes import is_handoff, is_stage
from rop_otel.spans.conventions.admitting import admitted
from rop_otel.spans.conventions.convention_rules import Rules
from rop_otel.spans.conventions.documents import Documents, as_id, items_of, read_attribute, read_events
from rop_otel.spans.conventions.genai import GENAI
from rop_otel.spans.conventions.openinference import OPENINFERENCE
from rop_otel.spans.conventions.openllmetry import OPENLLMETRY
from rop_otel.spans.conventions.table import StageForm
from rop_otel.spans.span import Span

CONVENTIONS: Final = (OPENINFERENCE, GENAI, OPENLLMETRY)
_TELLING: Final = frozenset(
    {semconv.STAGE, semconv.HANDOFF_NAME, *(marker for convention in CONVENTIONS for marker in convention.markers)}
)
"""A span with none of these attributes is neither a stage nor a handoff."""

_EVENTS: Final = frozenset(name for convention in CONVENTIONS for name in convention.events)
_FORMS: Final = tuple(form for convention in CONVENTIONS for form in convention.stages.values())


def concerns(attributes: Mapping[str, object], rules: Rules, *, lost: int = 0) -> bool:
    """Return whether a span may be a stage, or says that it is a handoff; False for nearly every one, at one look.

    Args:
        attributes: Of the span.
        rules: What the user says.
        lost: How many attributes it lost to a limit, that of its convention maybe among them.
    """
    return lost > 0 or bool(rules.stages) or not _TELLING.isdisjoint(attributes)


def as_stage(span: Span, rules: Rules) -> Mapping[str, object] | None:
    """Return the attributes of the stage that a span of another convention stands for.

    Args:
        span: The span. What it carries of ours counts before what is read.
        rules: What the user says.

    Returns:
        Our attributes; None for a span that is no stage, and for one that our own attributes describe. A list that the
        span does not carry is left out, and so is unreadable.
    """
    attributes = span.attributes
    if not concerns(attributes, rules, lost=span.dropped_attributes) or is_stage(attributes) or is_handoff(attributes):
        return None
    form = _form(span, rules)
    if form is None:
        return None
    read: dict[str, object] = {semconv.STAGE: form.kind, semconv.STAGE_FOREIGN: True}
    if span.name:
        read[semconv.STAGE_NAME] = span.name
    if form.source:
        read[semconv.STAGE_SOURCE] = True
    if form.implementation is not None and form.implementation in attributes:
        read[semconv.STAGE_IMPLEMENTATION] = attributes[form.implementation]
    returned = _documents(span, form.returned, rules, events=True)
    if returned.ids is not None:
        read[semconv.RETURNED_IDS] = returned.ids
        read[semconv.RETURNED_COUNT] = returned.total
        read[semconv.RETURNED_SCORES] = returned.scores
    handed = _documents(span, form.handed, rules)
    if handed.ids is not None:
        read[semconv.INPUT_IDS] = handed.ids
        read[semconv.INPUT_COUNT] = handed.total
    if rules.labels is not None and (labels := items_of(attributes.get(rules.labels))) is not None:
        read[semconv.CONTEXT_LABELS] = labels
    return admitted(read | _ours(attributes), rules)


def handoff_attributes(attributes: Mapping[str, object], rules: Rules) -> Mapping[str, object]:
    """Return the facts of the handoff that a foreign span stands for, beside the name.

    Args:
        attributes: Of the span. Those of ours count before what the rules say.
        rules: What the user says.
    """
    selected = attributes.get(rules.selected) if rules.selected is not None else None
    read: dict[str, object] = {}
    if selected is not None:
        read[semconv.SELECTED_IDS] = tuple(as_id(each) for each in items_of(selected) or [selected])
    return admitted(read | _ours(attributes), rules)


def _ours(attributes: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in attributes.items() if key.startswith(semconv.OURS)}


def _form(span: Span, rules: Rules) -> StageForm | None:
    """Return what a span stands for: what the user says of its name, else what its convention says."""
    known = _known_form(span)
    kind = rules.kind_of(span.name)
    if kind is None:
        return known
    return StageForm(kind=kind, returned=_RETURNED, handed=_HANDED) if known is None else replace(known, kind=kind)


def _known_form(span: Span) -> StageForm | None:
    attributes = span.attributes
    for convention in CONVENTIONS:
        for marker in convention.markers:
            if marker not in attributes:
                continue
            form = convention.stages.get(str(attributes[marker]).lower())
            if form is not None:
                return form
            if convention.event_stage is not None and any(event.name in convention.events for event in span.events):
                return convention.event_stage
    if span.dropped_attributes:
        # The marker may be among what was lost: it is often set first, and the first are the first to go.
        for form in _FORMS:
            if any(name.startswith(f"{wanted}.") for wanted in form.returned for name in attributes):
                return form
    return None


def _documents(span: Span, names: Iterable[str], rules: Rules, *, events: bool = False) -> Documents:
    """Return the documents of the first attribute that holds some; unreadable where there is none."""
    lossy = span.dropped_attributes > 0
    for name in names:
        found = read_attribute(span.attributes, name, id_keys=rules.id_keys, lossy=lossy)
        if found is not None:
            return found
    if not events or not span.events:
        return Documents()
    for event in span.events:
        for name in names:
            if name in event.attributes:
                found = read_attribute(event.attributes, name, id_keys=rules.id_keys, lossy=False)
                if found is not None:
                    return found
    results = [(event.name, event.attributes) for event in span.events if event.name in _EVENTS]
    if not results:
        return Documents()
    if span.dropped_events:  # the first are the first to go, so which one is the best is not known
        return Documents(ids=(), total=len(results) + span.dropped_events)
    return read_events(results, id_keys=rules.id_keys)


_RETURNED: Final = tuple(dict.fromkeys(name for form in _FORMS for name in form.returned))
_HANDED: Final = tuple(dict.fromkeys(name for form in _FORMS for name in form.handed))
