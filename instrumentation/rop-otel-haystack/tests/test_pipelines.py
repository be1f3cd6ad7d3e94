"""Pipelines of which every component is watched."""

from __future__ import annotations

from typing import Any

import pytest
from haystack import Document, SuperComponent, component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder, PromptBuilder
from haystack.components.joiners import BranchJoiner, DocumentJoiner
from haystack.components.rankers import MetaFieldRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage

import rop_otel as rop


def kinds(assessment: rop.Assessment) -> list[tuple[str, str | None]]:
    """Return kind and name of the stages, in order, without the reader."""
    return [(stage.stage, stage.name) for stage in assessment.stages if stage.stage != "reader"]


def test_every_component_that_handles_documents_is_a_stage(selecting: Any, parts: Any) -> None:
    """Retrievers, joiner, ranker, a component of one's own and the prompt are stages, named as in the pipeline."""
    watch = selecting("timeouts")
    parts.build().run(parts.question())
    assert kinds(watch.only) == [
        ("lexical", "bm25"),
        ("vector", "embeddings"),
        ("fusion", "join"),
        ("reorder", "middle"),
        ("Cut", "cut"),
        ("packing", "prompt"),
    ]
    assert str(watch.only) == "Pipeline: PASS, the selected object reached the reader at rank 1"


def test_what_a_cut_after_the_reorder_loses_is_named(selecting: Any, parts: Any) -> None:
    """The second best document stands last after the reorder, and a cut of the list's head loses it."""
    watch = selecting("queues")
    parts.build(keep=3).run(parts.question())
    assert str(watch.only) == "Pipeline: FAIL, the selected object was lost at Cut: the stage dropped it"


def test_the_pipelines_metadata_names_the_handoff(selecting: Any, parts: Any) -> None:
    """A pipeline has no name of its own; its metadata may hold one."""
    watch = selecting("timeouts")
    parts.build(metadata={"name": "docs-qa"}).run(parts.question())
    assert watch.only.handoff_name == "docs-qa"


def test_an_open_handoff_is_the_one(selecting: Any, parts: Any) -> None:
    """A handoff of the application's own takes in the stages of the pipelines that run in it."""
    watch = selecting("timeouts")
    with rop.handoff("mine", selected="locks") as handoff:
        parts.build().run(parts.question())
    assert watch.only is handoff.assessment
    assert str(handoff.assessment).startswith("mine: FAIL, the selected object was lost at Cut")


def test_the_answer_of_an_open_handoff_is_the_applications_to_tell(selecting: Any, parts: Any) -> None:
    """In a handoff of the application's own the answer builder tells nothing, so that no answer counts twice."""
    selecting("timeouts")
    with rop.handoff("mine", selected="timeouts") as handoff:
        parts.build(reply="As in [7].").run(parts.question())
        handoff.answered("As in [1].", citations=["1"])
    assert handoff.assessment.citations.unresolved == 0
    assert handoff.assessment.findings == ()


def test_scores_that_a_ranker_left_as_they_were_are_not_its_own(selecting: Any, parts: Any) -> None:
    """A ranker that sets no scores has none, and a cut of its last documents is no cut of the best one."""

    @component
    class ReverseRanker:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"documents": documents[::-1]}

    watch = selecting("timeouts")
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=4))
    pipeline.add_component("reverse", ReverseRanker())
    pipeline.add_component("cut", parts.Cut(2))
    pipeline.connect("bm25", "reverse")
    pipeline.connect("reverse", "cut")
    pipeline.run({"bm25": {"query": parts.QUERY}})
    assert str(watch.only) == "Pipeline: FAIL, the selected object was lost at Cut: the stage dropped it"
    assert watch.only.findings == ()


def test_the_best_scored_document_that_a_cut_drops_is_a_finding(selecting: Any, parts: Any) -> None:
    """Scores by which a list is sorted are its own, and a cut that drops the best is told."""

    @component
    class Tail:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"documents": documents[1:]}

    watch = selecting("timeouts")
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=4))
    pipeline.add_component("tail", Tail())
    pipeline.connect("bm25", "tail")
    pipeline.run({"bm25": {"query": parts.QUERY}})
    assert [finding.code.value for finding in watch.only.findings] == ["top_ranked_cut"]


