from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

import rop_otel as rop
from rop_otel import semconv
from rop_otel.core.handoff import Notice
from rop_otel.core.profile import Resolver
from tests.contracts.signatures import parameters
from tests.tracing.watched import Hit, Watched, hits, retrieve

Watch = Callable[..., Watched]


def test_selected_object_is_followed_to_the_reader(watched: Watched) -> None:
    """A handoff ends with one sentence that says where the selected object is, or where it was lost."""
    with rop.handoff("docs-qa", cutoff=5) as handoff:
        handoff.select("b")
        retrieve("a", "b", packed=("b",))
    assert handoff.assessment.verdict is rop.Verdict.PASS
    assert str(handoff.assessment) == "docs-qa: PASS, the selected object reached the reader at rank 1"
    with rop.handoff("docs-qa", cutoff=5) as handoff:
        handoff.select("b")
        retrieve("a", "b", packed=("a",))
    assert handoff.assessment.verdict is rop.Verdict.FAIL
    assert (handoff.assessment.dropped_at, handoff.assessment.drop_cause) == ("packing", rop.DropCause.OVER_BUDGET)


def test_verdict_is_on_the_handoff_span(watched: Watched) -> None:
    """The span has the facts and the assessment before it ends."""
    with rop.handoff(
        "qa",
        cutoff=5,
        rule="all",
        mode="hard",
        judged={"a": 2, "b": 1},
        record_id="r1",
        run_id="run",
        scope="lib",
        expected=["vector", "packing"],
        starved_ratio=0.5,
    ) as handoff:
        handoff.select(["a", "b"])
        retrieve("a", "b", packed=())
    assert watched.attributes("handoff qa") == {
        semconv.HANDOFF_NAME: "qa",
        semconv.HANDOFF_ID: handoff.id,
        semconv.RECORD_ID: "r1",
        semconv.RUN_ID: "run",
        semconv.MODE: "hard",
        semconv.RULE: "all",
        semconv.CUTOFF: 5,
        semconv.SELECTED_IDS: ("a", "b"),
        semconv.JUDGED_IDS: ("a", "b"),
        semconv.JUDGED_GRADES: (2, 1),
        semconv.SCOPE_ID: "lib",
        semconv.EXPECTED_STAGES: ("vector", "packing"),
        semconv.STARVED_RATIO: 0.5,
        semconv.VERDICT: "FAIL",
        semconv.DROPPED_AT: "packing",
        semconv.DROP_CAUSE: "over_budget",
        semconv.FINDINGS: ("nothing_returned",),
    }


@pytest.mark.parametrize("opened", [rop.handoff, rop.start_handoff])
def test_every_argument_is_passed_on(opened: Callable[..., rop.Handoff], watched: Watched) -> None:
    """However a handoff is opened, its record has all that was said then: no argument is left out."""
    told: dict[str, Any] = {
        "cutoff": 5,
        "rule": "all",
        "mode": "soft",
        "selected": "a",
        "judged": ["a", "b"],
        "grades": [2, 1],
        "record_id": "r1",
        "run_id": "run",
        "scope": "lib",
        "expected": ["vector", "packing"],
        "starved_ratio": 0.5,
        "need": "every",
        "witness": "w-1",
        "witness_sha256": "0" * 64,
        "min_tokens": 3,
        "label_scope": "object",
    }
    assert told.keys() == set(parameters(opened)) - {"name"}
    with opened("qa", **told) as handoff:
        pass
    handoff.close()
    (record,) = watched.heard.records
    unsaid = {each.name for each in fields(record) if getattr(record, each.name) == each.default}
    assert unsaid == {"declaration_id", "declaration_sha256", "resolver_sha256", "stages", "failed", "gaps"}


