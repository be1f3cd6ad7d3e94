"""What the page says is what the other surfaces say."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rop_otel import semconv
from rop_otel.cli.page import assessed_set
from rop_otel.core.handoff import Joint, StageRecord
from rop_otel.meters.tally import Tally
from rop_otel.page import AssessedSet, Carried, write_page
from rop_otel.replay import print_report, replay, replay_files
from rop_otel.spans import Span
from rop_otel.tracing.running import runtime
from tests.conformance.test_handoff import CASES
from tests.core.build import handoff, judge, stage
from tests.page.shapes import check
from tests.page.unpacked import Doc, blocks, details
from tests.replay.test_doors import PIPELINES, RESOLVER, Exported, run_pipeline


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    """Put the process's runtime back."""
    before = runtime.install(None)
    yield
    runtime.install(before)


def page(*sets: AssessedSet, **said: Any) -> bytes:
    stream = io.BytesIO()
    write_page(sets, stream, **said)
    return stream.getvalue()


def shown(*stages: StageRecord, **facts: Any) -> AssessedSet:
    """Return a set of one handoff."""
    return AssessedSet(name="set", records=(handoff(*stages, **facts),), assessments=(judge(*stages, **facts),))


def only(*stages: StageRecord, **facts: Any) -> Doc:
    """Return the detail of a handoff of these stages."""
    (detail,) = details(blocks(page(shown(*stages, **facts))))
    return detail


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_details_hold_all_that_replay_says(case: Path) -> None:
    """Each detail has the shape that the views rely on, and every field that replay gives with the value it gives."""
    resolver = case / "resolver.json"
    report = replay_files([str(case / "traces.jsonl")], resolver=str(resolver) if resolver.exists() else None)
    found = blocks(page(assessed_set("set", report, Carried())))
    check(found, details(found))
    expected = report.as_dict(lists=True)["handoffs"]
    for one, row, detail in zip(expected, found["set-0-rows"], details(found), strict=True):
        counted = [each for each in detail["stages"] if each["stage"] != "reader" and _counts(each, detail)]
        assert _like(counted, one["stages"]) == one["stages"]
        assert _like(detail["findings"], one["findings"]) == one["findings"]
        assert {**detail["shown"], **one["shown"]} == detail["shown"]
        losses = one["judged_losses"]
        assert (detail["judged_losses"] if losses is None else _like(detail["judged_losses"], losses)) == losses
        rest = {name: value for name, value in one.items() if name not in NESTED}
        assert {name: detail[name] for name in rest} == rest
        assert {name: row[name] for name in rest} == rest


NESTED = ("stages", "findings", "shown", "judged_losses")


def _counts(each: Doc, detail: Doc) -> bool:
    """Return whether a stage counts: one that ended late, and a packing or rescue that failed, is left out."""
    return each["status"] != "late" and not (each["status"] == "failed" and each["stage"] in ("packing", "rescue"))


def _like(found: list[Doc], expected: list[Doc]) -> list[Doc]:
    return [{name: one[name] for name in other} for one, other in zip(found, expected, strict=True)]


@pytest.mark.filterwarnings("ignore")
@given(st.lists(PIPELINES, min_size=1, max_size=4), st.sampled_from([None, RESOLVER]))
def test_three_surfaces_agree(
    tmp_path_factory: pytest.TempPathFactory, pipelines: list[dict[str, Any]], resolver: Any
) -> None:
    """The numbers of one live run are the same in /metrics, in replay's JSON and text, and on the page."""
    tally = Tally()
    exported = Exported(resolver, sinks=(tally,))
    runtime.install(exported.runtime)
    for pipeline in pipelines:
        run_pipeline(pipeline)
    folder = tmp_path_factory.mktemp("surfaces")
    exported.write(folder / "spans.json")
    given = None
    if resolver is not None:
        given = str(folder / "resolver.json")
        Path(given).write_bytes(resolver.to_bytes())
    report = replay_files([str(folder / "spans.json")], resolver=given)
    found = blocks(page(assessed_set("set", report, Carried())))
    summary = found["head"]["sets"][0]["summary"]
    _agrees_with_json(summary, report.as_dict()["handoffs"])
    _agrees_with_text(summary, report)
    _agrees_with_metrics(summary, tally)