def test_citations_are_read_with_the_builders_own_pattern(selecting: Any, parts: Any) -> None:
    """A reference to a document that was not shown is a finding; one to a document that was is none."""
    watch = selecting("timeouts")
    parts.build(reply="As in [1] and [7].").run(parts.question())
    assert [(finding.code.value, finding.labels) for finding in watch.only.findings] == [
        ("citation_unresolved", ("7",))
    ]


def test_an_answer_whose_documents_are_in_another_order_is_found(selecting: Any, parts: Any) -> None:
    """Where the answer's documents are not those of the prompt, a reference leads to another document."""
    watch = selecting("timeouts")
    parts.build(reply="As in [2].", attached="join").run(parts.question())
    (finding,) = watch.only.findings
    assert finding.code.value == "label_misattributed"
    assert "2" in finding.labels


def test_without_a_pattern_nothing_is_said_of_labels(selecting: Any, parts: Any) -> None:
    """An answer whose references nobody parses has none, whatever stands in its text."""
    watch = selecting("timeouts")
    parts.build(reply="As in [7].", pattern=None).run(parts.question())
    assert watch.only.findings == ()


def test_an_answer_with_fewer_documents_leaves_no_label_unattached(selecting: Any, parts: Any) -> None:
    """Where nobody parses references, the places in the prompt are no labels that an answer could miss."""
    watch = selecting("timeouts")
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=2))
    pipeline.add_component("prompt", PromptBuilder(parts.TEMPLATE, required_variables=["documents", "query"]))
    pipeline.add_component("reply", parts.Reply("Fine."))
    pipeline.add_component("answer", AnswerBuilder())
    pipeline.add_component("cut", parts.Cut(1))
    pipeline.connect("bm25.documents", "prompt.documents")
    pipeline.connect("prompt", "reply")
    pipeline.connect("reply.replies", "answer.replies")
    pipeline.connect("bm25.documents", "cut.documents")
    pipeline.connect("cut.documents", "answer.documents")
    pipeline.run({"bm25": {"query": parts.QUERY}, "prompt": {"query": "?"}, "answer": {"query": "?"}})
    assert watch.only.findings == ()


def test_a_prompt_in_a_super_component_is_labelled_for_the_answer_outside(selecting: Any, parts: Any) -> None:
    """The answer's pattern counts for a prompt that a super component builds."""
    watch = selecting("timeouts")
    inner = parts.Pipeline()
    inner.add_component("prompt", PromptBuilder("{{ documents }}", required_variables=["documents"]))
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=2))
    pipeline.add_component("write", SuperComponent(inner, input_mapping={"documents": ["prompt.documents"]}))
    pipeline.add_component("reply", parts.Reply("See [2]."))
    pipeline.add_component("answer", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    pipeline.connect("bm25.documents", "write.documents")
    pipeline.connect("write.prompt", "reply.prompt")
    pipeline.connect("reply.replies", "answer.replies")
    pipeline.connect("bm25.documents", "answer.documents")
    pipeline.run({"bm25": {"query": parts.QUERY}, "answer": {"query": "?"}})
    assert watch.only.citations.resolved == 1
    assert watch.only.findings == ()


def test_a_prompt_in_a_super_component_in_a_loop_is_labelled_too(selecting: Any, parts: Any) -> None:
    """What runs in the rounds of a super component belongs to the run around it."""

    @component
    class Once:
        @component.output_types(again=str, replies=list[str])
        def run(self, prompt: str) -> dict[str, Any]:
            return {"replies": ["See [2]."]}

    watch = selecting("timeouts")
    inner = parts.Pipeline()
    inner.add_component("prompt", PromptBuilder("{{ documents }}{{ again }}", required_variables=["documents"]))
    places = {"documents": ["prompt.documents"], "again": ["prompt.again"]}
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=2))
    pipeline.add_component("write", SuperComponent(inner, input_mapping=places))
    pipeline.add_component("reply", Once())
    pipeline.add_component("answer", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    pipeline.connect("bm25.documents", "write.documents")
    pipeline.connect("bm25.documents", "answer.documents")
    pipeline.connect("write.prompt", "reply.prompt")
    pipeline.connect("reply.again", "write.again")
    pipeline.connect("reply.replies", "answer.replies")
    pipeline.run({"bm25": {"query": parts.QUERY}, "answer": {"query": "?"}})
    assert watch.only.citations.resolved == 1


def test_a_pattern_may_come_with_the_question(selecting: Any, parts: Any) -> None:
    """A pattern among the inputs counts as one of the builder."""
    watch = selecting("timeouts")
    inputs = parts.question()
    inputs["answer"]["reference_pattern"] = r"\[(\d+)\]"
    parts.build(reply="As in [7].", pattern=None).run(inputs)
    assert [finding.labels for finding in watch.only.findings] == [("7",)]


def test_replies_that_are_messages_are_read(selecting: Any, parts: Any) -> None:
    """A chat model's replies and prompts count like plain ones."""

    @component
    class Chat:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": [ChatMessage.from_assistant("See [4].")]}

    watch = selecting("timeouts")
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=2))
    template = [ChatMessage.from_user(parts.TEMPLATE)]
    pipeline.add_component("prompt", ChatPromptBuilder(template, required_variables=["documents", "query"]))
    pipeline.add_component("chat", Chat())
    pipeline.add_component("answer", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    pipeline.connect("bm25.documents", "prompt.documents")
    pipeline.connect("prompt", "chat")
    pipeline.connect("chat", "answer")
    pipeline.connect("bm25", "answer.documents")
    pipeline.run({"bm25": {"query": parts.QUERY}, "prompt": {"query": "?"}, "answer": {"query": "?"}})
    assert kinds(watch.only) == [("lexical", "bm25"), ("packing", "prompt")]
    assert [finding.labels for finding in watch.only.findings] == [("4",)]


def test_a_prompt_without_documents_is_no_stage(selecting: Any, parts: Any) -> None:
    """A prompt that has a question rewritten shows no documents and packs none."""
    watch = selecting("timeouts")
    pipeline = parts.Pipeline()
    pipeline.add_component("rewrite", PromptBuilder("Rewrite: {{ query }}", required_variables=["query"]))
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes()))
    pipeline.connect("rewrite.prompt", "bm25.query")
    pipeline.run({"rewrite": {"query": parts.QUERY}})
    assert kinds(watch.only) == [("lexical", "bm25")]


