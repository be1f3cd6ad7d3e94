"""One rule for every door: which spans of a request are refused, and what the sender is told."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from rop_otel import semconv
from rop_otel.monitor.requests import received
from rop_otel.spans.otlp_writer import request_of as json_of
from tests.monitor.exported import request_of
from tests.monitor.kept import Kept
from tests.monitor.served import PROTOBUF, Served
from tests.spans.trace import handoff, span, stage

TRACE, SPAN = "ab" * 16, "cd" * 8
WRONG = [
    ("", SPAN, "", "trace"),
    ("00" * 16, SPAN, "", "trace"),
    (TRACE + "ab", SPAN, "", "trace"),
    (TRACE[2:], SPAN, "", "trace"),
    (TRACE, "", "", "span"),
    (TRACE, "00" * 8, "", "span"),
    (TRACE, SPAN[2:], "", "span"),
    (TRACE, TRACE, "", "span"),
    (TRACE, SPAN, SPAN[2:], "parent"),
    (TRACE, SPAN, TRACE, "parent"),
]


def in_protobuf(*ids: str) -> bytes:
    """Return a request of one span with these trace, span and parent IDs, and of one that is right."""
    request = request_of([stage(1, "vector"), span(2)])
    wrong = request.resource_spans[0].scope_spans[0].spans[0]
    wrong.trace_id, wrong.span_id, wrong.parent_span_id = map(bytes.fromhex, ids)
    return bytes(request.SerializeToString())


def in_json(*ids: str) -> bytes:
    """Return the same in JSON."""
    document = json_of([stage(1, "vector"), span(2)])
    names = ("traceId", "spanId", "parentSpanId")
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0].update(zip(names, ids, strict=True))
    return json.dumps(document).encode()


@pytest.mark.parametrize(("trace_id", "span_id", "parent_id", "says"), WRONG)
@pytest.mark.parametrize(("made", "is_json"), [(in_protobuf, False), (in_json, True)], ids=["protobuf", "json"])
def test_ids(made: Callable[..., bytes], is_json: bool, trace_id: str, span_id: str, parent_id: str, says: str) -> None:
    """A span whose IDs are none is refused with the reason, in either form; the other spans are taken in."""
    spans, refused = received(made(trace_id, span_id, parent_id), is_json=is_json)
    assert [each.span_id for each in spans] == [f"{2:016x}"]
    [found] = refused
    assert says in found.reason
    assert (found.trace_id, found.handoff_id) == (trace_id, None)


def test_a_root() -> None:
    """No parent, in any of the forms in which exporters say so, is right."""
    for made, is_json in ((in_protobuf, False), (in_json, True)):
        for parent_id in ("", "00" * 8):
            spans, refused = received(made(TRACE, SPAN, parent_id), is_json=is_json)
            assert ([each.parent_id for each in spans], refused) == ([None, None], [])


@pytest.mark.parametrize(
    "wrong",
    [{"traceId": "x" * 32}, {"traceId": 5}, {"spanId": ["a"]}, {"startTimeUnixNano": "-1"}, {"endTimeUnixNano": {}}],
)
def test_a_span_of_ours_that_json_breaks(wrong: dict[str, Any]) -> None:
    """It alone is refused, and the handoff that it names is known."""
    document = json_of([stage(1, "vector", given={semconv.HANDOFF_ID: "h"}), span(2)])
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0].update(wrong)
    spans, refused = received(json.dumps(document).encode(), is_json=True)
    assert [each.span_id for each in spans] == [f"{2:016x}"]
    assert [(each.handoff_id, bool(each.reason)) for each in refused] == [("h", True)]


def test_ids_in_base64() -> None:
    """Protobuf's own JSON writes IDs so; of others' spans they are read."""
    ids = (base64.b64encode(bytes.fromhex(each)).decode() for each in (TRACE, SPAN))
    document = json_of([span(1)])
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0].update(zip(("traceId", "spanId"), ids, strict=True))
    [found] = received(json.dumps(document).encode(), is_json=True).spans
    assert (found.trace_id, found.span_id) == (TRACE, SPAN)


LATEST = 2**63 - 1


@pytest.mark.parametrize(
    ("start_ns", "end_ns"),
    [
        (0, 0),
        (5, 1),
        (LATEST, LATEST),
        (0, LATEST),
        (LATEST, 0),
        (10**19, 10**19),
        (2**64 - 1, 2**64 - 1),
        (1, 2**64 - 1),
    ],
)
def test_a_clock_that_is_wrong(keep: Callable[..., Kept], start_ns: int, end_ns: int) -> None:
    """Times at zero, in the future, or the wrong way round break nothing, whoseever they are."""
    sides: dict[str, Any] = {"start_ns": start_ns, "end_ns": end_ns}
    for spans in (
        [handoff(1, "d1", service="a", **sides), stage(2, "vector", "d1", parent=1, service="b")],
        [handoff(1, "d1", service="a"), stage(2, "vector", "d1", parent=1, service="b", **sides)],
        [handoff(1, "d1"), span(3, parent=1, service="b", **sides), stage(2, "vector", "d1", parent=3, service="c")],
    ):
        for body, is_json in (
            (request_of(spans).SerializeToString(), False),
            (json.dumps(json_of(spans)).encode(), True),
        ):
            taken, refused = received(body, is_json=is_json)
            assert len(taken) + len(refused) == len(spans)
            assert (len(refused) > 0) == (max(start_ns, end_ns) > LATEST and bool(spans[1].attributes))
            kept = keep()
            kept.monitor.submit(taken, size=1, refused=refused)
            kept.wait(0)
            kept.wait()
            assert kept.monitor.failure is None
            assert kept.notices(semconv.SELF_ERRORS) == 0
            if any(semconv.HANDOFF_NAME in each.attributes for each in taken):
                [row] = kept.documents()
                assert row["verdict"] in ("PASS", "UNVERIFIABLE", "FAIL")
            while kept.store.forget(before_ns=2**62):
                pass


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("kept") / "kept.db") as served:
        yield served


def test_what_senders_are_told(served: Served) -> None:
    """Each door answers with a partial success and the reason, and each refused span is counted."""
    right, wrong = in_protobuf(TRACE, SPAN, ""), in_protobuf("", SPAN, "")
    reason = "a trace ID must be 16 bytes, not all zero"
    answers = []
    for body in (right, wrong):
        status, answer, _ = served.ask("/v1/traces", body, {"Content-Type": PROTOBUF})
        answers.append(ExportTraceServiceResponse.FromString(answer))
        assert status == 200
        with grpc.insecure_channel(served.grpc) as channel:
            stub: Any = TraceServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
            answers.append(stub.Export(ExportTraceServiceRequest.FromString(body)))
    told = [(each.partial_success.rejected_spans, each.partial_success.error_message) for each in answers]
    assert told == [(0, "")] * 2 + [(1, reason)] * 2
    status, body, _ = served.ask("/v1/traces", in_json("", SPAN, ""), {"Content-Type": "application/json"})
    found = json.loads(body)["partialSuccess"]
    assert (status, found["rejectedSpans"]) == (200, "1")
    assert "trace" in found["errorMessage"]
    assert f"{semconv.SELF_REFUSED.prometheus} 3.0" in served.ask("/metrics")[1].decode()
