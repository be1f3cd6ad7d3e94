"""What the API answers, and what it refuses to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from rop_otel import semconv
from rop_otel.spans import Span
from tests.monitor.api.conftest import Ask
from tests.monitor.expected import expected, in_any_order
from tests.monitor.kept import Kept
from tests.page.shapes import Detail, Row, Summary
from tests.page.test_hostile_strings import HOSTILE, MARK
from tests.spans.trace import handoff, pipeline, stage

Keep = Callable[..., Kept]


def question(number: int, *, kept_by: str = "packing", name: str = "qa", **given: Any) -> list[Span]:
    """Return a handoff whose packing keeps the selected object, or loses it."""
    trace = f"{number:032x}"
    attributes = {semconv.HANDOFF_NAME: name, semconv.RECORD_ID: f"q{number}", **given}
    return [
        handoff(1, f"doc-{number}", trace=trace, given=attributes, end_ns=90),
        stage(2, "vector", "x", f"doc-{number}", parent=1, trace=trace),
        stage(4, "packing", f"doc-{number}" if kept_by == "packing" else "x", parent=1, trace=trace),
    ]


def settle(kept: Kept, *handoffs: list[Span]) -> None:
    for spans in handoffs:
        kept.send(*spans)
        kept.wait()


def test_the_head(keep: Keep, ask: Ask) -> None:
    """It has the words of the page, and says that it is live."""
    head = ask(keep(), "/api/head")
    assert (head["live"], head["format"]) == (True, 1)
    assert set(head["words"]) == {"verdicts", "causes", "findings"}


def test_nothing_is_kept_yet(keep: Keep, ask: Ask) -> None:
    """Every question has an answer."""
    kept = keep()
    assert ask(kept, "/api/handoffs") == {"places": ["shown"], "handoffs": [], "after": None}
    summary = ask(kept, "/api/summary")
    assert (summary["handoffs"], summary["hours"], summary["summary"]["verdicts"]) == (0, [], {})
    assert ask(kept, "/api/runs") == {"runs": []}
    assert ask(kept, "/api/compare", before="", after="")["pairs"] == 0
    assert ask(kept, "/api/handoffs/none") == (404, "none is kept with this ID")


def test_rows_and_details(keep: Keep, ask: Ask) -> None:
    """Each has the shape that the page reads, and details are those of replay."""
    kept = keep()
    settle(kept, pipeline(), question(1))
    rows = ask(kept, "/api/handoffs")["handoffs"]
    assert [row.verdict for row in msgspec.convert(rows, list[Row])] == ["PASS", "FAIL"]
    details = [ask(kept, f"/api/handoffs/{each}") for each in sorted(row["handoff_id"] for row in rows)]
    msgspec.convert(details, list[Detail])
    replayed = sorted(expected(kept.sent), key=lambda each: str(each["handoff_id"]))
    assert [in_any_order(each) for each in details] == json.loads(json.dumps(replayed))


def test_every_filter(keep: Keep, ask: Ask) -> None:
    """Each lets through what it names, and - what has none."""
    kept = keep()
    settle(
        kept,
        question(1, **{semconv.RUN_ID: "r/1"}),
        question(2, kept_by="none", name="chat"),
        question(3),
    )
    for params, records in [
        ({}, ["q3", "q2", "q1"]),
        ({"q": " DOC-2 "}, ["q2"]),
        ({"q": f"{3:032x}"}, ["q3"]),
        ({"verdict": "FAIL"}, ["q2"]),
        ({"verdict": "-"}, []),
        ({"at": "packing"}, ["q2"]),
        ({"at": "vector"}, []),
        ({"cause": "-"}, ["q3", "q1"]),
        ({"finding": "silent_cut@packing"}, []),
        ({"name": "chat"}, ["q2"]),
        ({"service": "-"}, ["q3", "q2", "q1"]),
        ({"record": "Q3"}, ["q3"]),
        ({"object": "doc-1"}, ["q1"]),
        ({"run": "r/1"}, ["q1"]),
        ({"run": "-"}, ["q3", "q2"]),
        ({"since": "2020-01-01T00:00:00+02:00", "verdict": "FAIL"}, ["q2"]),
        ({"since": "2020-01-01"}, ["q3", "q2", "q1"]),
        ({"since": str(time.time() + 3600)}, []),
        ({"until": "1.5"}, []),
        ({"limit": "2"}, ["q3", "q2"]),
    ]:
        found = ask(kept, "/api/handoffs", **params)
        assert [row["record_id"] for row in found["handoffs"]] == records, params
        assert (found["after"] is None) == (params != {"limit": "2"})
    assert ask(kept, "/api/handoffs", limit="2", after=ask(kept, "/api/handoffs", limit="2")["after"])["after"] is None


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/api/handoffs?verdct=PASS", "'verdct' is no parameter here"),
        ("/api/handoffs?verdict=NOPE", "verdict 'NOPE' is unknown; known are DECLARATION_INVALID, "),
        ("/api/handoffs?verdict=pass", "verdict 'pass' is unknown"),
        ("/api/handoffs?cause=cut", "cause 'cut' is unknown; known are no_text, "),
        ("/api/handoffs?finding=cut", "finding 'cut' is unknown; known are silent_cut, "),
        ("/api/handoffs?finding=silent_cut@", "finding 'silent_cut@' is unknown"),
        *[
            (f"/api/handoffs?{name}=", f"{name} is empty; leave it out")
            for name in "q verdict at cause finding name service record object run since until".split()
        ],
        ("/api/handoffs?q=%20%09", "q is empty; leave it out"),
        ("/api/handoffs?name=a&name=b", "'name' is given twice"),
        ("/api/handoffs?since=yesterday", "since 'yesterday' is no time"),
        ("/api/handoffs?since=10&until=9", "until '9' is before since"),
        ("/api/summary?since=2026-12-01&until=2026-11-30", "until '2026-11-30' is before since"),
        ("/api/handoffs?until=-1", "until '-1' is no time"),
        ("/api/handoffs?until=nan", "until 'nan' is no time"),
        ("/api/handoffs?until=1e300", "until '1e300' is no time"),
        ("/api/handoffs?since=2026-13-01T00:00:00Z", "since '2026-13-01T00:00:00Z' is no time"),
        *[
            (f"/api/handoffs?limit={limit}", "limit must be 1 to 2000")
            for limit in ("0", "2001", "x", "1e9", "9" * 999)
        ],
        *[(f"/api/handoffs?after={after}", "after is not from a page") for after in ("", "x", "-1", "9" * 99)],
        ("/api/summary?verdict=PASS", "'verdict' is no parameter here"),
        ("/api/head?x=1", "'x' is no parameter here"),
        ("/api/runs?limit=1", "'limit' is no parameter here"),
        ("/api/handoffs/h?x=1", "'x' is no parameter here"),
        ("/api/stream?x=1", "'x' is no parameter here"),
        ("/api/compare?before=", "after is missing"),
        ("/api/compare?before=&after=&more=1", "'more' is no parameter here"),
        ("/api/compare?before=x%3D1&after=", "before: 'x' is no parameter here"),
        ("/api/compare?before=&after=verdict%3DNOPE", "after: verdict 'NOPE' is unknown"),
        ("/api/compare?before=name%3Da%26name%3Db&after=", "before: 'name' is given twice"),
        ("/api/compare?before=name%3D&after=", "before: name is empty; leave it out"),
    ],
)
def test_bad_questions(keep: Keep, ask: Ask, path: str, says: str) -> None:
    """What is wrong is said in one sentence that names it."""
    status, error = ask(keep(), path)
    assert (status, error[: len(says)]) == (400, says)
    assert len(error) < 1000


def test_a_summary(keep: Keep, ask: Ask) -> None:
    """It is what the page adds up, and its hours add up to it."""
    kept = keep()
    settle(kept, pipeline(), question(1), question(2, kept_by="none", name="chat"))
    whole = ask(kept, "/api/summary")
    msgspec.convert(whole["summary"], Summary)
    assert whole["summary"]["verdicts"] == {"PASS": 1, "FAIL": 2}
    assert sum(hour["handoffs"] for hour in whole["hours"]) == whole["handoffs"] == 3
    assert all(hour["start"] % 3600 == 0 for hour in whole["hours"])
    assert sum(hour["selected"]["kept"] for hour in whole["hours"]) == 1
    assert [row["selected"] for row in whole["summary"]["survival"]][-1] == {"of": 3, "kept": 1}
    assert ask(kept, "/api/summary", name="chat")["summary"]["verdicts"] == {"FAIL": 1}
    assert (whole["open_traces"], whole["waiting_bytes"]) == (0, 0)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_strings(keep: Keep, ask: Ask, text: str) -> None:
    """Whatever strings spans carry, every answer is ASCII in which nothing is markup, control or without end."""
    text = text.encode(errors="replace").decode()
    kept = keep()
    trace = "ab" * 16
    given = {
        semconv.HANDOFF_NAME: text,
        semconv.HANDOFF_ID: text,
        semconv.RECORD_ID: text,
        semconv.RUN_ID: text,
        semconv.JUDGED_IDS: [text],
    }
    named = {semconv.STAGE_NAME: text, semconv.CONTEXT_LABELS: [text]}
    top = handoff(1, text, trace=trace, given=given, end_ns=90, service=text)
    stages = [
        stage(2, text, text, parent=1, trace=trace, name=text),
        stage(4, "packing", "x", parent=1, trace=trace, given=named),
    ]
    settle(kept, [top, *stages])
    [row] = ask(kept, "/api/handoffs")["handoffs"]
    assert all(row[name].startswith(MARK) for name in ("handoff_id", "handoff_name", "record_id", "run_id", "service"))
    assert len(json.dumps(row)) < 10_000
    detail = ask(kept, "/api/handoffs/" + _quoted(row["handoff_id"]))
    assert isinstance(detail, dict) or detail[0] == 413
    for params in ({"name": row["handoff_name"]}, {"run": row["run_id"]}, {"service": row["service"]}):
        assert len(ask(kept, "/api/handoffs", **params)["handoffs"]) == 1
        assert ask(kept, "/api/summary", **params)["handoffs"] == 1
    assert ask(kept, "/api/handoffs", q="".join(text.split("\n")[0])[:200])["handoffs"] == [row]
    assert [run["run_id"] for run in ask(kept, "/api/runs")["runs"]] == [row["run_id"]]
    assert ask(kept, "/api/runs/" + _quoted(row["run_id"]))["handoffs"] == 1
    side = f"name={_quoted(row['handoff_name'])}"
    assert ask(kept, "/api/compare", before=side, after=side)["pairs"] == 1
    status, error = ask(kept, "/api/handoffs", verdict=text[:300])
    assert (status, error.isprintable()) == (400, True)


def _quoted(text: str) -> str:
    return quote(text, safe="")