def test_an_arm_with_a_ranker_of_its_own_feeds_the_joiner(selecting: Any, parts: Any) -> None:
    """The pipeline's connections say what feeds a stage, not the order in which components happen to run."""
    watch = selecting("queues")
    pipeline = parts.Pipeline()
    pipeline.add_component("arm_one", InMemoryBM25Retriever(parts.notes(), top_k=3))
    pipeline.add_component("cut", parts.Cut(1))
    pipeline.add_component("arm_two", InMemoryBM25Retriever(parts.notes(), top_k=1))
    pipeline.add_component("join", DocumentJoiner(top_k=1))
    pipeline.connect("arm_one", "cut")
    pipeline.connect("cut", "join")
    pipeline.connect("arm_two", "join")
    pipeline.run({"arm_one": {"query": "shield protects timeout"}, "arm_two": {"query": "queue"}})
    assert str(watch.only) == "Pipeline: FAIL, the selected object was lost at fusion: fusion left it out"


def test_super_components_are_seen_through(selecting: Any, parts: Any) -> None:
    """What a super component wraps is watched, and the super component is no stage beside it."""
    watch = selecting("timeouts")
    inner = parts.Pipeline()
    inner.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=4))
    inner.add_component("cut", parts.Cut(2))
    inner.connect("bm25", "cut")
    pipeline = parts.Pipeline()
    pipeline.add_component("search", SuperComponent(inner, input_mapping={"query": ["bm25.query"]}))
    pipeline.add_component("prompt", PromptBuilder(parts.TEMPLATE, required_variables=["documents", "query"]))
    pipeline.connect("search.documents", "prompt.documents")
    pipeline.run({"search": {"query": parts.QUERY}, "prompt": {"query": parts.QUERY}})
    assert kinds(watch.only) == [("lexical", "bm25"), ("Cut", "cut"), ("packing", "prompt")]


def test_a_pipeline_that_does_not_retrieve_is_no_handoff(selecting: Any, parts: Any) -> None:
    """Indexing, or a pipeline that only ranks, is nobody's trip from a question to a reader."""
    watch = selecting("timeouts")
    pipeline = parts.Pipeline()
    pipeline.add_component("rank", MetaFieldRanker(meta_field="stars"))
    pipeline.run({"rank": {"documents": [Document(id="a", content="a", meta={"stars": 1})]}})
    assert watch.all == []
    assert watch.spans == []


