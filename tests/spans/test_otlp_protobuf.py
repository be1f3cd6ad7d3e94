"""Export requests in protobuf, read as the same spans as in JSON."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.spans import Event, Span, otlp_protobuf, otlp_reader
from rop_otel.spans.otlp_writer import write
from tests.monitor.exported import request_of
from tests.spans.trace import pipeline, span

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
PLAIN = TEXT | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.binary(max_size=3)
VALUES: st.SearchStrategy[Any] = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=5
)
LISTS = st.lists(TEXT, max_size=4) | st.lists(st.floats(allow_nan=False), max_size=4) | st.lists(PLAIN, max_size=4)
ATTRIBUTES = st.dictionaries(TEXT, VALUES | LISTS, max_size=4)
SPANS = st.builds(
    Span,
    trace_id=st.just("ab" * 16),
    span_id=st.just("cd" * 8),
    parent_id=st.none() | st.just("ef" * 8),
    name=TEXT,
    kind=st.integers(0, 5),
    start_ns=st.integers(0, 2**63 - 1),
    end_ns=st.integers(0, 2**63 - 1),
    attributes=ATTRIBUTES,
    failed=st.booleans(),
    scope=TEXT,
    service=st.none() | TEXT,
    dropped_attributes=st.integers(0, 5),
    events=st.lists(st.builds(Event, name=TEXT, attributes=ATTRIBUTES), max_size=2).map(tuple),
    dropped_events=st.integers(0, 5),
)


@given(st.lists(SPANS, max_size=3))
def test_every_span_comes_back(spans: list[Span]) -> None:
    """Each field and each kind of value is read as it was written."""
    assert otlp_protobuf.spans_in(request_of(spans).SerializeToString()) == spans


def test_protobuf_and_json_are_the_same() -> None:
    """The same spans in both forms."""
    stream = io.BytesIO()
    write(pipeline(), stream)
    assert otlp_protobuf.spans_in(request_of(pipeline()).SerializeToString()) == pipeline()
    assert otlp_reader.spans_in(stream.getvalue()) == pipeline()


@pytest.mark.parametrize("request_", [b"\xff", b"{}", b"\x0a\x05ab", b"<html>"])
def test_no_request(request_: bytes) -> None:
    """What is no request is refused."""
    with pytest.raises(ValueError, match="not an OTLP export request"):
        otlp_protobuf.spans_in(request_)


def test_an_empty_request_holds_nothing() -> None:
    """It is a request without spans."""
    assert otlp_protobuf.spans_in(b"") == []


def test_values_within_each_other() -> None:
    """What is deeper than anybody writes counts as no value."""
    value: object = "x"
    for _ in range(40):
        value = [value]
    [found] = otlp_protobuf.spans_in(request_of([span(1, attributes={"deep": value})]).SerializeToString())
    depth = 0
    value = found.attributes["deep"]
    while isinstance(value, list):
        value, depth = value[0], depth + 1
    assert (value, depth) == (None, 32)


@pytest.mark.parametrize("length", [1, 2, 9, 127, 128, 300, 70_000])
def test_lists_of_texts_of_any_length(length: int) -> None:
    """An item is read alike whatever its length, and beside items of other kinds that look like it."""
    items = ["x" * length, "\n" + "y" * (length - 1), "é" * length, "", b"\n\x01a", "!" * 9, 1.5, 10, True, ["\n"]]
    for some in (items[:1], items[:4], items, [1.5, 2.5], [1.5, "!" * 7], ["", ""]):
        spans = [span(1, attributes={"some": some, "again": some})]
        assert otlp_protobuf.spans_in(request_of(spans).SerializeToString()) == spans


def test_a_text_that_is_no_utf8() -> None:
    """It spoils no other text of the request, nor its own span."""
    body = request_of([span(1, name="goodname", attributes={"ids": ["good-one", "fine"]})]).SerializeToString()
    [found] = otlp_protobuf.spans_in(body.replace(b"goodname", b"g\xff\xfedname").replace(b"good-one", b"good\xffone"))
    assert (found.name, found.attributes) == ("g\ufffd\ufffddname", {"ids": ["good\ufffdone", "fine"]})


def test_a_damaged_item() -> None:
    """A list with an item that is no value makes the request none."""
    body = request_of([span(1, attributes={"ids": ["good-one"]})]).SerializeToString()
    with pytest.raises(ValueError, match="not an OTLP export request"):
        otlp_protobuf.spans_in(body.replace(b"\n\x08good-one", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
