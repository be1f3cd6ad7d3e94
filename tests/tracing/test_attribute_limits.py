"""Spans under a limit on the length of attribute values."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from opentelemetry.sdk.trace import SpanLimits

import rop_otel as rop
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
