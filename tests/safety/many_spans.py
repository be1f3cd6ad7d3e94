"""Spans with very much of one thing, to be replayed or made."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import set_span_in_context
from opentelemetry.util.types import AnyValue

from rop_otel import semconv
from rop_otel.replay import replay
from rop_otel.spans import Event, Span
from tests.export.monitored import Monitored
from tests.safety.growth import Call, Case
from tests.safety.many_facts import ids
from tests.spans.trace import handoff, pipeline, span, stage


def _replayed(count: int, *, spans: Callable[[int], list[Span]]) -> Call:
    given = spans(count)
    return lambda: replay(given).as_dict()


def _handoffs(count: int) -> list[Span]:
    return [each for number in range(count) for each in pipeline(1 + 100 * number)]


def _of_one_id(count: int) -> list[Span]:
    """Return handoffs that all have one ID, each with a stage."""
    given = {semconv.HANDOFF_ID: "h"}
    spans = [handoff(2 * number + 1, "a", given=given) for number in range(count)]
    return [*spans, *(stage(2 * number + 2, "vector", "a", parent=2 * number + 1) for number in range(count))]


def _without_handoff(count: int) -> list[Span]:
    return [stage(number + 1, "vector", "a", given={semconv.HANDOFF_ID: f"h{number % 7}"}) for number in range(count)]


def _within_each_other(count: int) -> list[Span]:
    """Return handoffs each below the last, with a stage between them that belongs to the one above."""
    spans: list[Span] = []
    for number in range(count):
        spans.append(handoff(2 * number + 1, "a", parent=2 * number or None))
        spans.append(stage(2 * number + 2, "vector", "a", parent=2 * number + 1))
    return spans


def _deep_in_a_trace(count: int) -> list[Span]:
    """Return handoffs side by side below as many spans of somebody else's, each within the last."""
    above = [span(number + 1, parent=number or None) for number in range(count)]
    handoffs = [handoff(count + 2 * number + 1, "a", parent=count) for number in range(count)]
    stages = [stage(count + 2 * number + 2, "vector", "a", parent=count + 2 * number + 1) for number in range(count)]
    return [*above, *handoffs, *stages]


def _in_a_circle(count: int) -> list[Span]:
    """Return stages that stand above each other in a circle, and handoffs below."""
    named = {semconv.HANDOFF_ID: "h"}
    ring = [stage(number + 1, "web", "a", parent=1 + (number + 1) % count, given=named) for number in range(count)]
    below = [handoff(count + 2 * number + 2, "a", parent=1) for number in range(count)]
    stages = [stage(count + 2 * number + 3, "vector", "a", parent=count + 2 * number + 2) for number in range(count)]
    return [handoff(10**6, "a", given=named), *ring, *below, *stages]


def _stages(count: int, *, kind: str = "packing", deep: bool = False) -> list[Span]:
    stages = [stage(number + 2, kind, "a", f"d{number}", parent=number + 1 if deep else 1) for number in range(count)]
    return [handoff(1, "a"), *stages]


def _listed(count: int, *, judged: bool = False) -> list[Span]:
    """Return one handoff whose lists are long, and all of it judged where asked for."""
    found = ids(count)
    given: dict[str, Any] = {semconv.JUDGED_IDS: list(found[::-1])} if judged else {}
    scores = {semconv.RETURNED_SCORES: [0.5] * count, semconv.CONTEXT_LABELS: list(found)}
    stages = [stage(number, "packing", *found, parent=1, given=scores) for number in range(2, 5)]
    return [handoff(1, *found[::-1], given=given), *stages]


def _attributes(count: int) -> list[Span]:
    more = {f"app.{number}": number for number in range(count)}
    return [handoff(1, "a", given=more), *(stage(number, "vector", "a", parent=1, given=more) for number in (2, 3))]


def _twice(count: int) -> list[Span]:
    """Return one stage written very often, each time with another list."""
    return [handoff(1, "a"), *(stage(2, "vector", f"d{number}", parent=1) for number in range(count))]


