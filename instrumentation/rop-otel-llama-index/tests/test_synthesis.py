"""What is seen of response synthesizers: what reached a prompt, and what the response attaches and cites."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import QueryBundle, Settings, get_response_synthesizer
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import CompletionResponse, CustomLLM
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer, ResponseMode
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index_parts import BM25Retriever, Found, Model, Watch, engine

import rop_otel as rop
from rop_otel.core.handoff import StageRecord

MODES = [
    ResponseMode.ACCUMULATE,
    ResponseMode.COMPACT,
    ResponseMode.COMPACT_ACCUMULATE,
    ResponseMode.REFINE,
    ResponseMode.SIMPLE_SUMMARIZE,
    ResponseMode.TREE_SUMMARIZE,
]
LONG = [" ".join(f"{word}{place}" for place in range(150)) for word in ("alpha", "beta", "gamma")]


class Silent(Model):
    """A model whose calls LlamaIndex is not told of."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer."""
        return CompletionResponse(text=self.answer)


class Plain(BaseSynthesizer):
    """A synthesizer of the application's own, without a model."""

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return None

    def get_response(self, query_str: str, text_chunks: Any, **kwargs: Any) -> str:
        """Answer."""
        return str(text_chunks[0])

    async def aget_response(self, query_str: str, text_chunks: Any, **kwargs: Any) -> str:
        """Answer."""
        return str(text_chunks[0])


