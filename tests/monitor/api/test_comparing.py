"""Two sets of handoffs paired by record, as the page pairs them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rop_otel import semconv
from rop_otel.monitor.api.comparing import FATES, Side, compared
from rop_otel.spans import Span
from tests.monitor.api.conftest import Ask
from tests.monitor.kept import Kept
from tests.spans.trace import handoff, stage

SCRIPTS = [Path("rop_otel/page/assets/app", name).absolute() for name in ("filters.js", "pairs.js")]


def row(record: str | None, verdict: str | None, selected_at: str, handoff_id: str = "h") -> dict[str, Any]:
    return {"record_id": record, "verdict": verdict, "selected_at": selected_at, "handoff_id": handoff_id}


def test_fates() -> None:
    """Each record is kept, recovered, lost, missed or undecided, as a whole and by the stage that both have."""
    before = Side(
        ["vector", "mmr", "shown"],
        [
            row("kept", "PASS", "111", "a1"),
            row("recovered", "FAIL", "100", "a2"),
            row("lost", "PASS", "111", "a3"),
            row("missed", "FAIL", "000", "a4"),
            row("undecided", "UNVERIFIABLE", "1--", "a5"),
            row("kept", "FAIL", "000", "a6"),
            row("before", "PASS", "111", "a7"),
            row(None, "PASS", "111", "a8"),
        ],
    )
    after = Side(
        ["rerank", "vector", "shown"],
        [
            row("missed", "FAIL", "000", "b1"),
            row("lost", "FAIL", "010", "b2"),
            row("recovered", "PASS", "111", "b3"),
            row("kept", "PASS", "111", "b4"),
            row("undecided", "PASS", "111", "b5"),
        ],
    )
    assert compared(before, after) == {
        "pairs": 5,
        "only_before": 1,
        "only_after": 0,
        "repeated": 1,
        "unnamed": 1,
        **dict.fromkeys(FATES, 1),
        "places": [
            {"place": "vector", "kept": 4, "recovered": 0, "lost": 0, "missed": 1, "undecided": 0},
            {"place": "shown", **dict.fromkeys(FATES, 1)},
        ],
        "records": {"recovered": [["recovered", "a2", "b3"]], "lost": [["lost", "a3", "b2"]]},
    }


ROWS = st.lists(
    st.builds(
        row,
        st.none() | st.sampled_from("qrst"),
        st.sampled_from(["PASS", "FAIL", "UNVERIFIABLE", None]),
        st.text("01-", min_size=3, max_size=3),
    ),
    max_size=8,
)
CASES = st.lists(st.tuples(ROWS, ROWS), min_size=20, max_size=20)

PAGE = """
globalThis.window = { rop: {} };
process.argv.slice(1).forEach(require);
const side = (places, rows) => ({ places, rows: rows.map((row) => ({ ...row, places })) });
const found = JSON.parse(require("fs").readFileSync(0)).map(([before, after]) => {
  const sides = [side(["a", "b", "shown"], before), side(["b", "c", "shown"], after)];
  const { size, pairs, counts, ...rest } = window.rop.paired(...sides);
  return { ...rest, counts: window.rop.FATES.map((fate) => counts[fate]), pairs: size };
});
console.log(JSON.stringify({ fates: window.rop.FATES, found }));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="runs the page's script in Node")
@settings(max_examples=10, deadline=None)
@given(CASES)
def test_the_page_pairs_alike(cases: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]]) -> None:
    """Whatever the rows are, the numbers are those of the page's own script."""
    done = subprocess.run(
        ["node", "-e", PAGE, *SCRIPTS], input=json.dumps(cases).encode(), capture_output=True, check=True
    )
    page = json.loads(done.stdout)
    for (before, after), expected in zip(cases, page["found"], strict=True):
        found = compared(Side(["a", "b", "shown"], before), Side(["b", "c", "shown"], after))
        assert [found[fate] for fate in page["fates"]] == expected["counts"]
        assert {place.pop("place"): place for place in found["places"]} == {
            each["place"]: each["counts"] for each in expected["stages"]
        }
        assert (found["pairs"], found["only_before"], found["only_after"], found["repeated"], found["unnamed"]) == (
            expected["pairs"],
            expected["onlyA"],
            expected["onlyB"],
            expected["repeated"],
            expected["unnamed"],
        )


def question(number: int, record: str, name: str, *, is_kept: bool) -> list[Span]:
    trace = f"{number:032x}"
    given = {semconv.HANDOFF_NAME: name, semconv.RECORD_ID: record}
    ids = ("d1",) if is_kept else ("d2",)
    return [
        handoff(1, "d1", trace=trace, given=given, end_ns=90),
        stage(2, "vector", "d1", "d2", parent=1, trace=trace),
        stage(4, "packing", *ids, parent=1, trace=trace),
    ]


def test_two_filters(keep: Callable[..., Kept], ask: Ask) -> None:
    """Both sides are filters; of several handoffs of a record the newest counts."""
    kept = keep()
    for number, (record, name, is_kept) in enumerate(
        [("q1", "old", False), ("q1", "old", True), ("q1", "new", False), ("q2", "old", False), ("q2", "new", True)], 1
    ):
        kept.send(*question(number, record, name, is_kept=is_kept))
        kept.wait()
    found = ask(kept, "/api/compare", before="name=old", after="name=new&since=2020-01-01T00%3A00%3A00Z")
    assert (found["pairs"], found["lost"], found["recovered"], found["repeated"], found["more"]) == (2, 1, 1, 1, False)
    assert [each[0] for each in found["records"]["lost"]] == ["q1"]
    assert ask(kept, f"/api/handoffs/{found['records']['lost'][0][1]}")["verdict"] == "PASS"
    assert [each["place"] for each in found["places"]] == ["vector", "packing", "shown"]
