"""Spans of other conventions, taken in while they run: what replay says of them later, the processor says at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits
from opentelemetry.trace import Span
from opentelemetry.util.types import AnyValue

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import ContextFinding, Notice, Verdict
from rop_otel.core.profile.hashing import hash_id
from rop_otel.replay.handoff_report import replay
from rop_otel.spans.conventions import Rules
from rop_otel.spans.sdk import from_sdk
from rop_otel.tracing.running import runtime
from tests.export.monitored import Monitored
from tests.spans.conventions.foreign import documents, flattened


@pytest.fixture
def monitored() -> Iterator[Monitored]:
    """A monitor that our own API works with too."""
    monitored = Monitored()
    before = runtime.install(monitored.runtime)
    yield monitored
    runtime.install(before)


def replayed(monitored: Monitored, config: Config | None = None) -> list[dict[str, Any]]:
    """Return the assessments of the same spans read later, by handoff ID."""
    spans = map(from_sdk, monitored.exporter.get_finished_spans())
    report = replay(spans, rules=Rules.of(config or Config()))
    return [each.as_dict() for each in sorted(report.assessments, key=lambda each: each.handoff_id)]


def assessed(monitored: Monitored) -> list[dict[str, Any]]:
    """Return the assessments at the time, by handoff ID."""
    return [each.as_dict() for each in sorted(monitored.heard.assessments, key=lambda each: each.handoff_id)]


@contextmanager
def marked(monitored: Monitored, kind: str, *ids: str | None, handed: str = "", late: bool = False) -> Iterator[Span]:
    """Run a span of OpenInference; with ``late`` its kind too is set at its end."""
    name = {"RETRIEVER": "retrieval.documents", "RERANKER": "reranker.output_documents"}.get(kind)
    mark: dict[str, AnyValue] = {"openinference.span.kind": kind}
    with monitored.tracer.start_as_current_span(kind.lower(), attributes=None if late else mark) as span:
        yield span
        found = mark | ({} if name is None else flattened(name, documents(*ids)))
        if handed:
            found |= flattened("reranker.input_documents", documents(*handed.split()))
        span.set_attributes(found)  # type: ignore[arg-type] # texts and numbers


def test_the_topmost_span_is_assessed_when_it_ends(monitored: Monitored) -> None:
    """A query of an application that knows nothing of us is a handoff, with its verdict beside it."""
    with monitored.tracer.start_as_current_span("query", attributes={semconv.SELECTED_IDS: ["b"]}):
        with marked(monitored, "CHAIN"):
            with marked(monitored, "RETRIEVER", "a", "b", "c"), marked(monitored, "RETRIEVER"):
                pass
            with marked(monitored, "RERANKER", "c", handed="a b c", late=True):
                pass
        assert monitored.heard.assessments == []
    assessment = monitored.assessment
    assert (assessment.handoff_name, assessment.verdict, assessment.dropped_at) == ("query", Verdict.FAIL, "rerank")
    assert [each.stage for each in assessment.stages] == ["retriever", "rerank"]
    [verdict] = monitored.spans(semconv.SPAN_ASSESSMENT)
    assert verdict.attributes is not None
    assert verdict.attributes[semconv.DROPPED_AT] == "rerank"
    assert replayed(monitored) == assessed(monitored)
    assert len(monitored.open_spans) == 0


def test_an_ordinary_trace_is_none_of_ours(monitored: Monitored) -> None:
    """Without retrieval no span is a handoff, and nothing is kept."""
    with monitored.tracer.start_as_current_span("GET /"), marked(monitored, "CHAIN"):
        pass
    assert (monitored.heard.assessments, len(monitored.open_spans)) == ([], 0)


def test_a_lone_retriever(monitored: Monitored) -> None:
    """A retriever without a span above it is a handoff of its own."""
    with marked(monitored, "RETRIEVER", "a"), marked(monitored, "RETRIEVER", "a"):
        pass
    assert [each.stage for each in monitored.assessment.stages] == ["retriever"]
    assert replayed(monitored) == assessed(monitored)


def test_foreign_stages_join_our_handoff(monitored: Monitored) -> None:
    """Below a handoff of our API, foreign stages are its stages, and no other handoff comes of them."""
    with monitored.tracer.start_as_current_span("GET /"), rop.handoff("qa", selected="b") as handoff:
        with marked(monitored, "CHAIN"), marked(monitored, "RETRIEVER", "a", "b"):
            pass
        with marked(monitored, "RERANKER", "a", handed="a b"):
            pass
    assert (handoff.assessment.dropped_at, handoff.assessment.drop_cause) == ("rerank", "reranked_away")
    assert replayed(monitored) == assessed(monitored)


def test_two_instrumentations_count_once(monitored: Monitored) -> None:
    """A retriever and a reranker that both ours and OpenInference's watch count once each, as ours."""
    with rop.handoff("qa", selected="b") as handoff:
        with rop.using_stage("vector") as stage, marked(monitored, "RETRIEVER", None, None):
            stage.returned(["a", "b"])
        with marked(monitored, "RERANKER", "b", handed="a b"), rop.using_stage("rerank", input=["a", "b"]) as stage:
            stage.returned(["b"])
    assert [(each.stage, each.name) for each in handoff.assessment.stages] == [("vector", None), ("rerank", None)]
    assert handoff.assessment.findings == ()
    assert replayed(monitored) == assessed(monitored)


