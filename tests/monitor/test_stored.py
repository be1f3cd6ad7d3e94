"""Assessed handoffs as rows: bounded, whatever their spans hold."""

from __future__ import annotations

import json
from typing import Any

from rop_otel.assembling import assemble
from rop_otel.core.handoff import assess
from rop_otel.core.handoff.sums import add_up
from rop_otel.monitor.kept_handoffs import listed
from rop_otel.monitor.stored import short, stored_handoff
from rop_otel.page import AssessedSet
from rop_otel.page.document import place_of, rows
from rop_otel.spans import Span
from tests.spans.trace import handoff, pipeline, stage


def stored_rows(*traces: list[Span]) -> list[dict[str, Any]]:
    return [
        json.loads(json.dumps(stored_handoff(record, assess(record), service=None).row))
        for spans in traces
        for record in assemble(spans).handoffs
    ]


def test_rows_are_those_of_the_page() -> None:
    """Handoffs with the same stages and with others, put together, have the rows of one page over all of them."""
    traces = [
        pipeline(trace=f"{1:032x}"),
        [handoff(1, "d1", trace=f"{2:032x}"), stage(2, "rerank", "d1", parent=1, trace=f"{2:032x}")],
        pipeline(trace=f"{3:032x}"),
    ]
    records = tuple(record for spans in traces for record in assemble(spans).handoffs)
    shown = AssessedSet(name="", records=records, assessments=tuple(map(assess, records)))
    totals = add_up(shown.assessments)
    found = listed(stored_rows(*traces))
    assert found["handoffs"] == json.loads(json.dumps(list(rows(shown, totals))))
    assert found["places"] == [*map(place_of, totals.survival), "shown"]
    assert listed([]) == {"places": ["shown"], "handoffs": []}


def test_long_texts() -> None:
    """They are cut, and stay different from each other."""
    one, other = "x" * 1_000_000 + "1", "x" * 1_000_000 + "2"
    assert len(short(one)) == len(short(other)) <= 256
    assert short(one) != short(other)
    assert short("x" * 256) == "x" * 256


def test_a_row_of_anything_is_short() -> None:
    """A handoff with thousands of stages of names of their own, and IDs of a megabyte, has a row of some kilobytes."""
    long = "i" * 1_000_000
    stages = [stage(number, f"kind{number}", f"d{number}", parent=1) for number in range(2, 2001)]
    top = handoff(1, long, *(f"s{number}" for number in range(1000)), given={"rop.record.id": long})
    [record] = assemble([top, *stages]).handoffs
    stored = stored_handoff(record, assess(record), service=long)
    assert len(json.dumps(stored.row)) < 50_000
    assert max(map(len, (*stored.objects, stored.record_id or "", stored.service, *map(str, stored.row)))) <= 256
    assert len(stored.row["stages"]) == len(stored.row["selected_at"]) == 100
    assert stored.row["stages"][-1] == ["shown", None, None]
    assert len(listed([stored.row])["places"]) == 100
