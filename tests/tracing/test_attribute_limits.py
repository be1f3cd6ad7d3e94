"""Spans under a limit on the length of attribute values."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from opentelemetry.sdk.trace import SpanLimits

import rop_otel as rop
from rop_otel import semconv
from rop_otel.assembling import assemble
from rop_otel.core.handoff import assess
from rop_otel.spans.sdk import from_sdk
from tests.tracing.watched import Watched

LONG = "a" * 40
OTHER = "a" * 32 + "b" * 8


def recorded(watched: Watched) -> tuple[str, tuple[str, ...]]:
    """Return the verdict that replay has of the exported spans, and the codes of its findings."""
    [handoff] = assemble([from_sdk(span) for span in watched.exporter.get_finished_spans()]).handoffs
    found = assess(handoff)
    return str(found.verdict), tuple(each.code.value for each in found.findings)


@pytest.mark.parametrize(
    ("ids", "packed", "selected", "live", "later"),
    [
        (["b", LONG, "c"], ["b", "c"], "c", "PASS", "PASS"),
        (["b", LONG], ["b", LONG], LONG, "PASS", "SELECTOR_ERROR"),
        (["b", OTHER], [OTHER, "b"], "b", "PASS", "UNVERIFIABLE"),
        (["b", LONG, OTHER], ["c", LONG], "b", "FAIL", "UNVERIFIABLE"),
        (["b", "c"], ["c"], "b", "FAIL", "FAIL"),
    ],
)
def test_replay_claims_nothing_that_was_cut(
    watch: Callable[..., Watched], ids: list[str], packed: list[str], selected: str, live: str, later: str
) -> None:
    """The process itself knows whole IDs; from its spans no verdict follows that cut ones would change."""
    watched = watch(limits=SpanLimits(max_span_attribute_length=32))
    with rop.handoff("qa", selected=selected):
        with rop.using_stage("vector") as stage:
            stage.returned(ids, scores=[1.0 - place / 10 for place, _ in enumerate(ids)])
        with rop.using_stage("packing", input=ids) as stage:
            stage.returned(packed, labels=[f"S{place}" for place, _ in enumerate(packed)])
    assert str(watched.assessment.verdict) == live
    assert recorded(watched)[0] == later


def test_labels_and_scopes_that_are_too_long_say_nothing(watch: Callable[..., Watched]) -> None:
    """A label or a scope that is cut would be another one."""
    watched = watch(limits=SpanLimits(max_span_attribute_length=32))
    with rop.handoff("qa", selected="a", scope=LONG), rop.using_stage("packing") as stage:
        stage.returned(["a", "b"], labels=[LONG, OTHER], scopes=[LONG, LONG])
    assert recorded(watched) == ("PASS", ())


@pytest.mark.parametrize(
    ("characters", "limit", "later"),
    [(200, 200, "PASS"), (200, 199, "SELECTOR_ERROR"), (5000, 5000, "PASS"), (5000, 4096, "SELECTOR_ERROR")],
)
def test_the_longest_id_that_may_be_recorded_decides(
    watch: Callable[..., Watched], characters: int, limit: int, later: str
) -> None:
    """A limit that the longest ID reaches leaves it out; one that no ID can pass leaves all as they are."""
    longest = "a" * characters
    watched = watch(limits=SpanLimits(max_span_attribute_length=limit), max_id_length=characters)
    with rop.handoff("qa", selected=longest), rop.using_stage("packing", input=[longest, "b"]) as stage:
        stage.returned([longest, "b"])
    assert str(watched.assessment.verdict) == "PASS"
    assert recorded(watched)[0] == later


@pytest.mark.parametrize(("limit", "kept"), [(32, ["b"]), (199, ["b"]), (200, ["b", "a" * 200])])
def test_a_stage_ends_before_the_id_that_is_cut(watch: Callable[..., Watched], limit: int, kept: list[str]) -> None:
    """Its list on the span ends before the ID, with its true length beside it."""
    watched = watch(limits=SpanLimits(max_span_attribute_length=limit))
    with rop.handoff("qa"), rop.using_stage("vector") as stage:
        stage.returned(["b", "a" * 200])
    attributes = watched.attributes("vector")
    assert list(attributes[semconv.RETURNED_IDS]) == kept
    assert attributes.get(semconv.RETURNED_COUNT, len(kept)) == 2