def test_beside_our_handoff_nothing_is_guessed(monitored: Monitored) -> None:
    """Where the application opens handoffs itself, the span above them is not made one."""
    with monitored.tracer.start_as_current_span("GET /"):
        with marked(monitored, "RETRIEVER", "a"):
            pass
        with rop.handoff("qa"), rop.using_stage("vector") as stage:
            stage.returned(["a"])
    assert monitored.assessment.handoff_name == "qa"
    assert replayed(monitored) == assessed(monitored)


def test_a_late_stage(monitored: Monitored) -> None:
    """A foreign stage that goes on after its handoff is late, in either door."""
    with monitored.tracer.start_as_current_span("query"), marked(monitored, "RETRIEVER", "a"):
        slow = monitored.tracer.start_span("slow", attributes={"openinference.span.kind": "RETRIEVER"})
    slow.end()
    assert [finding.code for finding in monitored.assessment.findings] == [ContextFinding.STAGE_LATE]
    assert monitored.heard.notices == {(Notice.LATE, ""): 1}
    assert replayed(monitored) == assessed(monitored)


def test_a_query_that_ends_before_its_only_retriever(monitored: Monitored) -> None:
    """It is a handoff all the same, whose stage is late, in either door."""
    with monitored.tracer.start_as_current_span("query"):
        slow = monitored.tracer.start_span("slow", attributes={"openinference.span.kind": "RETRIEVER"})
    slow.end()
    assert monitored.assessment.handoff_name == "query"
    assert [finding.code for finding in monitored.assessment.findings] == [ContextFinding.STAGE_LATE]
    assert replayed(monitored) == assessed(monitored)


def test_a_handoff_that_goes_on_after_the_topmost_span(monitored: Monitored) -> None:
    """Where an application tells which its handoffs are, the topmost span is none, though it ends before them."""
    with monitored.tracer.start_as_current_span("job"):
        with marked(monitored, "RETRIEVER", "a"):
            pass
        query = monitored.tracer.start_span("query", attributes={semconv.HANDOFF_NAME: "qa"})
    query.end()
    assert monitored.assessment.handoff_name == "qa"
    assert replayed(monitored) == assessed(monitored)


def test_a_stage_set_by_hand_as_the_topmost_span(monitored: Monitored) -> None:
    """It is a stage and the handoff, as a retriever of another convention is, in either door."""
    by_hand: dict[str, AnyValue] = {semconv.STAGE: "packing", semconv.RETURNED_IDS: ["b"]}
    with monitored.tracer.start_as_current_span("pipeline", attributes=by_hand), marked(monitored, "RETRIEVER", "a"):
        pass
    assert monitored.assessment.handoff_name == "pipeline"
    assert sorted(each.stage for each in monitored.assessment.stages) == ["packing", "retriever"]
    assert replayed(monitored) == assessed(monitored)


