"""The run that recorded spans amount to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped] # it ships no types

from rop_otel import semconv
from rop_otel.core.profile.schema import schema
from rop_otel.evaluation.run_report_text import where_to_look
from rop_otel.replay import Report, replay
from rop_otel.spans import Span
from tests.core.profile.declared import changed, opened
from tests.spans.trace import handoff, stage


def trip(
    number: int, record_id: str | None, *ids: str, selected: tuple[str, ...] = ("obj-a",), **given: Any
) -> list[Span]:
    """Return a handoff and its packing stage; ``given`` holds more attributes by their names' last words."""
    names = {"declaration": semconv.DECLARATION_ID, "cutoff": semconv.CUTOFF, "resolver": semconv.RESOLVER_SHA256}
    attributes: dict[str, Any] = {names[name]: value for name, value in given.items()}
    if record_id is not None:
        attributes[semconv.RECORD_ID] = record_id
    return [
        handoff(number, *selected, given=attributes, trace=f"{number:032x}"),
        stage(number + 1, "packing", *ids, parent=number, trace=f"{number:032x}"),
    ]


def run(report: Report) -> dict[str, Any]:
    shape = report.as_dict()["run"]
    Draft202012Validator(schema("run_report")).validate(json.loads(json.dumps(shape)))
    assert isinstance(shape, dict)
    return shape


def test_a_run_is_accounted_for() -> None:
    """Each expected record is judged by the declared cutoff, rule and resolver, or is missing."""
    found = run(replay([*trip(1, "r1", "x", "a#1"), *trip(11, "r2", "x", "y", "z", "a#0")], declaration=opened()))
    assert found["run_status"] == "RUN_FAIL"
    assert (found["expected"], found["observed"], found["missing_record_ids"]) == (3, 2, ["r3"])
    assert [(each["record_id"], each["verdict"], each["rank"], each["object_id"]) for each in found["records"]] == [
        ("r1", "PASS", 2, "obj-a"),
        ("r2", "FAIL", 4, "obj-a"),
    ]


def test_handoffs_say_the_same() -> None:
    """The verdicts of the handoffs are those of the run's records; without the declaration they may differ."""
    spans = [*trip(1, "r1", "x", "a#1"), *trip(11, "r2", "x", "y", "z", "a#0")]
    report = replay(spans, declaration=opened())
    assert [each.verdict for each in report.assessments] == ["PASS", "FAIL"]
    assert [each.verdict for each in replay(spans).assessments] == ["FAIL", "FAIL"]
    assert replay(spans).as_dict()["run"] is None


def test_which_handoffs_belong_to_the_run() -> None:
    """Those with its declaration's ID; all of them where none carries any."""
    ours = trip(1, "r1", "a#0", declaration="made-up")
    theirs = trip(11, "r2", "a#0", declaration="another")
    nobodys = trip(21, "r3", "a#0")
    assert run(replay([*ours, *theirs, *nobodys], declaration=opened()))["missing_record_ids"] == ["r2", "r3"]
    assert run(replay([*theirs, *nobodys], declaration=opened()))["observed"] == 0
    assert run(replay(nobodys, declaration=opened()))["observed"] == 1
    # Its resolver is in force for the others, too, but not its cutoff.
    far = trip(31, "r9", "w", "x", "y", "a#0", declaration="another")
    assert [each.verdict for each in replay([*ours, *far], declaration=opened()).assessments] == ["PASS", "PASS"]


def test_records_repeated_unexpected_and_without_id() -> None:
    """Each is listed; a handoff without a record ID is a malformed observation, named by the handoff."""
    spans = [*trip(1, "r1", "a#0"), *trip(11, "r1", "x"), *trip(21, "r9", "a#0"), *trip(31, None, "a#0")]
    found = run(replay(reversed(spans), declaration=opened()))
    assert found["run_status"] == "RUN_INVALID"
    assert (found["duplicate_record_ids"], found["unexpected_record_ids"]) == (["r1"], ["r9"])
    assert found["malformed_observations"] == [
        {"file": f"{31:032x}-{31:016x}", "line": 4, "reason": "the record ID at 'record_id' is missing"}
    ]
    assert [each["verdict"] for each in found["records"]] == ["PASS", "FAIL", "PASS"]


def test_a_handoff_that_never_ended_is_missing() -> None:
    """Stages alone are no observation, and a second span of one handoff is none either."""
    [whole, *stages] = trip(1, "r1", "a#0")
    assert run(replay(stages, declaration=opened()))["observed"] == 0
    again = [whole, *stages, whole, handoff(5, "obj-a", given={semconv.HANDOFF_ID: f"{1:032x}-{1:016x}"})]
    assert run(replay(again, declaration=opened()))["observed"] == 1


def test_a_handoff_under_other_terms_makes_the_run_invalid() -> None:
    """Its verdict is DECLARATION_INVALID in both places, and no other record can make up for it."""
    spans = [*trip(1, "r1", "a#0"), *trip(11, "r2", "a#0", cutoff=9), *trip(21, "r3", "a#0", cutoff=3)]
    report = replay(spans, declaration=opened())
    assert [each.verdict for each in report.assessments] == ["PASS", "DECLARATION_INVALID", "PASS"]
    found = run(report)
    assert (found["run_status"], found["verdicts"]["DECLARATION_INVALID"]) == ("RUN_INVALID", 1)
    assert found["records"][1]["reason"] == "the handoff's cutoff is 9, the run's is 3"
    assert report.run is not None
    assert where_to_look(report.run.report) == ["run assembly: handoffs with other terms than the declaration's: 1"]


def test_a_resolver_that_is_not_the_declarations() -> None:
    """A handoff that names another resolver is unverifiable."""
    report = replay(trip(1, "r1", "a#0", resolver="0" * 64), declaration=opened(population=("r1",)))
    assert report.assessments[0].verdict == "UNVERIFIABLE"
    assert run(report)["run_status"] == "RUN_UNVERIFIABLE"


def test_soft_and_invalid_declarations() -> None:
    """A soft one does not apply, an invalid one invalidates; both are reported."""
    spans = [*trip(1, "r1", "a#0")[1:], handoff(1, trace=f"{1:032x}", given={semconv.RECORD_ID: "r1"})]
    soft = run(replay(spans, declaration=opened(mode="soft", population=None)))
    assert (soft["run_status"], soft["diagnostics"]["verdicts"]["SELECTOR_ERROR"]) == ("NOT_APPLICABLE", 1)
    report = replay(spans, declaration=changed(lambda document: document.pop("mode")))
    found = run(report)
    assert (found["run_status"], found["verdicts"]["DECLARATION_INVALID"]) == ("RUN_INVALID", 1)
    assert found["declaration_errors"]
    assert report.assessments[0].verdict == "DECLARATION_INVALID"


@pytest.mark.parametrize("spans", [[], trip(1, "r1")[1:]])
def test_nothing_recorded_is_everything_missing(spans: list[Span]) -> None:
    """A run of which no handoff was recorded passes nothing over."""
    found = run(replay(spans, declaration=opened()))
    assert (found["run_status"], found["missing_record_ids"]) == ("RUN_UNVERIFIABLE", ["r1", "r2", "r3"])