def _agrees_with_json(summary: Doc, handoffs: list[Doc]) -> None:
    assert summary["verdicts"] == Counter(each["verdict"] for each in handoffs)
    losses = Counter(
        (each["dropped_at"], each["dropped_at_name"], each["dropped_at_round"], each["drop_cause"])
        for each in handoffs
        if each["drop_cause"]
    )
    assert {_spot(each): each["count"] for each in summary["losses"] if each["count"]} == losses
    findings = Counter((one["code"], one["stage"], one["name"]) for each in handoffs for one in each["findings"])
    for each in summary["findings"]:
        findings[each["code"], each["stage"], each["name"]] -= each["count"]
    assert not any(findings.values())
    sizes: dict[Any, list[int | None]] = {}
    for ran in (one for each in handoffs for one in each["stages"]):
        sizes.setdefault((ran["stage"], ran["name"], ran["round"]), []).append(ran["returned"])
    for each in summary["scores"][:-1]:
        known = [size for size in sizes[each["stage"], each["name"], each["round"]] if size is not None]
        assert each["returned"] == (sum(known) / len(known) if known else None)


def _spot(loss: Doc) -> tuple[Any, ...]:
    return loss["stage"], loss["name"], loss["round"], loss["cause"]


def _agrees_with_text(summary: Doc, report: Any) -> None:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=200))
    text = stream.getvalue()
    for verdict, count in summary["verdicts"].items():
        assert f"{count:,} {verdict}" in text
    rows = [line.split() for line in text.splitlines()]
    by_kind: Counter[tuple[str, str]] = Counter()
    for each in summary["losses"]:
        by_kind[each["stage"] or "(no stage)", each["cause"]] += each["count"]
    for (place, cause), count in by_kind.items():
        assert not count or [*place.split(), cause, str(count)] in rows


def _agrees_with_metrics(summary: Doc, tally: Tally) -> None:
    verdicts: Counter[str] = Counter()
    for point in tally.points(semconv.VERDICTS):
        verdicts[point.values[1]] += int(point.number)
    assert +verdicts == summary["verdicts"]
    for metric, field in ((semconv.MISSES, "count"), (semconv.JUDGED_MISSES, "judged")):
        lost: Counter[str] = Counter()
        for point in tally.points(metric):
            lost[point.values[2]] += int(point.number)
        for each in summary["losses"]:
            lost[each["cause"]] -= each[field]
        assert not any(lost.values())
    found: Counter[tuple[str, str, str]] = Counter()
    for point in tally.points(semconv.FINDINGS_COUNT):
        found[point.values[1], point.values[2], point.values[3]] += int(point.number)
    for each in summary["findings"]:
        found[each["stage"], each["code"], each["severity"]] -= each["count"]
    assert not any(found.values())
    cited = {point.values[1]: int(point.number) for point in tally.points(semconv.CITATIONS)}
    assert {name: count for name, count in summary["citations"].items() if count} == {
        name: count for name, count in cited.items() if count
    }
    joints: Counter[str] = Counter()
    for point in tally.points(semconv.JOINTS):
        joints[point.values[1]] += int(point.number)
    assert +joints == Counter({joint: summary["joints"].get(joint.value, 0) for joint in Joint if joint in joints})
    held: Counter[tuple[str, str]] = Counter()
    for point in tally.points(semconv.STAGE_SELECTED):
        kind = point.values[1].split()[0]
        held[kind, point.values[2]] += int(point.number)
    kept, of = Counter[str](), Counter[str]()
    for each in summary["survival"][:-1]:
        kept[each["stage"]] += each["selected"]["kept"]
        of[each["stage"]] += each["selected"]["of"]
    for kind in of:
        assert (held[kind, "true"], held[kind, "true"] + held[kind, "false"]) == (kept[kind], of[kind])
    sums: dict[tuple[str, str, str], float] = {}
    counts: dict[tuple[str, str, str], float] = {}
    for metric, numbers in ((semconv.STAGE_SCORE, sums), (semconv.STAGE_SCORED, counts)):
        for point in tally.points(metric):
            if point.values[1] == semconv.SHOWN and not point.values[5]:
                measure = point.values[3] + (f"@{point.values[4]}" if point.values[4] else "")
                numbers[point.values[2], measure, ""] = numbers.get((point.values[2], measure, ""), 0) + point.number
    means = {(target, measure): value / counts[target, measure, ""] for (target, measure, _), value in sums.items()}
    of_page = summary["scores"][-1]
    assert {(target, name): value for target in ("selected", "judged") for name, value in of_page[target].items()} == (
        pytest.approx(means)
    )