def test_texts_are_not_kept(monitored: Monitored) -> None:
    """What waits for its handoff is the IDs, not the texts of the documents."""
    with monitored.tracer.start_as_current_span("query") as query:
        trace_id = query.get_span_context().trace_id
        for number in range(3):
            with marked(monitored, "RETRIEVER", f"d{number}") as span:
                span.set_attribute("retrieval.documents.0.document.content", f"a text of {number}")
        monitored.exporter.clear()
        del span
        gc.collect()
        spans = [each for each in gc.get_objects() if issubclass(type(each), ReadableSpan)]
        assert [each.name for each in spans if each.context and each.context.trace_id == trace_id] == ["query"]
    assert [each.returned for each in monitored.assessment.stages] == [1, 1, 1]


def test_sixty_documents_beyond_the_limits_of_a_span() -> None:
    """Where a limit evicted the first documents, the verdict is UNVERIFIABLE, never FAIL."""
    monitored = Monitored(limits=SpanLimits())
    found = [f"d{place}" for place in range(60)]
    given: dict[str, AnyValue] = {semconv.SELECTED_IDS: ["d0"], semconv.CUTOFF: 5}
    with (
        monitored.tracer.start_as_current_span("query", attributes=given),
        marked(monitored, "RETRIEVER", *found),
    ):
        pass
    assert monitored.assessment.verdict is Verdict.UNVERIFIABLE
    assert replayed(monitored) == assessed(monitored)


def test_what_the_settings_say(monitored: Monitored) -> None:
    """Kinds by name, the handoff by name, IDs from metadata and the selection's attribute, as configured."""
    config = Config.resolve(
        foreign_stages={"retr*": "vector"},
        foreign_handoffs=["chain"],
        id_keys="key",
        foreign_selected="app.chosen",
        environ={},
    )
    monitored.active = runtime.Runtime(config, tracer=monitored.runtime.tracer, sinks=(monitored.heard,))
    with monitored.tracer.start_as_current_span("GET /"), marked(monitored, "CHAIN") as top:
        top.set_attribute("app.chosen", "k2")
        with marked(monitored, "CHAIN"), marked(monitored, "RETRIEVER", "a", "b") as span:
            given = {f"retrieval.documents.{place}.document.metadata": f'{{"key": "k{place}"}}' for place in (0, 1)}
            span.set_attributes(given | {"retrieval.documents.2.document.id": "k2"})
    assessment = monitored.assessment
    assert (assessment.handoff_name, assessment.verdict, assessment.selected_rank) == ("chain", Verdict.PASS, 3)
    assert ([each.stage for each in assessment.stages], assessment.shown.ids) == (["vector"], ("k0", "k1", "k2"))
    assert replayed(monitored, config) == assessed(monitored)


def test_ids_are_hashed_like_our_own(monitored: Monitored) -> None:
    """With a key, IDs of foreign spans are compared as hashes, at both doors."""
    config = Config(hash_key=b"key")
    monitored.active = runtime.Runtime(config, tracer=monitored.runtime.tracer, sinks=(monitored.heard,))
    runtime.install(monitored.active)
    with rop.handoff("qa", selected="b") as handoff, marked(monitored, "RETRIEVER", "a", "b"):
        pass
    assert (handoff.assessment.verdict, handoff.assessment.selected_rank) == (Verdict.PASS, 2)
    assert "b" not in handoff.assessment.shown.ids
    assert replayed(monitored, config) == assessed(monitored)


def test_ids_set_by_hand_are_hashed_like_our_own(monitored: Monitored) -> None:
    """With a key, attributes of ours that others set are compared, reported and logged as hashes, at both doors."""
    config = Config(hash_key=b"key")
    monitored.active = runtime.Runtime(config, tracer=monitored.runtime.tracer, sinks=(monitored.heard,))
    runtime.install(monitored.active)
    start = monitored.tracer.start_as_current_span
    said: dict[str, AnyValue] = {semconv.STAGE: "vector", semconv.RETURNED_IDS: ["a", "b", "b"]}
    with rop.handoff("ours", selected="b") as handoff, start("search", attributes=said):
        pass
    theirs: dict[str, AnyValue] = {
        semconv.HANDOFF_NAME: "theirs",
        semconv.SELECTED_IDS: ["c"],
        semconv.JUDGED_IDS: ["b"],
    }
    with start("chain", attributes=theirs), start("search", attributes=said):
        pass
    assert (handoff.assessment.verdict, handoff.assessment.selected_rank) == (Verdict.PASS, 2)
    other = monitored.heard.assessments[1]
    assert (other.verdict, other.stages[0].judged["rr"]) == (Verdict.FAIL, 0.5)
    assert [finding.ids for finding in other.findings] == [(hash_id(b"key", "b"),)]
    assert monitored.heard.records[1].selected == (hash_id(b"key", "c"),)
    assert replayed(monitored, config) == assessed(monitored)


