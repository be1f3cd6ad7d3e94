"""What an application says about a handoff, on its span and in its record."""

from __future__ import annotations

from dataclasses import fields

from rop_otel import semconv
from rop_otel.core.handoff.attributes import handoff_record
from rop_otel.tracing.declared import Declared


def test_span_and_record_say_the_same() -> None:
    """Every fact is on the span and in the record: what reads the span later knows what is assessed at once."""
    told = Declared(
        name="docs",
        record_id="r1",
        run_id="run",
        declaration_id="decl",
        declaration_sha256="d" * 64,
        resolver_sha256="e" * 64,
        mode="soft",
        selected=("a", "b"),
        rule="all",
        cutoff=3,
        judged=("a", "c"),
        grades=(2, 1),
        scope_id="tenant",
        expected=("vector", "packing"),
        starved_ratio=0.2,
    )
    facts = {field.name: getattr(told, field.name) for field in fields(told) if field.name != "complaints"}
    assert all(facts.values())
    made = told.record(handoff_id="t-s", trace_id="t", span_id="s", stages=(), start_ns=1, end_ns=2)
    assert {name: getattr(made, name) for name in facts} == facts
    attributes = {semconv.HANDOFF_NAME: "docs", **told.attributes()}
    assert handoff_record(attributes, trace_id="t", span_id="s", start_ns=1, end_ns=2) == made