def test_all_that_a_stage_is_told_is_on_its_span(watched: Watched) -> None:
    """What ``returned()`` and ``answered()`` take is on the span under the names of the contract."""
    with rop.handoff("qa") as handoff:
        with rop.using_stage("packing", input=["a", "b"], query_form="title") as stage:
            stage.returned(["a"], labels=["S1"], tokens=8, token_budget=10, id_tokens=[8], scores=[0.5], scopes=["lib"])
            stage.implementation("whole chunks", fallback=True)
        handoff.answered("It waits [S1][S2].", sources=["a"], labels=["S1"])
    common = {semconv.GEN_AI_OPERATION: "retrieval", semconv.HANDOFF_ID: handoff.id}
    assert watched.attributes("packing") == common | {
        semconv.STAGE: "packing",
        semconv.INPUT_IDS: ("a", "b"),
        semconv.RETURNED_IDS: ("a",),
        semconv.RETURNED_SCORES: (0.5,),
        semconv.RETURNED_SCOPES: ("lib",),
        semconv.CONTEXT_LABELS: ("S1",),
        semconv.CONTEXT_TOKENS: 8,
        semconv.CONTEXT_TOKEN_BUDGET: 10,
        semconv.CONTEXT_ID_TOKENS: (8,),
        semconv.STAGE_IMPLEMENTATION: "whole chunks",
        semconv.STAGE_FALLBACK: True,
        semconv.QUERY_FORM: "title",
    }
    assert watched.attributes("reader") == common | {
        semconv.STAGE: "reader",
        semconv.RETURNED_IDS: ("a",),
        semconv.CONTEXT_LABELS: ("S1",),
        semconv.ANSWER_CITATIONS: ("S1", "S2"),
    }


def test_handoff_id_is_that_of_its_span(watched: Watched) -> None:
    """A handoff is named after its trace and span."""
    with rop.handoff("qa") as handoff:
        pass
    context = watched.spans[0].context
    assert context is not None
    assert handoff.id == f"{context.trace_id:032x}-{context.span_id:016x}"
    assert handoff.trace_id == f"{context.trace_id:032x}"


@pytest.mark.parametrize("missing", [None, [], (), set()])
def test_selection_that_did_not_come_is_an_error_of_the_selector(missing: object, watched: Watched) -> None:
    """None and an empty list are a selection that was due, not silence."""
    with rop.handoff("qa") as handoff:
        handoff.select(missing)
        retrieve("a", packed=("a",))
    assert handoff.assessment.verdict is rop.Verdict.SELECTOR_ERROR
    assert watched.attributes("handoff qa")[semconv.SELECTED_IDS] == ()
    with rop.handoff("qa", selected=missing) as handoff:
        retrieve("a", packed=("a",))
    assert handoff.assessment.verdict is rop.Verdict.SELECTOR_ERROR


def test_handoff_without_a_selection_has_none_to_lose(watched: Watched) -> None:
    """Where no selection was due, nothing had to reach the reader."""
    with rop.handoff("qa") as handoff:
        retrieve("a", packed=("a",))
    assert (handoff.assessment.verdict, handoff.assessment.mode) == (rop.Verdict.NOT_APPLICABLE, "open")


@pytest.mark.parametrize("selected", ["7", 7, {"id": 7}, Hit("7"), ["7", 8], ("7",)])
def test_selected_object_may_be_an_id_or_carry_one(selected: object, watched: Watched) -> None:
    """IDs are compared as strings, so an integer or an object with one selects the same document."""
    with rop.handoff("qa", selected=selected) as handoff:
        retrieve("7", packed=("7",))
    assert handoff.assessment.verdict is rop.Verdict.PASS


def test_application_that_raises_is_still_assessed(watched: Watched) -> None:
    """The application sees its own exception, the span has status ERROR, and there is an assessment."""
    error = ValueError("no answer")
    handoff = rop.handoff("qa", selected="a")

    def answer() -> None:
        with handoff:
            retrieve("a", packed=("a",))
            raise error

    with pytest.raises(ValueError, match="no answer") as caught:
        answer()
    assert caught.value is error
    assert handoff.assessment.verdict is rop.Verdict.PASS
    assert watched.spans[-1].status.status_code is StatusCode.ERROR
    assert [event.name for event in watched.spans[-1].events] == ["exception"]


def test_there_is_always_a_sentence(watch: Watch) -> None:
    """Open, off, elsewhere, over the limit, expired: an assessment is one sentence that says why it has no verdict."""
    watch()
    with rop.handoff("qa") as handoff:
        assert str(handoff.assessment) == "qa: not assessed, it is still open"
    watch(enabled=False)
    with rop.handoff("qa") as handoff:
        assert str(handoff.assessment) == "qa: not assessed, monitoring is off"
    assert str(handoff.close()) == "qa: not assessed, monitoring is off"
    watch(assess="monitor")
    with rop.handoff("qa") as handoff:
        pass
    assert str(handoff.assessment) == "qa: not assessed, the monitor assesses it"
    watched = watch(max_open=1)
    with rop.handoff("qa"), rop.handoff("inner") as handoff:
        pass
    assert str(handoff.assessment) == "inner: not assessed, too many handoffs were open"
    assert watched.heard.notices[Notice.REJECTED, ""] == 1
    watch(ttl_seconds=1e-9)
    with rop.handoff("qa") as handoff, rop.handoff("later"):
        pass
    assert str(handoff.assessment) == "qa: not assessed, it was open for more than 1e-09 s"