def test_our_own_stage_in_a_foreign_handoff_is_hashed_once(monitored: Monitored) -> None:
    """What our decorators recorded is hashed already, and meets the selection that others set."""
    config = Config(hash_key=b"key")
    monitored.active = runtime.Runtime(config, tracer=monitored.runtime.tracer, sinks=(monitored.heard,))
    runtime.install(monitored.active)
    theirs: dict[str, AnyValue] = {semconv.HANDOFF_NAME: "theirs", semconv.SELECTED_IDS: ["b"]}
    with monitored.tracer.start_as_current_span("chain", attributes=theirs), rop.using_stage("vector") as stage:
        stage.returned(["a", "b"])
    assert (monitored.assessment.verdict, monitored.assessment.selected_rank) == (Verdict.PASS, 2)
    assert replayed(monitored, config) == assessed(monitored)


def test_text_of_others_is_unreadable(monitored: Monitored) -> None:
    """Passages as IDs are not taken over from a span while it is made; recorded spans are read as they are."""
    said: dict[str, AnyValue] = {semconv.STAGE: "vector", semconv.RETURNED_IDS: ["a", "b\nc"]}
    with rop.handoff("ours", selected="a") as handoff, monitored.tracer.start_as_current_span("x", attributes=said):
        pass
    assert handoff.assessment.verdict is Verdict.UNVERIFIABLE
    spans = map(from_sdk, monitored.exporter.get_finished_spans())
    [later] = replay(spans, rules=Rules.of_environment({})).assessments
    assert later.verdict is Verdict.PASS


IDS = st.lists(st.sampled_from(["a", "b", "c", None]), max_size=3)
KINDS = st.sampled_from(
    ["CHAIN", "RETRIEVER", "RETRIEVER", "RERANKER", "LLM", "vector", "fusion", "pipeline", "handoff", "by hand"]
)
TREES: st.SearchStrategy[Any] = st.recursive(
    st.tuples(KINDS, IDS, st.booleans(), st.just([])),
    lambda inner: st.tuples(KINDS, IDS, st.booleans(), st.lists(inner, max_size=3)),
    max_leaves=8,
)


def one_span(monitored: Monitored, kind: str, ids: list[str | None], late: bool) -> AbstractContextManager[Any]:
    """Return a span of somebody else's or, by its kind, a stage or a handoff of ours."""
    if kind.isupper():
        return marked(monitored, kind, *ids, handed="a b c" if late else "", late=late)
    if kind == "handoff":
        return rop.handoff("qa", selected="b")
    if kind == "by hand":
        stage: dict[str, AnyValue] = {semconv.STAGE: "packing", semconv.RETURNED_IDS: [each or "" for each in ids]}
        return monitored.tracer.start_as_current_span(kind, attributes=stage)
    return told(kind, ids)


@contextmanager
def told(kind: str, ids: list[str | None]) -> Iterator[None]:
    """Run a stage of ours."""
    with rop.using_stage(kind) as stage:
        yield
        stage.returned(ids)


def run(monitored: Monitored, tree: tuple[str, list[str | None], bool, list[Any]]) -> None:
    """Run a span and what is below it."""
    kind, ids, late, below = tree
    with one_span(monitored, kind, ids, late):
        for each in below:
            run(monitored, each)


@pytest.mark.filterwarnings("ignore")
@given(st.lists(TREES, min_size=1, max_size=2), st.sampled_from([Config(), Config(foreign_handoffs=("chain",))]))
def test_live_is_replay(trees: list[Any], config: Config) -> None:
    """Whatever spans of ours and of others lie within one another, both doors come to the same assessments."""
    monitored = Monitored()
    monitored.active = runtime.Runtime(config, tracer=monitored.runtime.tracer, sinks=(monitored.heard,))
    before = runtime.install(monitored.active)
    try:
        for tree in trees:
            run(monitored, tree)
    finally:
        runtime.install(before)
    assert replayed(monitored, config) == assessed(monitored)
    assert len(monitored.open_spans) == 0
