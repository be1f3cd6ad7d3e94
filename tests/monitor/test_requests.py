"""What comes over the network: packed, too large, damaged, hostile."""

from __future__ import annotations

import gzip
import json
import zlib

import msgspec
import pytest

from rop_otel.monitor import requests
from rop_otel.monitor.requests import TooLargeError, received, unpacked


@pytest.mark.parametrize(
    ("encoding", "pack"), [("", bytes), ("identity", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_packed(encoding: str, pack: object) -> None:
    """Each encoding that senders use."""
    assert callable(pack)
    assert unpacked(pack(b"spans" * 1000), encoding) == b"spans" * 1000


def test_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more is unpacked than a request may hold."""
    monkeypatch.setattr(requests, "MAX_REQUEST_BYTES", 10_000)
    assert len(unpacked(gzip.compress(b"\0" * 10_000), "gzip")) == 10_000
    with pytest.raises(TooLargeError, match="10,000"):
        unpacked(gzip.compress(b"\0" * 50_000_000), "gzip")


@pytest.mark.parametrize("body", [b"", b"x", gzip.compress(b"spans" * 100)[:-9]], ids=["nothing", "no gzip", "cut"])
def test_damaged(body: bytes) -> None:
    """What is no gzip, or is cut short, is refused."""
    with pytest.raises(ValueError, match="gzip"):
        unpacked(body, "gzip")


def test_an_unknown_encoding() -> None:
    """It is named as such."""
    with pytest.raises(LookupError):
        unpacked(b"", "br")


def test_halves_of_surrogate_pairs() -> None:
    """They are replaced, in every place where a span has text, so that the span can be kept."""
    half = "a\ud800"
    value = {"arrayValue": {"values": [{"stringValue": half}]}}
    attributes = [{"key": half, "value": value}, {"key": "m", "value": {"kvlistValue": {"values": [{"key": half}]}}}]
    span = {
        "traceId": "ab" * 16,
        "spanId": "cd" * 8,
        "parentSpanId": "ef" * 8,
        "name": half,
        "attributes": attributes,
        "events": [{"name": half, "attributes": attributes}],
        "startTimeUnixNano": "5",
    }
    scope = {"scope": {"name": half}, "spans": [span]}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": half}}]}
    document = {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}
    [found] = received(json.dumps(document).encode(), is_json=True).spans
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=type(found)) == found
    assert (found.name, found.service) == ("a?", "a?")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"a": 1}', b"\xff", b"[" * 100_000, b"<html></html>"])
def test_no_json_request(body: bytes) -> None:
    """It is refused in a sentence."""
    with pytest.raises(ValueError, match=r"."):
        received(body, is_json=True)