def test_a_loss_is_explained_at_its_stage() -> None:
    """The place, a sentence with the object and the stage, and what to try; of two alike stages it is the right one."""
    detail = only(
        stage("vector", "a b"), stage("rerank", "a b"), stage("rerank", "b"), stage("packing", "b"), selected="a"
    )
    assert detail["loss"] == {
        "place": 2,
        "cause": "reranked_away",
        "says": "'a' was lost at 'rerank'. The reranker put it too low.",
        "try": "Keep more; check which reranker really runs.",
    }


def test_findings_point_at_their_stage() -> None:
    """A finding has the place of its stage and what to try; one of a stage that never ran has no place."""
    detail = only(stage("vector", "a b"), stage("mmr", "a", given="a"), expected=("vector", "mmr", "packing"))
    assert [(each["code"], each["place"]) for each in detail["findings"]] == [
        ("silent_cut", 1),
        ("stage_not_observed", None),
    ]
    assert all(each["try"] for each in detail["findings"])


def test_stages_that_were_left_out_are_there() -> None:
    """Late, failed and unreadable stages keep their place, with a reason."""
    detail = only(
        stage("vector", "a b", at=10),
        stage("rerank", None, at=20),
        stage("packing", "a", at=30, failed=True),
        stage("packing", "a", at=40),
        stage("rescue", "c", at=10**9),
    )
    assert [(each["stage"], each["status"]) for each in detail["stages"]] == [
        ("vector", "ok"),
        ("rerank", "unreadable"),
        ("packing", "failed"),
        ("packing", "ok"),
        ("rescue", "late"),
    ]
    assert [bool(each["reason"]) for each in detail["stages"]] == [False, True, True, False, True]
    assert detail["shown"]["places"] == [3]


def test_what_came_and_went() -> None:
    """A stage has what it was handed and did not return, and what it returned and was not handed."""
    detail = only(stage("vector", "a b c"), stage("expansion", "a d"), stage("packing", "a d"))
    assert [(each["dropped"], each["added"]) for each in detail["stages"]] == [
        ([], None),
        (["b", "c"], ["d"]),
        ([], []),
    ]


def test_a_part_of_a_passage_is_hollow() -> None:
    """Passages without text are not shown; of those that are, the ones seen in part are marked."""
    packing = stage("packing", "a b c", shares=(1.0, 0.0, 0.5))
    assert only(stage("vector", "a b c"), packing)["shown"] | {"selected": {}, "judged": {}} == {
        "ids": ["a", "c"],
        "basis": "recorded",
        "selected": {},
        "judged": {},
        "hollow": [False, True],
        "places": [1],
    }


