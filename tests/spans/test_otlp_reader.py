"""Export requests read as spans, and files that are none."""

from __future__ import annotations

import json
import math
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.errors import InputError
from rop_otel.semconv import RETURNED_IDS, STAGE
from rop_otel.spans import Span
from rop_otel.spans.otlp_reader import read
from tests.spans.otlp import SPAN, TRACE, line, request, span

OURS = {STAGE: {"stringValue": "vector"}}


def spans_of(tmp_path: Path, data: bytes) -> list[Span]:
    file = tmp_path / "traces.json"
    file.write_bytes(data)
    return list(read(str(file)))


def refusal(tmp_path: Path, data: bytes) -> str:
    """Return what is said of a file that is refused, from the line on."""
    with pytest.raises(InputError) as caught:
        spans_of(tmp_path, data)
    return str(caught.value).removeprefix(f"{tmp_path}/traces.json:")


def test_every_field(tmp_path: Path) -> None:
    """A span's IDs, times, status, scope, service and attributes are read."""
    written = span(
        {"k": {"stringValue": "v"}},
        traceId=TRACE.upper(),
        parentSpanId="EEE19B7EC3C1B173",
        kind=3,
        startTimeUnixNano="1544712660000000000",
        endTimeUnixNano=1544712661000000000,
        droppedAttributesCount=2,
        status={"code": 2, "message": "no"},
    )
    assert spans_of(tmp_path, line(written)) == [
        Span(
            trace_id=TRACE,
            span_id=SPAN,
            parent_id="eee19b7ec3c1b173",
            name="work",
            kind=3,
            start_ns=1544712660000000000,
            end_ns=1544712661000000000,
            attributes={"k": "v"},
            failed=True,
            scope="lib",
            service="app",
            dropped_attributes=2,
        )
    ]


@pytest.mark.parametrize(
    ("value", "read_as"),
    [
        ({"stringValue": ""}, ""),
        ({"boolValue": False}, False),
        ({"intValue": "-9223372036854775808"}, -(2**63)),
        ({"intValue": 7}, 7),
        ({"intValue": 7.0}, 7),
        ({"doubleValue": 7}, 7.0),
        ({"doubleValue": "Infinity"}, math.inf),
        ({"arrayValue": {"values": [{"stringValue": "a"}, {"intValue": "1"}, {}, None]}}, ["a", 1, None, None]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"arrayValue": {"values": []}}}]}}, {"a": []}),
        ({"bytesValue": "AQI="}, b"\x01\x02"),
        ({}, None),
        ({"newValue": {"deep": [1]}}, None),
        (None, None),
    ],
)
def test_values(tmp_path: Path, value: Any, read_as: object) -> None:
    """Every kind of value, and one that is not known yet."""
    [found] = spans_of(tmp_path, line(span({"k": value})))
    assert found.attributes == {"k": read_as}
    assert type(found.attributes["k"]) is type(read_as)


def test_a_document_on_many_lines(tmp_path: Path) -> None:
    """A file that is one request, however it is laid out, reads as on one line."""
    whole = request(span({"k": {"stringValue": "v"}}), span(spanId="eee19b7ec3c1b175"))
    expected = spans_of(tmp_path, json.dumps(whole).encode())
    for indent in (0, 1, "\t"):
        assert spans_of(tmp_path, json.dumps(whole, indent=indent).replace("\n", "\r\n\r\n").encode()) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + line(span()),
        line(span()).replace(b"\n", b"\r\n"),
        b"\n  \n" + line(span()) + b"\r\n\n",
        line(span()).strip(),
    ],
    ids=["bom", "crlf", "blank-lines", "no-last-newline"],
)
def test_line_ends(tmp_path: Path, data: bytes) -> None:
    """A byte order mark, Windows line ends and blank lines change nothing."""
    assert [found.name for found in spans_of(tmp_path, data)] == ["work"]


def test_what_holds_no_spans(tmp_path: Path) -> None:
    """Empty requests, and those of other signals between them, are no error."""
    data = b'{}\n{"resourceSpans": null}\n{"resourceMetrics": [1]}\n{"resourceLogs": []}\n' + line(span())
    assert len(spans_of(tmp_path, data)) == 1
    assert spans_of(tmp_path, b"") == []
    assert spans_of(tmp_path, b'{"resourceSpans": [{"scopeSpans": [{}, {"spans": null}]}, {"resource": {}}]}') == []