def test_handoff_that_streams_on_is_assessed_when_it_is_closed(watched: Watched) -> None:
    """A started handoff outlives its blocks, what is answered later belongs to it, and it is closed once."""
    handoff = rop.start_handoff("qa", selected="a")
    with handoff:
        retrieve("a", packed=("a",))
    with handoff:
        assert rop.current_handoff() is handoff
    assert rop.current_handoff() is not handoff
    handoff.answered("It waits [S1].", sources=["a"])
    assert watched.heard.assessments == []
    assert handoff.close() is handoff.close()
    assert handoff.assessment.verdict is rop.Verdict.PASS
    assert [stage.kind for stage in watched.stages()] == ["vector", "packing", "reader"]
    assert watched.names == ["vector", "packing", "reader", "handoff qa"]


def test_reader_is_a_child_of_the_handoff(watched: Watched) -> None:
    """The reader belongs to the handoff, whatever span or stage is current when it answers."""
    with rop.handoff("qa") as handoff, rop.using_stage("packing") as stage:
        stage.returned(["a"])
        handoff.answered("Yes.", sources=["a"])
    reader, _, span = watched.spans
    assert reader.parent is not None
    assert span.context is not None
    assert reader.parent.span_id == span.context.span_id
    assert watched.stage("reader").parent_id is None


def test_stage_that_outlives_its_handoff_is_late(watched: Watched) -> None:
    """A stage still running at the end is in the record without an end, and is a notice when it ends."""
    handoff = rop.start_handoff("qa")
    with handoff:
        stage = rop.using_stage("vector")
        stage.__enter__()
        handoff.close()
        stage.returned(["a"])
        stage.__exit__(None, None, None)
    (late,) = watched.stages()
    assert (late.kind, late.end_ns) == ("vector", None)
    assert [finding.code for finding in watched.assessment.findings] == ["stage_late"]
    assert watched.heard.notices[Notice.LATE, ""] == 1
    assert watched.attributes("vector")[semconv.RETURNED_IDS] == ("a",)


def test_nested_handoffs_keep_their_stages_apart(watched: Watched) -> None:
    """A stage belongs to the innermost handoff, and the outer one is current again after that."""
    with rop.handoff("outer") as outer:
        with rop.using_stage("agent") as agent, rop.handoff("inner"):
            retrieve("a", packed=("a",))
            agent.returned(["a"])
        assert rop.current_handoff() is outer
        retrieve("b", packed=("b",))
    assert [stage.returned for stage in watched.stages(0)] == [("a",), ("a",)]
    assert [stage.kind for stage in watched.stages(1)] == ["agent", "vector", "packing"]
    assert {stage.parent_id for stage in watched.stages(0)} == {None}


def test_rounds_are_numbered(watched: Watched) -> None:
    """Stages within a round carry its number, also through stages that enclose them; readers do too."""
    with rop.handoff("qa") as handoff:
        for number in (1, 2):
            with rop.using_round(number):
                retrieve("a", packed=("a",))
                handoff.answered("Yes.")
        retrieve("b", packed=("b",))
    assert [stage.round for stage in watched.stages()] == [1, 1, 1, 2, 2, 2, None, None]


def test_round_within_a_stage_keeps_its_parent(watched: Watched) -> None:
    """A stage in a round in a stage knows the stage that encloses both."""
    with rop.handoff("qa"), rop.using_stage("agent") as agent:
        with rop.using_round(1), rop.using_stage("vector") as stage:
            stage.returned(["a"])
        agent.returned(["a"])
    assert watched.stage("vector").parent_id == watched.stage("agent").span_id


def test_current_handoff_outside_of_any_does_nothing(watched: Watched) -> None:
    """A helper function may use the current handoff without asking whether there is one."""
    with rop.current_handoff() as handoff:
        handoff.select("a")
        handoff.answered("text", sources=[])
        handoff.running_stage.returned(["a"])
        handoff.running_stage.input(["a"])
        handoff.running_stage.query_form("title")
        handoff.running_stage.implementation("model")
        with handoff.running_stage:
            pass
    assert str(handoff.assessment) == "handoff: not assessed, no handoff is open here"
    assert watched.spans == []