def _foreign(count: int, *, form: str) -> list[Span]:
    """Return a retriever of somebody else's with many documents, in one of the forms that they come in."""
    name = semconv.OPENINFERENCE_DOCUMENTS
    documents = [{"id": raw, "score": 0.5} for raw in ids(count)]
    attributes: dict[str, Any] = {semconv.OPENINFERENCE_SPAN_KIND: "RETRIEVER"}
    events: tuple[Event, ...] = ()
    if form == "flattened":
        for place, raw in enumerate(ids(count)):
            attributes[f"{name}.{place}.document.id"] = raw
            attributes[f"{name}.{place}.document.score"] = 0.5
    elif form == "json":
        attributes[name] = json.dumps(documents)
    else:
        attributes = {semconv.GEN_AI_OPERATION: "vector_db_retrieve"}
        event = semconv.OPENLLMETRY_QUERY_RESULT
        events = tuple(Event(name=event, attributes={f"{event}.id": raw, f"{event}.score": 0.5}) for raw in ids(count))
    return [span(1), span(2, parent=1, attributes=attributes, events=events)]


def _retrievers(count: int, *, deep: bool) -> list[Span]:
    """Return retrievers of somebody else's, side by side or within each other."""
    given = {semconv.OPENINFERENCE_SPAN_KIND: "RETRIEVER", semconv.OPENINFERENCE_DOCUMENTS: '[{"id": "a"}]'}
    return [
        span(1),
        *(span(number + 2, parent=number + 1 if deep else 1, attributes=given) for number in range(count)),
    ]


def _made(count: int, *, outlive: bool) -> Call:
    """Return the making of a handoff by hand with as many stages; each is below a span, which may outlive all."""
    monitored = Monitored()
    start = monitored.tracer.start_span
    facts: dict[str, AnyValue] = {semconv.STAGE: "vector", semconv.RETURNED_IDS: ["a"]}

    def make() -> None:
        top = start("qa", Context(), attributes={semconv.HANDOFF_NAME: "qa"})
        links = [start("http", set_span_in_context(top, Context())) for _ in range(count)]
        for link in links:
            start("search", set_span_in_context(link, Context()), attributes=facts).end()
            if not outlive:
                link.end()
        for each in (top, *links) if outlive else (top,):
            each.end()

    return make


CASES: Final = [
    Case("handoffs", 60, partial(_replayed, spans=_handoffs)),
    Case("handoffs of one ID", 500, partial(_replayed, spans=_of_one_id)),
    Case("handoffs that are missing", 1500, partial(_replayed, spans=_without_handoff)),
    Case("handoffs within each other", 200, partial(_replayed, spans=_within_each_other)),
    Case("handoffs deep in a trace", 200, partial(_replayed, spans=_deep_in_a_trace)),
    Case("handoffs below a circle", 200, partial(_replayed, spans=_in_a_circle)),
    Case("packing stages", 400, partial(_replayed, spans=_stages)),
    Case("stages within each other", 400, partial(_replayed, spans=partial(_stages, kind="web", deep=True))),
    Case("IDs of a list", 3000, partial(_replayed, spans=_listed)),
    Case("IDs of a list, all judged", 3000, partial(_replayed, spans=partial(_listed, judged=True))),
    Case("attributes of a span", 50_000, partial(_replayed, spans=_attributes)),
    Case("copies of a span", 1000, partial(_replayed, spans=_twice)),
    Case("flattened documents", 2000, partial(_replayed, spans=partial(_foreign, form="flattened"))),
    Case("documents written as JSON", 2000, partial(_replayed, spans=partial(_foreign, form="json"))),
    Case("events with a document each", 2000, partial(_replayed, spans=partial(_foreign, form="events"))),
    Case("retrievers of others'", 300, partial(_replayed, spans=partial(_retrievers, deep=False))),
    Case("retrievers of others' within each other", 300, partial(_replayed, spans=partial(_retrievers, deep=True))),
    Case("stages that others make", 100, partial(_made, outlive=False)),
    Case("stages that others make below spans that go on", 100, partial(_made, outlive=True)),
]
"""What may be much in spans."""