def test_a_pipeline_in_two_parts_is_one_handoff(selecting: Any, parts: Any) -> None:
    """A pipeline that only ranks counts within an open handoff."""
    watch = selecting("queues")
    search, rank = parts.Pipeline(), parts.Pipeline()
    search.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=6))
    rank.add_component("rank", MetaFieldRanker(meta_field="stars", top_k=1))
    with rop.handoff("both"):
        found = search.run({"bm25": {"query": parts.QUERY}})["bm25"]["documents"]
        for place, document in enumerate(found):
            document.meta["stars"] = -place
        rank.run({"rank": {"documents": found}})
    assert str(watch.only) == "both: FAIL, the selected object was lost at rerank: the reranker put it too low"


def test_rounds_of_a_loop_that_retrieves(selecting: Any, parts: Any) -> None:
    """A pipeline that goes back to its retriever has a round for each pass."""
    watch = selecting("locks")

    @component
    class Judge:
        def __init__(self) -> None:
            self.seen = 0

        @component.output_types(again=str, done=str)
        def run(self, prompt: str) -> dict[str, Any]:
            self.seen += 1
            return {"again": "one lock at a time"} if self.seen == 1 else {"done": prompt}

    pipeline = parts.Pipeline()
    pipeline.add_component("queries", BranchJoiner(str))
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=1))
    pipeline.add_component("prompt", PromptBuilder("{{ documents }}", required_variables=["documents"]))
    pipeline.add_component("judge", Judge())
    for sender, receiver in (
        ("queries", "bm25.query"),
        ("bm25.documents", "prompt.documents"),
        ("prompt", "judge"),
        ("judge.again", "queries"),
    ):
        pipeline.connect(sender, receiver)
    pipeline.run({"queries": {"value": "timeout"}})
    assert [(stage.stage, stage.round) for stage in watch.only.stages] == [
        ("lexical", 1),
        ("packing", 1),
        ("lexical", 2),
        ("packing", 2),
    ]
    assert str(watch.only) == "Pipeline: PASS, the selected object reached the reader at rank 2"


def test_a_loop_that_mends_the_answer_shows_its_documents_once(selecting: Any, parts: Any) -> None:
    """A prompt that is built again from the same documents is a round and does not double the shown list."""
    watch = selecting("timeouts")

    @component
    class Mend:
        def __init__(self) -> None:
            self.seen = 0

        @component.output_types(invalid=str, replies=list[str])
        def run(self, prompt: str) -> dict[str, Any]:
            self.seen += 1
            return {"invalid": "no JSON"} if self.seen == 1 else {"replies": ["fine [1]"]}

    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=2))
    template = "{% for document in documents %}{{ document.content }}{% endfor %}{{ invalid }}"
    pipeline.add_component("prompt", PromptBuilder(template, required_variables=["documents"]))
    pipeline.add_component("mend", Mend())
    pipeline.add_component("answer", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    pipeline.connect("bm25.documents", "prompt.documents")
    pipeline.connect("prompt", "mend")
    pipeline.connect("mend.invalid", "prompt.invalid")
    pipeline.connect("mend.replies", "answer.replies")
    pipeline.connect("bm25.documents", "answer.documents")
    pipeline.run({"bm25": {"query": parts.QUERY}, "answer": {"query": parts.QUERY}})
    assert watch.only.verdict is rop.Verdict.PASS
    assert watch.only.findings == ()
    assert len(watch.only.shown.ids) == 2


def test_documents_that_pass_a_router_keep_their_stages_apart(selecting: Any, parts: Any) -> None:
    """A router hands documents on, so that what it stands between stays connected."""
    watch = selecting("timeouts")
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=3))
    routes = [
        {
            "condition": "{{ documents|length > 0 }}",
            "output": "{{ documents }}",
            "output_name": "found",
            "output_type": list[Document],
        },
        {
            "condition": "{{ documents|length == 0 }}",
            "output": "nothing",
            "output_name": "nothing",
            "output_type": str,
        },
    ]
    pipeline.add_component("route", ConditionalRouter(routes, unsafe=True))
    pipeline.add_component("cut", parts.Cut(2))
    pipeline.connect("bm25", "route.documents")
    pipeline.connect("route.found", "cut.documents")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *args, **kwargs: None)  # of unsafe templates, on some versions
        pipeline.run({"bm25": {"query": parts.QUERY}})
    assert watch.only.verdict is rop.Verdict.PASS
    assert watch.only.findings == ()