def test_what_is_printed_of_handoffs_and_stages(watched: Watched) -> None:
    """A handoff or a stage that is printed says what it is, also where none is open."""
    assert repr(rop.current_handoff()) == "<NoopHandoff handoff: not assessed, no handoff is open here>"
    assert repr(rop.current_handoff().running_stage).startswith("<NoopStage: no stage is running here")
    with rop.handoff("qa", selected="a") as handoff, rop.using_stage("packing") as stage:
        assert repr(rop.current_handoff()) == "<Handoff qa: not assessed, it is still open>"
        assert repr(stage) == "<Stage packing>"
        stage.returned(["a"])
    assert repr(handoff) == "<Handoff qa: PASS, the selected object reached the reader at rank 1>"


def test_resolver_is_named_on_span_and_record(watch: Watch) -> None:
    """The hash of the resolver in force travels with the handoff."""
    resolver = Resolver({"doc": ["doc#0"]}, aliases={"doc": ["Doc"]})
    watched = watch(resolver=resolver)
    with rop.handoff("qa", selected="Doc") as handoff:
        retrieve("doc#0", packed=("doc#0",))
    assert handoff.assessment.verdict is rop.Verdict.PASS
    assert watched.attributes("handoff qa")[semconv.RESOLVER_SHA256] == resolver.sha256
    assert watched.heard.records[0].resolver_sha256 == resolver.sha256


def test_same_text_under_two_ids_is_two_documents(watch: Watch) -> None:
    """Selected A, and fusion kept its twin B: lost at fusion, unless the resolver says that both are one object."""

    def run() -> rop.Assessment:
        with rop.handoff("qa", selected="A") as handoff:
            with rop.using_stage("vector") as stage:
                stage.returned(["A", "B"])
            with rop.using_stage("fusion") as stage:
                stage.returned(["B"])
            with rop.using_stage("packing") as stage:
                stage.returned(["B"])
        return handoff.assessment

    watch()
    assert (run().verdict, run().dropped_at) == (rop.Verdict.FAIL, "fusion")
    watch(resolver=Resolver({"object": ["A", "B"]}))
    assert run().verdict is rop.Verdict.PASS


def test_declared_stage_that_nobody_observed_is_blamed(watched: Watched) -> None:
    """A declared reranker without a span, and the object gone after it: that is where it was lost."""
    with rop.handoff("qa", selected="a", expected=["vector", "rerank", "packing"]) as handoff:
        retrieve("a", "b", packed=("b",))
    assert (handoff.assessment.dropped_at, handoff.assessment.drop_cause) == ("rerank", "unobserved_stage")
    assert "stage_not_observed" in {finding.code for finding in handoff.assessment.findings}


def test_sixty_documents_are_whole(watched: Watched) -> None:
    """On a tracer provider with its default limits no ID is lost."""
    ids = [f"d{place}" for place in range(60)]
    with rop.handoff("qa", selected="d0") as handoff:
        retrieve(*ids, packed=tuple(ids))
    assert handoff.assessment.selected_rank == 1
    assert watched.attributes("vector")[semconv.RETURNED_IDS] == tuple(ids)


def test_list_beyond_the_limit_is_counted_on_span_and_record(watch: Watch) -> None:
    """What is cut is cut alike on the span and in the record, with the true length; so is what stands beside it."""
    watched = watch(max_ids=2)
    with rop.handoff("qa"), rop.using_stage("packing", input=["a", "b", "c"]) as stage:
        stage.returned(hits("a", "b", "c"), labels=["S1", "S2", "S3"], id_tokens=[1, 2, 3], scopes=["x", "y", "z"])
    packing = watched.stage("packing")
    assert (packing.returned, packing.returned_count) == (("a", "b"), 3)
    assert (packing.input, packing.input_count) == (("a", "b"), 3)
    assert (packing.labels, packing.id_tokens, packing.scopes) == (("S1", "S2"), (1, 2), ("x", "y"))
    attributes = watched.attributes("packing")
    assert attributes[semconv.RETURNED_IDS] == ("a", "b")
    assert (attributes[semconv.RETURNED_COUNT], attributes[semconv.INPUT_COUNT]) == (3, 3)
