"""Attributes that go in at once are those that OpenTelemetry would have kept."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.trace import INVALID_SPAN, Span

from rop_otel.tracing.running import span_writing
from rop_otel.tracing.running.span_writing import Value, write

TEXTS = st.text(max_size=6)
VALUES: st.SearchStrategy[Value] = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.lists(TEXTS, max_size=4).map(tuple),
    st.lists(st.integers(0, 9), max_size=4).map(tuple),
    st.lists(st.floats(allow_nan=False), max_size=4).map(tuple),
)
ATTRIBUTES = st.dictionaries(TEXTS.filter(bool), VALUES, max_size=6)


def _span(*, count: int | None = None, length: int | None = None) -> Span:
    limits = SpanLimits(max_span_attributes=count, max_span_attribute_length=length)
    return TracerProvider(span_limits=limits, shutdown_on_exit=False).get_tracer("test").start_span("s")


def _kept(span: Span) -> tuple[dict[str, object], int]:
    attributes = getattr(span, "attributes", None)
    assert isinstance(attributes, Mapping)
    return dict(attributes), getattr(span, "dropped_attributes", -1)


@given(
    earlier=ATTRIBUTES, attributes=ATTRIBUTES, count=st.none() | st.integers(1, 8), length=st.none() | st.integers(1, 4)
)
def test_the_same_attributes_as_the_public_way(
    earlier: dict[str, Value], attributes: dict[str, Value], count: int | None, length: int | None
) -> None:
    """Whatever limits a provider has, the span keeps and drops what it would have kept and dropped."""
    logging.disable(logging.WARNING)
    try:
        ours, theirs = _span(count=count, length=length), _span(count=count, length=length)
        for span in (ours, theirs):
            span.set_attributes(earlier)
        write(ours, attributes)
        theirs.set_attributes(attributes)
        assert _kept(ours) == _kept(theirs)
    finally:
        logging.disable(logging.NOTSET)


def test_it_knows_the_installed_version() -> None:
    """With the installed OpenTelemetry, attributes do go in at once."""
    assert span_writing._KNOWN


def test_a_span_of_another_make_takes_them_the_public_way() -> None:
    """A span that keeps attributes in its own way is handed them through its own method."""
    given_to: dict[str, object] = {}

    class Other(type(INVALID_SPAN)):  # type: ignore[misc]
        def set_attributes(self, attributes: Mapping[str, object]) -> None:
            given_to.update(attributes)

    write(Other(INVALID_SPAN.get_span_context()), {"ids": ("a",)})
    assert given_to == {"ids": ("a",)}


def test_an_ended_span_takes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A span that has ended stays as it was."""
    span = _span()
    span.end()
    write(span, {"ids": ("a",)})
    assert _kept(span) == ({}, 0)
