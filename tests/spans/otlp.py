"""OTLP JSON made by hand, so that the reader is not tested against the writer alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

TRACE = "5b8efff798038103d269b633813fc60c"
SPAN = "eee19b7ec3c1b174"


def span(attributes: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return one span; ``attributes`` maps names to OTLP values."""
    pairs = [{"key": key, "value": value} for key, value in (attributes or {}).items()]
    return {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": "work",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": pairs,
    } | fields


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    """Return an export request of these spans."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "app"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "lib"}, "spans": list(spans)}]}]}


def line(*spans: dict[str, Any]) -> bytes:
    """Return a request of these spans as one line."""
    return json.dumps(request(*spans)).encode() + b"\n"
