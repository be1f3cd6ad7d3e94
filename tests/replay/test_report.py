"""The report of a replay: what it holds and what it says."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from rop_otel import semconv
from rop_otel.core.profile import Resolver
from rop_otel.replay import Report, print_report, replay
from rop_otel.spans import Span
from tests.spans.trace import TRACE, handoff, pipeline, span, stage


def printed(report: Report) -> str:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=100))
    return stream.getvalue()


def test_the_shape_of_the_contract() -> None:
    """The report has every field of the contract, and what each stage dropped, as plain JSON."""
    report = replay([*pipeline(), stage(50, "lost"), stage(51, "far", given={semconv.HANDOFF_ID: "gone"})])
    data = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    [found] = data.pop("handoffs")
    assert data == {"orphan_stages": 1, "incomplete_handoffs": ["gone"], "duplicate_handoffs": [], "run": None}
    scores = found["stages"][0].pop("selected")
    assert [row.pop("dropped") for row in found["stages"]] == [[], [], ["d4"], ["d1"]]
    assert found["stages"][0] == {
        "stage": "vector",
        "name": None,
        "round": None,
        "returned": 3,
        "implementation": None,
        "fallback": False,
        "query_form": None,
        "judged": {},
    }
    assert (scores["recall@1"], scores["rr"]) == (1.0, 1.0)
    assert [row["stage"] for row in found.pop("stages")] == ["vector", "lexical", "fusion", "packing"]
    assert found.pop("shown")["ids"] == ["d3", "d2"]
    assert found == {
        "handoff_id": f"{TRACE}-{1:016x}",
        "trace_id": TRACE,
        "handoff_name": "qa",
        "record_id": None,
        "run_id": None,
        "mode": "hard",
        "verdict": "FAIL",
        "selected_rank": None,
        "dropped_at": "packing",
        "dropped_at_name": None,
        "dropped_at_round": None,
        "drop_cause": "over_budget",
        "findings": [],
        "agreement": None,
        "joint": None,
        "judged_losses": [],
        "selected": ["d1"],
        "judged": None,
    }


def test_a_resolver_in_force() -> None:
    """With a resolver an alias or member stands for its object."""
    spans = [handoff(1, "Page"), stage(2, "packing", "page#1", parent=1)]
    resolver = Resolver({"page": ["page#0", "page#1"]}, aliases={"page": ["Page"]})
    assert replay(spans).as_dict()["handoffs"][0]["verdict"] == "FAIL"
    assert replay(spans, resolver=resolver).as_dict()["handoffs"][0]["verdict"] == "PASS"


def test_the_resolver_that_is_missing_is_named() -> None:
    """Where the spans name a resolver, and another one or none was given, the summary says which to give."""
    resolver = Resolver({"d1": ["d1"]})
    spans = [handoff(1, "d1", given={semconv.RESOLVER_SHA256: resolver.sha256}), stage(2, "packing", "d1", parent=1)]
    sentence = f"The spans name resolver {resolver.sha256}, which was not given; give its file with --resolver."
    for given in (None, Resolver({"d2": ["d2"]})):
        report = replay(spans, resolver=given)
        assert sentence in printed(report)
        assert report.clean
    assert "--resolver" not in printed(replay(spans, resolver=resolver))


@pytest.mark.parametrize(
    ("ids", "given", "clean"),
    [
        (["d1"], {}, True),
        (["d2"], {}, False),
        (["d1"], {semconv.CONTEXT_TOKENS: 1, semconv.CONTEXT_TOKEN_BUDGET: 100, semconv.INPUT_IDS: ["d1"]}, False),
        (["d1", "d1"], {}, True),
    ],
    ids=["pass", "fail", "error", "no-error"],
)
def test_clean(ids: list[str], given: dict[str, object], clean: bool) -> None:
    """A report is clean where no handoff FAILs and no finding is an error."""
    assert replay([handoff(1, "d1"), stage(2, "packing", *ids, parent=1, given=given)]).clean is clean


def test_words() -> None:
    """A sentence per handoff with its findings below, and a summary: verdicts, losses, findings, what is missing."""
    spans = [
        *pipeline(),
        *pipeline(200),
        handoff(400, "d1", given={semconv.RECORD_ID: "r7"}),
        stage(401, "packing", "d1", "d1", parent=400),
        handoff(402, given={semconv.HANDOFF_ID: "twice", semconv.MODE: "open"}),
        handoff(403, given={semconv.HANDOFF_ID: "twice"}),
        stage(404, "lost"),
        stage(405, "far", given={semconv.HANDOFF_ID: "gone"}),
    ]
    text = printed(replay(spans))
    first, targets, _, _, passed, info, *_ = text.splitlines()
    assert first == f"{TRACE}-{1:016x} qa: FAIL, the selected object was lost at packing: packing left it out"
    assert targets == "    selected d1"
    assert passed.startswith("r7 qa: PASS, the selected object reached the reader at rank 1")
    assert info.startswith("    info duplicate_ids at packing: ")
    assert "4 handoffs: 1 PASS, 2 FAIL, 1 NOT_APPLICABLE" in text
    assert "packing  over_budget         2" in text
    assert "duplicate_ids  packing      1" in text
    assert "1 stage span without a handoff" in text
    assert "1 handoff without a handoff span: gone." in text
    assert "1 handoff ID seen again, not assessed: twice." in text


def judged_spans() -> list[Span]:
    """Return a handoff with a selected and two judged objects, of which the reader is shown a selected one only."""
    given = {semconv.JUDGED_IDS: ["d2", "d9"], semconv.RECORD_ID: "r1"}
    return [
        handoff(1, "d1", given=given),
        stage(2, "vector", "d1", "d2", parent=1, given={semconv.RETURNED_COUNT: 7}),
        stage(3, "packing", "d1", parent=1),
    ]


def test_both_targets() -> None:
    """The text says what was selected and judged, whether both agree, what the reader was shown, and what was lost."""
    text = printed(replay(judged_spans()))
    agreement = "the selected object is no judged one"
    assert text.splitlines()[1:4] == [
        f"    selected d1; judged d2, d9; {agreement}; the reader was shown the selected one only",
        "    judged d2 was lost at packing: packing left it out",
        "    judged d9 was lost: the list is longer than what was recorded of it",
    ]
    assert "Where judged objects were lost" in text


def test_lists() -> None:
    """Every stage's IDs are given when asked for, in the text and as JSON."""
    report = replay([*judged_spans(), stage(4, "mmr", parent=1, given={semconv.STAGE_NAME: "last"})])
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=100), lists=True)
    lines = ("    vector: d1, d2 and 5 that were not recorded", "    packing: d1", "    mmr/last: nothing")
    assert "\n".join(lines) in stream.getvalue()
    stages = report.as_dict(lists=True)["handoffs"][0]["stages"]
    assert [each["ids"] for each in stages] == [["d1", "d2"], ["d1"], []]
    assert all("ids" not in each for each in report.as_dict()["handoffs"][0]["stages"])


