"""Handoffs as replay finds them, in the form in which the monitor shows them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rop_otel.cli.page import assessed_set
from rop_otel.page import Carried
from rop_otel.page.plain_detail import plain_detail
from rop_otel.replay import replay
from rop_otel.spans import Span


def expected(spans: Iterable[Span]) -> list[dict[str, Any]]:
    """Return each handoff of some spans, in order."""
    carried, kept = Carried(), list(spans)
    for span in kept:
        carried.add(span)
    shown = assessed_set("expected", replay(kept), carried)
    return [in_any_order(plain_detail(shown, place)) for place in range(len(shown.records))]


def in_any_order(detail: dict[str, Any]) -> dict[str, Any]:
    """Return a handoff whose spans to download are sorted: they come in the order in which they arrived."""
    groups = detail["spans"]["resourceSpans"]
    return {**detail, "spans": sorted(json.dumps([group["resource"], span]) for group in groups for span in _of(group))}


def _of(group: dict[str, Any]) -> list[Any]:
    return [span for scope in group["scopeSpans"] for span in scope["spans"]]
