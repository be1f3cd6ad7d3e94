"""Spans written and read again, from our own type and from the SDK's."""

from __future__ import annotations

import gzip
import io
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode

from rop_otel.spans import Event, Span, from_sdk
from rop_otel.spans.otlp_reader import read
from rop_otel.spans.otlp_writer import write

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INT64 = st.integers(-(2**63), 2**63 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | INT64 | st.floats(allow_nan=False) | TEXT | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
SPANS = st.builds(
    Span,
    trace_id=st.text("0123456789abcdef", min_size=32, max_size=32),
    span_id=st.text("0123456789abcdef", min_size=16, max_size=16),
    parent_id=st.none() | st.text("123456789abcdef", min_size=16, max_size=16),
    name=TEXT,
    kind=st.integers(0, 5),
    start_ns=st.integers(0, 2**63),
    end_ns=st.integers(0, 2**63),
    attributes=st.dictionaries(TEXT, VALUES, max_size=4),
    failed=st.booleans(),
    scope=TEXT,
    service=st.none() | TEXT,
    dropped_attributes=st.integers(0, 100),
    events=st.lists(st.builds(Event, name=TEXT, attributes=st.dictionaries(TEXT, VALUES, max_size=2)), max_size=2).map(
        tuple
    ),
    dropped_events=st.integers(0, 100),
)


def written(spans: list[Span]) -> bytes:
    stream = io.BytesIO()
    write(spans, stream)
    return stream.getvalue()


@given(spans=st.lists(SPANS, max_size=5))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, spans: list[Span]) -> None:
    """Spans come back as they were, one request a line, those of one service and scope together."""
    file = tmp_path_factory.mktemp("trip") / "traces.jsonl.gz"
    data = written(spans)
    file.write_bytes(gzip.compress(data))
    assert data.count(b"\n") == bool(spans)
    together: dict[tuple[str | None, str], list[Span]] = {}
    for span in spans:
        together.setdefault((span.service, span.scope), []).append(span)
    assert repr(list(read(str(file)))) == repr([span for group in together.values() for span in group])


def test_what_json_has_no_form_for(tmp_path: Path) -> None:
    """Numbers that are not finite come back, and half of a surrogate pair as a question mark."""
    file = tmp_path / "traces"
    attributes = {"n": (math.nan, math.inf, -math.inf), "s": "\ud83d"}
    file.write_bytes(written([Span(trace_id="a", span_id="b", attributes=attributes)]))
    [found] = read(str(file))
    assert repr(found.attributes) == "{'n': [nan, inf, -inf], 's': '?'}"


def test_spans_of_the_sdk(tmp_path: Path) -> None:
    """A finished span of the SDK keeps its IDs, parent, times, attributes, status, scope, service and losses."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(
        resource=Resource({"service.name": "app"}),
        span_limits=SpanLimits(max_span_attributes=2),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("lib")
    with tracer.start_as_current_span("outer", kind=SpanKind.CLIENT):
        inner = tracer.start_span("inner", start_time=5, attributes={"lost": 1, "ids": ["a", "b"], "n": 2})
        inner.set_status(Status(StatusCode.ERROR))
        inner.end(end_time=9)
    child, root = map(from_sdk, exporter.get_finished_spans())
    assert (root.parent_id, root.kind, root.failed) == (None, 3, False)
    assert child == Span(
        trace_id=root.trace_id,
        span_id=child.span_id,
        parent_id=root.span_id,
        name="inner",
        kind=1,
        start_ns=5,
        end_ns=9,
        attributes={"ids": ("a", "b"), "n": 2},
        failed=True,
        scope="lib",
        service="app",
        dropped_attributes=1,
    )
    assert (len(child.trace_id), len(child.span_id)) == (32, 16)
    file = tmp_path / "traces"
    file.write_bytes(written([child]))
    [found] = read(str(file))
    assert found.attributes == {"ids": ["a", "b"], "n": 2}