def test_no_handoffs() -> None:
    """Where nothing is ours, the text says so, and the report is clean."""
    report = replay([span(1), span(2, parent=1)])
    assert printed(report) == "No handoffs: no span carries a handoff's name.\n"
    assert report.clean


def test_names_are_never_acted_on() -> None:
    """Terminal control characters and markup that come from spans are printed, not obeyed."""
    given = {semconv.RECORD_ID: "\x1b[2J[bold]r\u202e", semconv.HANDOFF_NAME: "qa\n[link=x]"}
    spans = [handoff(1, "d1", given=given), stage(2, "[red]\x07", "a", parent=1, given={semconv.HANDOFF_ID: "\x9b1"})]
    text = printed(replay([*spans, stage(3, "packing", "d1", "d1", parent=1)]))
    assert r"\x1b[2J[bold]r\u202e qa\n[link=x]: PASS" in text
    assert r"without a handoff span: \x9b1." in text
    assert all(char.isprintable() or char == "\n" for char in text)


def test_ids_that_are_numbers() -> None:
    """IDs that are numbers and IDs that are texts are compared as texts, in every list."""
    spans = [
        handoff(1, "7", given={semconv.JUDGED_IDS: [7, "8"], semconv.HANDOFF_ID: 12}),
        stage(2, "vector", trace="cd" * 16, given={semconv.RETURNED_IDS: [8, "7"], semconv.HANDOFF_ID: "12"}),
        stage(4, "packing", parent=1, given={semconv.RETURNED_IDS: ["7", 8], semconv.INPUT_IDS: [8, 7]}),
    ]
    [found] = replay(spans).as_dict()["handoffs"]
    assert (found["handoff_id"], found["verdict"], found["selected_rank"], found["findings"]) == ("12", "PASS", 1, [])
    assert [row["judged"]["recall@3"] for row in found["stages"]] == [1.0, 1.0]


@pytest.mark.parametrize(("ids", "verdict"), [(["d1"], "PASS"), (["d2"], "UNVERIFIABLE")])
def test_lost_attributes(ids: list[str], verdict: str) -> None:
    """Where a span lost attributes, its list may be longer: what it shows counts, what it lacks proves nothing."""
    spans = [handoff(1, "d1"), stage(2, "packing", *ids, parent=1, dropped_attributes=1)]
    assert replay(spans).as_dict()["handoffs"][0]["verdict"] == verdict
