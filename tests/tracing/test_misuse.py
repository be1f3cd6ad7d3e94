from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import rop_otel as rop
from rop_otel import semconv
from rop_otel.core.handoff import Notice
from rop_otel.errors import UsageError
from tests.tracing.watched import Watched, retrieve

Watch = Callable[..., Watched]


def test_selected_object_without_an_id_is_counted(watched: Watched) -> None:
    """An object whose ID cannot be read is an unusable selection, and a mishap."""
    with rop.handoff("qa") as handoff:
        handoff.select(object())
        retrieve("a", packed=("a",))
    assert handoff.assessment.verdict is rop.Verdict.SELECTOR_ERROR
    assert watched.errors("handoff") == 1


@pytest.mark.parametrize("selected", [3.5, ["a", object()], ""])
def test_selection_given_at_the_start_without_an_id_is_logged_once(
    selected: object, watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    """What ``handoff(selected=)`` is given is taken as ``select()`` takes it: unusable, counted, logged once."""
    for _ in range(2):
        with rop.handoff("qa", selected=selected) as handoff:
            retrieve("a", packed=("a",))
    assert handoff.assessment.verdict is rop.Verdict.SELECTOR_ERROR
    assert watched.errors("handoff") == 2
    [message] = caplog.messages
    assert f"handoff 'qa', selected: no ID can be read in the selected {type(selected).__name__}" in message


def test_selection_that_is_a_number_is_its_text(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """IDs are texts: a whole number that was selected is found under its digits."""
    with rop.handoff("qa", selected=7) as handoff:
        retrieve("7", packed=("7",))
    assert handoff.assessment.verdict is rop.Verdict.PASS
    assert watched.errors("handoff") == 0
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("wrong", "attribute", "kept"),
    [
        ({"cutoff": 0}, semconv.CUTOFF, 0),
        ({"cutoff": -3}, semconv.CUTOFF, -3),
        ({"cutoff": "5"}, semconv.CUTOFF, 0),
        ({"cutoff": 2.5}, semconv.CUTOFF, 0),
        ({"cutoff": True}, semconv.CUTOFF, 0),
        ({"rule": "most"}, semconv.RULE, "most"),
        ({"rule": 3}, semconv.RULE, ""),
        ({"mode": "harder"}, semconv.MODE, "harder"),
        ({"mode": ""}, semconv.MODE, ""),
    ],
)
def test_wrong_declaration_is_judged_and_counted(
    wrong: dict[str, Any], attribute: str, kept: object, watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong mode, rule or cutoff is on the span as in the record, so every door says ``DECLARATION_INVALID``."""
    for _ in range(2):
        with rop.handoff("qa", selected="a", **wrong) as handoff:
            retrieve("a", packed=("a",))
    assert handoff.assessment.verdict is rop.Verdict.DECLARATION_INVALID
    assert (watched.spans[-1].attributes or {})[attribute] == kept
    assert getattr(watched.heard.records[-1], attribute.removeprefix("rop.")) == kept
    assert watched.errors("handoff") == 2
    assert len(caplog.messages) == 1


def test_judged_object_that_is_null_is_reported_and_ignored(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """A null among the judged objects is no part of the ideal, with the grades still aligned."""
    with rop.handoff("qa", judged=["x", None, 5], grades=[1, 3, 2]):
        pass
    record = watched.heard.records[0]
    assert (record.judged, record.grades) == (("x", "5"), (1, 2))
    assert watched.errors("handoff") == 1
    assert "judged object 2 has no readable ID" in caplog.text


def test_grade_that_is_no_number_counts_as_one(watched: Watched) -> None:
    """A grade that cannot be read is counted, and is that of an object without one."""
    with rop.handoff("qa", judged={"x": "high", "y": 3}):
        pass
    assert watched.heard.records[0].grades == (1, 3)
    assert watched.errors("handoff") == 1


def test_grade_that_is_missing_is_one(watched: Watched) -> None:
    """Judged objects beyond the grades given have grade 1, and that is no mishap."""
    with rop.handoff("qa", judged=["x", "y"], grades=[3]):
        pass
    assert watched.heard.records[0].grades == (3, 1)
    assert watched.errors("handoff") == 0


@pytest.mark.parametrize(
    "wrong",
    [{"expected": 3}, {"starved_ratio": "half"}, {"record_id": ""}, {"run_id": object()}, {"scope": ""}],
)
def test_any_other_wrong_argument_is_left_out(wrong: dict[str, Any], watched: Watched) -> None:
    """An argument that cannot be used is counted and is not on the span."""
    with rop.handoff("qa", **wrong):
        pass
    assert set(watched.attributes("handoff qa")) == {
        semconv.HANDOFF_NAME,
        semconv.HANDOFF_ID,
        semconv.VERDICT,
        semconv.FINDINGS,
    }
    assert watched.errors("handoff") == 1


@pytest.mark.parametrize("name", ["", None, 7])
def test_handoff_without_a_name(name: Any, watched: Watched) -> None:
    """A name that is no text is counted, and the handoff is monitored all the same."""
    with rop.handoff(name):
        pass
    assert watched.names == ["handoff unnamed"]
    assert watched.errors("handoff") == 1


def test_strict_mode_raises(watch: Watch) -> None:
    """In strict mode, for tests, misuse raises and names the value."""
    watched = watch(strict=True)
    with pytest.raises(UsageError, match=re.escape("handoff 'qa', cutoff: cutoff is 0; it must be")):
        rop.handoff("qa", cutoff=0)
    with rop.handoff("qa"):
        with pytest.raises(UsageError, match="no ID can be read in a list of object"), rop.using_stage("vector") as s:
            s.returned([object()])
        with pytest.raises(UsageError, match="input"), rop.using_stage("rerank", input=[object()]):
            pass
        with pytest.raises(UsageError, match="returned"), rop.using_stage("rerank"):
            pass
    assert watched.names == ["vector", "rerank", "rerank", "handoff qa"]


@pytest.mark.parametrize("call", ["select", "answered"])
def test_what_comes_after_the_end_is_counted(call: str, watched: Watched) -> None:
    """A call after the end changes nothing and is a mishap."""
    with rop.handoff("qa") as handoff:
        pass
    before = handoff.assessment
    getattr(handoff, call)("a")
    assert handoff.assessment is before
    assert watched.errors("handoff") == 1


@pytest.mark.parametrize("number", [0, -1, "2", None])
def test_round_without_a_number_is_counted(number: Any, watched: Watched) -> None:
    """A round that has no number from 1 is a mishap, and its stages count for the whole handoff."""
    with rop.handoff("qa"), rop.using_round(number):
        retrieve("a", packed=("a",))
    assert {stage.round for stage in watched.stages()} == {None}
    assert watched.errors("stage") == 1


@pytest.mark.parametrize(
    ("told", "left_out"),
    [
        ({"labels": "S1"}, "labels"),
        ({"labels": [object()]}, "labels"),
        ({"tokens": "many"}, "tokens"),
        ({"token_budget": 1.5}, "token_budget"),
        ({"id_tokens": [None]}, "id_tokens"),
        ({"scores": [None]}, "scores"),
        ({"scores": 3}, "scores"),
    ],
)
def test_what_is_told_wrong_is_left_out_and_counted(told: dict[str, Any], left_out: str, watched: Watched) -> None:
    """A label, count or score that is none never raises and never reaches the record."""
    with rop.handoff("qa"), rop.using_stage("packing") as stage:
        stage.returned(["a"], **told)
    assert getattr(watched.stage("packing"), left_out) is None
    assert watched.stage("packing").returned == ("a",)
    assert watched.errors("stage") == 1


def test_using_stage_with_a_wrong_kind_is_counted(watched: Watched) -> None:
    """At run time a kind that is no text is a mishap, and the block runs unmonitored."""
    with rop.handoff("qa"), rop.using_stage("") as stage:
        stage.returned(["a"])
    assert watched.stages() == []
    assert watched.errors("stage") == 1


def test_handoff_entered_after_its_end_is_counted(watched: Watched) -> None:
    """A block of a handoff that is over is a mishap, and its stages are late, not lost in silence."""
    handoff = rop.handoff("qa")
    with handoff:
        pass
    with handoff, rop.using_stage("vector") as stage:
        stage.returned(["a"])
    assert watched.errors("handoff") == 1
    assert watched.heard.notices[Notice.LATE, ""] == 1
    assert len(watched.heard.assessments) == 1


@pytest.mark.parametrize("bad", [{"matches": ["a"]}, "text", None, {"a"}, 7, iter(["a"]), (["a"], 24)])
def test_what_is_no_list_is_called_so(bad: object, watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """Where a stage returns something else than a list, the warning says how to tell the list, not where IDs are."""

    @rop.stage("vector")
    def search() -> object:
        return bad

    with rop.handoff("qa"):
        search()
    [message] = caplog.messages
    kinds = " of list and int" if isinstance(bad, tuple) else ""
    said = f"a {type(bad).__name__}{kinds} is no list of documents; report the list with running_stage.returned"
    assert said in message
    assert "id=" not in message