def passages(*texts: str, start: int = 1) -> list[NodeWithScore]:
    """Return nodes ``p1``, ``p2``, … with these texts."""
    return [
        NodeWithScore(node=TextNode(id_=f"p{place}", text=each), score=1 / place)
        for place, each in enumerate(texts, start)
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("awaited", [False, True])
async def test_what_a_prompt_holds_is_packed(watch: Watch, mode: ResponseMode, awaited: bool) -> None:
    """Nodes whose text stands in a prompt were shown, however the texts are put together."""
    watch(selected_by=lambda question: "n2")
    built = engine(BM25Retriever("n1", "n2"), response_mode=mode)
    response = await built.aquery("?") if awaited else built.query("?")
    assert "See [1]." in str(response)
    assert watch.kinds() == ["lexical", "packing"]
    assert (watch.stages[-1].input, watch.stages[-1].returned) == (("n1", "n2"), ("n1", "n2"))
    assert watch.reader.returned == ("n1", "n2")
    assert watch.only.verdict == "PASS"


@pytest.mark.parametrize("llm", [Model, Silent])
def test_what_is_cut_from_the_prompt_was_not_shown(watch: Watch, llm: type[CustomLLM]) -> None:
    """A synthesizer that truncates shows what is left: a node that is cut away is lost at packing."""
    watch(selected_by=lambda question: "p3")
    helper = PromptHelper(context_window=500, num_output=16, chunk_overlap_ratio=0.0)
    made = get_response_synthesizer(llm=llm(), response_mode=ResponseMode.SIMPLE_SUMMARIZE, prompt_helper=helper)
    engine(Found(found=passages(*LONG)), response_synthesizer=made).query("?")
    assert watch.stages[-1].returned == ("p1", "p2")
    assert (watch.only.dropped_at, watch.only.drop_cause) == ("packing", "over_budget")


@pytest.mark.parametrize("mode", MODES)
def test_a_text_of_several_lines_is_found(watch: Watch, mode: ResponseMode) -> None:
    """A text with lines, quotes and backslashes is found in a prompt that holds it, or the representation of it."""
    watch(selected_by=lambda question: "p1")
    lines = 'It\'s the "first" line,\n\n\tthen `a\\nb`\nand the last.'
    engine(Found(found=passages(lines, "beta")), response_mode=mode).query("?")
    assert watch.stages[-1].returned == ("p1", "p2")


def test_what_is_cut_in_the_middle_was_shown(watch: Watch) -> None:
    """A node of which the prompt holds the beginning counts as shown."""
    watch(selected_by=lambda question: "p3")
    helper = PromptHelper(context_window=700, num_output=16, chunk_overlap_ratio=0.0)
    made = get_response_synthesizer(llm=Model(), response_mode=ResponseMode.SIMPLE_SUMMARIZE, prompt_helper=helper)
    engine(Found(found=passages(*LONG)), response_synthesizer=made).query("?")
    assert watch.only.verdict == "PASS"


def packed(watch: Watch, nodes: list[NodeWithScore], prompt: str) -> StageRecord:
    """Return what is recorded of nodes where a model is asked with a prompt."""

    class Asking(Plain):
        def get_response(self, query_str: str, text_chunks: Any, **kwargs: Any) -> str:
            return str(Model().complete(prompt))

    watch.records.clear()
    engine(Found(found=nodes), response_synthesizer=Asking(llm=Model())).query("?")
    return watch.stages[-1]


def test_a_neighbour_that_overlaps_shows_nothing_of_the_next(watch: Watch) -> None:
    """The beginning of a node that also ends the one before it is not taken for the node."""
    watch()
    shared = "This sentence ends one node, and begins the next one that was cut from it."
    both = passages(f"alpha {shared}", f"{shared} beta")
    before = both[0].node.get_content()
    assert packed(watch, both, f"Context: {before} Query: ?").returned == ("p1",)
    cut = packed(watch, both, f"Context: {before} {shared} Query: ?")
    assert (cut.returned, cut.basis) == (("p1", "p2"), "prompt")
    assert [round(share, 1) for share in cut.shares or ()] == [1.0, 0.9]
    assert packed(watch, both, "Context: Query: ?").basis == "unseen"


@pytest.mark.parametrize("write", [json.dumps, html.escape, str.lower, lambda text: text.replace(" ", "\n> ")])
def test_a_text_in_another_writing(watch: Watch, write: Callable[[str], str]) -> None:
    """A template may write nodes as JSON, inside of markup, or otherwise; which of them it holds is seen."""
    watch()
    both = passages(
        'Refunds for the "café"\nare <b>paid</b> & booked within ten days.',
        'Gift cards "never"\nexpire & are <b>blue</b> on their back.',
    )
    one, two = (each.node.get_content() for each in both)
    assert packed(watch, both, f"Context: {write(one)}").returned == ("p1",)
    assert packed(watch, both, f"Context: {write(two)} {write(one)}").returned == ("p2", "p1")


def test_a_model_that_is_shown_no_nodes(watch: Watch) -> None:
    """A mode that asks the model without the nodes shows none, which is never a pass, and an error."""
    watch(selected_by=lambda question: "n1")
    engine(BM25Retriever("n1"), response_mode=ResponseMode.GENERATION).query("?")
    assert (watch.only.verdict, watch.stages[-1].basis) == ("UNVERIFIABLE", "unseen")
    assert [finding.code for finding in watch.only.findings] == ["context_not_in_prompt"]


@pytest.mark.parametrize("mode", [ResponseMode.NO_TEXT, ResponseMode.CONTEXT_ONLY])
def test_a_synthesizer_that_asks_no_model(watch: Watch, mode: ResponseMode, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hands on what it is given: that was found, and what a prompt by hand makes of it counts."""
    monkeypatch.setattr(Settings, "_llm", Model())
    watch(selected_by=lambda question: "n1")
    made = engine(BM25Retriever("n1", "n2"), response_mode=mode)
    made.query("?")
    assert (watch.only.verdict, watch.kinds(), watch.only.shown.ids) == ("PASS", ["lexical"], ("n1", "n2"))
    with rop.handoff("mine", selected="n1"):
        last = made.query("?").source_nodes[1]
        Model().complete(f"Context: {last.get_content()}")
    assert (watch.assessments[1].verdict, watch.assessments[1].shown.ids) == ("FAIL", ("n2",))


def test_a_synthesizer_of_the_applications_own(watch: Watch) -> None:
    """It is packing and reader, named by its class; where it asks no model, nobody knows what it shows."""
    watch(selected_by=lambda question: "n1")
    engine(BM25Retriever("n1"), response_synthesizer=Plain(llm=Model())).query("?")
    assert (watch.stages[-1].returned, watch.stages[-1].implementation) == (None, "Plain")
    assert watch.only.verdict == "UNVERIFIABLE"
    assert watch.diagnostics == []


def test_nothing_to_show(watch: Watch) -> None:
    """No nodes are an empty packing, and the answer says that it is none."""
    watch(selected_by=lambda question: "n1")
    engine(Found(found=[])).query("?")
    assert (watch.stages[-1].returned, watch.only.drop_cause) == ((), "never_retrieved")
    assert watch.reader.abstained is True


def test_a_model_that_raises_was_shown_its_prompt(watch: Watch) -> None:
    """What the prompt held was shown, though no answer came; the exception is the application's own."""
    watch(selected_by=lambda question: "n1")
    with pytest.raises(ConnectionError, match="no model"):
        engine(BM25Retriever("n1"), llm=Model(broken=True)).query("?")
    assert watch.only.verdict == "PASS"
    assert [stage.kind for stage in watch.records[0].stages] == ["lexical", "packing"]
    assert (watch.stages[-1].failed, watch.stages[-1].returned) == (False, ("n1",))


def test_a_synthesizer_that_raises_before_it_asks(watch: Watch) -> None:
    """Without a prompt nothing was packed."""

    class Raising(Plain):
        def get_response(self, query_str: str, text_chunks: Any, **kwargs: Any) -> str:
            raise ValueError("too long")

    watch(selected_by=lambda question: "n1")
    with pytest.raises(ValueError, match="too long"):
        engine(BM25Retriever("n1"), response_synthesizer=Raising(llm=Model())).query("?")
    assert (watch.stages[-1].kind, watch.stages[-1].failed) == ("packing", True)


def test_citations_lead_to_the_retrieved_nodes(watch: Watch) -> None:
    """The numbered pieces of CitationQueryEngine are the nodes that they are of, labelled as the model saw them."""
    watch(selected_by=lambda question: "n2")
    made = CitationQueryEngine(BM25Retriever("n1", "n2"), llm=Model(answer="It is so [2], not so [3]."))
    response = made.query("?")
    assert str(response) == "It is so [2], not so [3]."
    packing = watch.stages[-1]
    assert (packing.returned, packing.labels) == (("n1", "n2"), ("1", "2"))
    assert (watch.reader.returned, watch.reader.citations) == (("n1", "n2"), ("2", "3"))
    assert (watch.only.verdict, watch.only.selected_rank) == ("PASS", 2)
    assert [(finding.code, finding.labels) for finding in watch.only.findings] == [("citation_unresolved", ("3",))]


def test_a_node_in_several_pieces_and_its_double(watch: Watch) -> None:
    """Each piece of a long node is that node; of two nodes with the same text each has its own."""
    watch()
    long = " ".join(f"This is sentence {place}." for place in range(60))
    found = passages("The same text.", long, "The same text.", "The same text.")
    for place, each in enumerate(found):
        each.node.metadata["place"] = place  # older versions drop doubles
    made = CitationQueryEngine(Found(found=found), llm=Model(), citation_chunk_size=128, citation_chunk_overlap=0)
    made.query("?")
    returned = watch.stages[-1].returned
    assert returned is not None
    assert returned[0] == "p1"
    assert set(returned[1:-2]) == {"p2"}
    assert len(returned) > 4
    assert returned[-2:] == ("p3", "p4")


def test_labels_in_brackets_are_the_applications_own(watch: Watch) -> None:
    """Nodes whose text begins with a label each are shown under it; else there are no labels."""
    watch()
    engine(Found(found=passages("[S1] alpha", "[S2] beta")), llm=Model(answer="So [S2].")).query("?")
    assert (watch.stages[-1].labels, watch.reader.citations) == (("S1", "S2"), ("S2",))
    watch.records.clear()
    engine(Found(found=passages("[S1] alpha", "beta"))).query("?")
    assert watch.stages[-1].labels is None


def test_a_synthesizer_by_itself(watch: Watch) -> None:
    """Within a handoff of the application's own, a synthesizer that is called by hand is packing and reader of it."""
    watch()
    with rop.handoff("by hand", selected="p1"):
        get_response_synthesizer(llm=Model()).synthesize(QueryBundle("?"), nodes=passages("alpha"))
    assert (watch.only.verdict, watch.kinds()) == ("PASS", ["packing"])