def test_labels_are_followed() -> None:
    """Each label: what was shown under it, what it leads to, whether it is cited, and what that makes it."""
    packing = stage("packing", "a b", labels="S1 S2")
    reader = stage("reader", "b", labels="S1", citations=("S1", "S9"))
    rows = [tuple(each.values()) for each in only(stage("vector", "a b"), packing, reader)["labels"]]
    assert rows == [
        ("S1", "a", "b", True, "misattributed", 2),
        ("S2", "b", None, False, "unattached", 2),
        ("S9", None, None, True, "unresolved", 2),
    ]


def test_labels_without_a_reader() -> None:
    """Without a reader the map says what was shown."""
    rows = [tuple(each.values()) for each in only(stage("packing", "a", labels="S1"))["labels"]]
    assert rows == [("S1", "a", None, False, None, None)]


def test_rescue_survives_only_where_it_helps() -> None:
    """A rescue that never brought a selected object has no row of survival."""
    stages = (stage("vector", "a b"), stage("packing", "b"))
    idle = shown(*stages, stage("rescue", "c"))
    helping = shown(*stages, stage("rescue", "a"))
    for one, rows in ((idle, ["vector", "packing", "shown"]), (helping, ["vector", "packing", "rescue", "shown"])):
        summary = blocks(page(one))["head"]["sets"][0]["summary"]
        assert [each["stage"] for each in summary["survival"]] == rows


def test_an_empty_set() -> None:
    """A set without handoffs is a page, too."""
    found = blocks(page(AssessedSet(name="nothing")))
    check(found, [])
    assert found["head"]["sets"][0] | {"summary": None} == {
        "name": "nothing",
        "handoffs": 0,
        "blocks": 0,
        "summary": None,
    }


def test_the_same_handoffs_give_the_same_bytes() -> None:
    """Nothing in the file depends on when it is written, unless that is said."""
    one = shown(stage("vector", "a b"), stage("packing", "a"))
    assert page(one) == page(one)
    assert blocks(page(one, made_at="2026-01-01T00:00:00Z"))["head"]["made_at"] == "2026-01-01T00:00:00Z"


def test_queries_only_where_they_may_be_shown() -> None:
    """The text of a query is on the page, and in its spans, only where that is allowed; of documents never."""
    spans = [
        Span(
            trace_id="a" * 32, span_id="b" * 16, name="q", attributes={"rop.handoff.name": "qa", "input.value": "WHY"}
        ),
        Span(
            trace_id="a" * 32,
            span_id="c" * 16,
            parent_id="b" * 16,
            name="search",
            attributes={
                "rop.stage": "vector",
                "rop.returned.ids": ["d1"],
                "gen_ai.retrieval.query.text": "WHY NOT",
                "gen_ai.retrieval.top_k": 7,
                "retrieval.documents.0.document.content": "BECAUSE",
            },
            service="search",
        ),
    ]
    texts = {}
    for text in (False, True):
        carried = Carried(text=text)
        for span in spans:
            carried.add(span)
        (detail,) = details(blocks(page(assessed_set("set", replay(spans), carried))))
        assert detail["stages"][0]["top_k"] == 7
        assert detail["stages"][0]["service"] == "search" != detail["service"]
        texts[text] = json.dumps(detail)
        assert ("question" in detail, "query" in detail["stages"][0]) == (text, text)
    assert "WHY" not in texts[False]
    assert "WHY NOT" in texts[True]
    assert not any("BECAUSE" in each for each in texts.values())


def test_too_many_names_of_stages() -> None:
    """Totals list a bounded number of stages, and say how many they leave out."""
    named = [shown(stage("vector", "a b", name=f"arm {number}")) for number in range(300)]
    together = AssessedSet(
        name="set",
        records=tuple(each.records[0] for each in named),
        assessments=tuple(each.assessments[0] for each in named),
    )
    found = blocks(page(together))
    check(found, details(found))
    summary = found["head"]["sets"][0]["summary"]
    assert (len(summary["survival"]), summary["stages_left_out"]) == (201, 100)