def test_unknown_fields(tmp_path: Path) -> None:
    """Fields that OTLP gained since, on any level, are skipped."""
    whole = request(span({"k": {"stringValue": "v", "x": 1}}, x={"deep": [{"er": None}]}, links="later"))
    whole["x"] = whole["resourceSpans"][0]["x"] = whole["resourceSpans"][0]["scopeSpans"][0]["x"] = [[1]]
    [found] = spans_of(tmp_path, json.dumps(whole).encode())
    assert found.attributes == {"k": "v"}


def test_repeated_names(tmp_path: Path) -> None:
    """Of a repeated attribute or field the last one counts."""
    written = span({"k": {"stringValue": "first"}})
    written["attributes"].append({"key": "k", "value": {"stringValue": "last"}})
    data = line(written).replace(b'"name": "work"', b'"name": "first", "name": "work"')
    assert [(found.name, found.attributes) for found in spans_of(tmp_path, data)] == [("work", {"k": "last"})]


def test_half_a_surrogate_pair(tmp_path: Path) -> None:
    """Text that was cut through a character is no reason to refuse a file."""
    [found] = spans_of(tmp_path, line(span({"k": {"stringValue": "cut \ud83d"}})))
    assert found.attributes == {"k": "cut ?"}


def test_ids_of_other_spans_are_their_own_affair(tmp_path: Path) -> None:
    """Only stage and handoff spans are held to IDs in hex; base64, as protobuf's own JSON has it, is read elsewhere."""
    found = spans_of(tmp_path, line(span(traceId="C3K649LkbzZjnheP9BpFTA=="), span(traceId=None, spanId="x=")))
    assert [(each.trace_id, each.span_id) for each in found] == [("0b72bae3d2e46f36639e178ff41a454c", SPAN), ("", "x=")]
    ours = {STAGE: {"stringValue": "vector"}}
    for trace_id in ("C3K649LkbzZjnheP9BpFTA==", "", "0" * 32, TRACE[1:]):
        said = refusal(tmp_path, b"{}\n" + line(span(ours, traceId=trace_id)))
        assert (
            said
            == f"2: not an OTLP export request: traceId must be 32 hex digits, not all zero, not {trace_id.lower()!r}"
        )
    assert "spanId must be 16 hex digits" in refusal(tmp_path, line(span(ours, spanId=TRACE)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (line(span()) + line(span())[:70] + b"\n", "2: not JSON, or cut short: "),
        (line(span()) + b"nonsense\n" + line(span()), "2: not JSON, or cut short: Expecting value (column 1)"),
        (b"{\n" + b'"resourceSpans": [\n' + b"oops]}", "3: not JSON, or cut short: Expecting value (column 1)"),
        (b"[1]", "1: not an OTLP export request: Expected `object`, got `array`"),
        (b'"text"', "1: not an OTLP export request: Expected `object`, got `str`"),
        (b'{"id": "q1", "question": "why"}', "1: not an OTLP export request: it has no resourceSpans"),
        (b'{"resourceSpans": {}}', "1: not an OTLP export request: Expected `array | null`, got `object`"),
        (line(span()) + bytes(16), "2: not JSON, or cut short: "),
        (line(span(name="\xff")).replace(b"\\u00ff", b"\xff"), "1: not UTF-8 (byte 248)"),
        (line(span()).decode().encode("utf-16"), "1: not UTF-8 (byte 1)"),
        (b'{"x":' + b"[" * 100_000, "1: nested too deeply"),
        (b'{"x":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}", "1: nested too deeply"),
        (
            line(span(OURS, startTimeUnixNano="soon")),
            "1: not an OTLP export request: startTimeUnixNano must be a 64-bit",
        ),
        (
            line(span(OURS, endTimeUnixNano=2**64 - 1)),
            "1: not an OTLP export request: endTimeUnixNano must be a 64-bit",
        ),
        (
            line(span(OURS, startTimeUnixNano=-1)),
            "1: not an OTLP export request: startTimeUnixNano must not be negative",
        ),
        (line(span(OURS, name=7)), "1: not an OTLP export request: Expected `str | null`, got `int`"),
        (line(span(OURS, traceId=[TRACE])), "1: not an OTLP export request: Expected `str | null`, got `array`"),
    ],
)
def test_refusals(tmp_path: Path, data: bytes, said: str) -> None:
    """What cannot be read is refused by line, with what is wrong there."""
    assert refusal(tmp_path, data).startswith(said)


BROKEN: list[dict[str, Any]] = [
    {"startTimeUnixNano": "soon"},
    {"startTimeUnixNano": str(2**64 - 1)},
    {"endTimeUnixNano": 2**64 - 1},
    {"endTimeUnixNano": 10**19},
    {"startTimeUnixNano": -1},
    {"startTimeUnixNano": "-1"},
    {"startTimeUnixNano": 1.5},
    {"startTimeUnixNano": True},
    {"startTimeUnixNano": {"seconds": 1}},
    {"endTimeUnixNano": math.nan},
    {"endTimeUnixNano": math.inf},
    {"name": 7},
    {"name": ["work"]},
    {"kind": 1.5},
    {"kind": {}},
    {"status": "ok"},
    {"status": {"code": []}},
    {"attributes": {"k": "v"}},
    {"attributes": ["k"]},
    {"attributes": [{"key": 1, "value": {}}]},
    {"attributes": [{"key": "k", "value": "v"}]},
    {"attributes": [{"key": "k", "value": {"intValue": "9" * 5000}}]},
    {"attributes": [{"key": "k", "value": {"intValue": 1.5}}]},
    {"attributes": [{"key": "k", "value": {"intValue": [1]}}]},
    {"attributes": [{"key": "k", "value": {"doubleValue": "much"}}]},
    {"attributes": [{"key": "k", "value": {"bytesValue": "%"}}]},
    {"attributes": [{"key": "k", "value": {"arrayValue": {"values": [{"intValue": "x"}]}}}]},
    {"attributes": [{"key": "k", "value": {"arrayValue": ["a"]}}]},
    {"attributes": [{"key": "k", "value": {"kvlistValue": {"values": [{"key": "a", "value": 1}]}}}]},
    {"events": {}},
    {"events": [{"name": 1}]},
    {"events": [{"name": "e", "attributes": [{"key": "k", "value": {"intValue": "x"}}]}]},
    {"droppedAttributesCount": "many"},
    {"droppedEventsCount": [1]},
]


@pytest.mark.parametrize("fields", BROKEN)
def test_a_span_of_others_that_is_broken_is_left_out(tmp_path: Path, fields: dict[str, Any]) -> None:
    """The other spans of the file are read, and what lies below the broken one still finds what lies above it."""
    whole = request(
        span(), span(parentSpanId=SPAN, spanId="1" * 16), span(OURS, parentSpanId="1" * 16, spanId="2" * 16)
    )
    whole["resourceSpans"][0]["scopeSpans"][0]["spans"][1] |= fields
    above, broken, below = spans_of(tmp_path, json.dumps(whole).encode())
    assert broken == Span(trace_id=TRACE, span_id="1" * 16, parent_id=SPAN, unreadable=True)
    assert (above.name, below.attributes) == ("work", {STAGE: "vector"})
    assert (above.service, below.scope) == ("app", "lib")


@pytest.mark.parametrize("broken", [None, 7, "span", [], {"traceId": 7, "spanId": {}, "parentSpanId": []}])
def test_what_is_no_span_is_left_out(tmp_path: Path, broken: Any) -> None:
    """Where a span is expected anything else is passed over."""
    found = spans_of(tmp_path, line(span(), broken, span(OURS)))
    assert [each.unreadable for each in found] == [False, True, False]
    assert found[1] == Span(trace_id="", span_id="", unreadable=True)


@pytest.mark.parametrize("around", ["resource", "scope", "both"])
@pytest.mark.parametrize(
    "broken", [7, "x", [1], {"attributes": 1, "name": 2}, {"attributes": [{"key": 1}], "name": []}]
)
def test_what_describes_spans_may_be_broken(tmp_path: Path, around: str, broken: Any) -> None:
    """A resource or scope that cannot be read is as if it were not given; the spans are read."""
    whole = request(span(), span(OURS))
    if around != "scope":
        whole["resourceSpans"][0]["resource"] = broken
    if around != "resource":
        whole["resourceSpans"][0]["scopeSpans"][0]["scope"] = broken
    found = spans_of(tmp_path, json.dumps(whole).encode())
    assert [each.service for each in found] == ["app" if around == "scope" else None] * 2
    assert [each.scope for each in found] == ["lib" if around == "resource" else ""] * 2


@pytest.mark.parametrize(
    "value",
    [
        "v",
        7,
        {"intValue": "x"},
        {"intValue": [1]},
        {"intValue": str(2**64 - 1)},
        {"arrayValue": {"values": ["a"]}},
        {"arrayValue": {"values": [{"intValue": 1.5}]}},
    ],
)
def test_an_attribute_of_ours_that_is_broken_is_no_absent_one(tmp_path: Path, value: Any) -> None:
    """What cannot be read stays as a value that no attribute of ours has, so that the checks say so."""
    [found] = spans_of(tmp_path, line(span(OURS | {RETURNED_IDS: value}, events=[{"name": 1}] if value == "v" else [])))
    assert found.attributes == {STAGE: "vector", RETURNED_IDS: b""}
    assert not found.unreadable


def test_a_value_nested_too_deeply_is_left_out(tmp_path: Path) -> None:
    """A value of many levels costs its span, of others, or is one that cannot be read, of ours."""
    deep: dict[str, Any] = {"stringValue": "x"}
    for _ in range(300):
        deep = {"arrayValue": {"values": [deep]}}
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(5000)
    data = line(span({"k": deep}), span(OURS | {RETURNED_IDS: deep}), span())
    sys.setrecursionlimit(limit)
    found = spans_of(tmp_path, data)
    assert [each.name for each in found[2:]] == ["work"]
    assert found[1].attributes[STAGE] == "vector"


def test_numbers_that_are_none_in_fields_unknown_here(tmp_path: Path) -> None:
    """NaN where nothing is read, and integers of any length, refuse nothing."""
    data = line(span(OURS)).replace(b'"name": "work"', b'"name": "work", "x": NaN, "y": ' + b"9" * 5000)
    [found] = spans_of(tmp_path, data)
    assert (found.name, found.attributes) == ("work", {STAGE: "vector"})


def test_a_document_too_long(tmp_path: Path) -> None:
    """One request over many lines is held to the limit too."""
    file = tmp_path / "traces.json"
    file.write_bytes(b"{\n" + b"\n" * 2000)
    with pytest.raises(InputError, match=r"traces\.json:1: one request of more than 1,000 bytes"):
        list(read(str(file), max_bytes=1000))


def test_cut_short_at_every_byte(tmp_path: Path) -> None:
    """A file cut short anywhere is refused at the cut line, or holds the whole requests before it."""
    one = line(span({"k": {"arrayValue": {"values": [{"stringValue": "é"}, {"intValue": "1"}]}}}))
    data = one + one
    for length in range(len(data)):
        kept = data[:length]
        if not kept or length in (len(one) - 1, len(one), len(data) - 1):
            assert len(spans_of(tmp_path, kept)) == (length + 1) // len(one)
        else:
            assert refusal(tmp_path, kept).startswith(f"{1 + (length > len(one))}: not")


@given(data=st.binary(max_size=200) | st.randoms().map(lambda source: _spoiled(source)))
def test_nothing_but_refusals(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Whatever a file holds, it is read or refused."""
    file = tmp_path_factory.mktemp("any") / "traces"
    file.write_bytes(data)
    try:
        list(read(str(file)))
    except InputError as error:
        refused = str(error)
        assert "\n" not in refused


def _spoiled(source: random.Random) -> bytes:
    """Return a request with a few bytes changed."""
    data = bytearray(line(span({STAGE: {"stringValue": "vector"}, "k": {"intValue": "1"}}, status={"code": 1})))
    for _ in range(source.randint(1, 3)):
        data[source.randrange(len(data))] = source.choice(b'{}[]",:0aZ\\\n\x00\xff')
    return bytes(data)
