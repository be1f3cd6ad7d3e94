"""One handoff as the page shows it, in plain JSON: for the monitor, which gives one at a time."""

from __future__ import annotations

import math
from typing import Any

from rop_otel.page.assessed_set import AssessedSet
from rop_otel.page.copied_test import text_of
from rop_otel.page.detail import detail
from rop_otel.page.recorded_spans import spans_of
from rop_otel.spans.otlp_writer import request_of


def plain_detail(shown: AssessedSet, place: int) -> dict[str, Any]:
    """Return one handoff of a set, as the page has it once it has unpacked it.

    Numbers that JSON has none of are null.

    Args:
        shown: The set.
        place: Which handoff of it, from 0.
    """
    found = detail(shown, place)
    test = found["test"]
    return {
        **{name: _finite(value) for name, value in found.items() if name not in ("test", "spans")},
        "test": None if test is None else text_of(test),
        "spans": request_of(spans_of(shown.records[place], shown.carried)),
    }


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
