"""Faults of prompts that users of LlamaIndex reported: a context that is lost, cut, or only graded."""

from typing import Any

import pytest
from field_parts import ASKING, LOST, InTurn, Scripted, codes, found, loss, nodes, text
from llama_index.core import (
    PromptTemplate,
    get_response_synthesizer,
)
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import LongContextReorder, MetadataReplacementPostProcessor
from llama_index.core.query_engine import (
    CustomQueryEngine,
)
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import ImageNode, NodeWithScore, TextNode
from llama_index_parts import Found, Model, Watch, engine, memory

import rop_otel as rop

# The question repeats a document

FAQ = {
    "power": "How do I restart the device safely? Unplug it and wait a minute.",
    "light": "What does the red light mean? The line is down.",
    "reset": "How do I reset the password of my home router? Hold the button for ten seconds.",
}
QUESTIONS = ["How do I reset the password of my home router?", "password reset?", FAQ["reset"]]


class KeepsTwo(CustomQueryEngine):
    """Shows the model two of three."""

    retriever: Any
    model: Any
    template: bool

    def custom_query(self, query_str: str) -> str:
        """Answer."""
        context = "\n\n".join(each.get_content() for each in self.retriever.retrieve(query_str)[:2])
        if self.template:
            return str(self.model.predict(PromptTemplate("{context}\n\nQ: {q}"), context=context, q=query_str))
        return str(self.model.complete(f"Answer from:\n{context}\n\nQuestion: {query_str}"))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("way", ["engine", "template", "synthesizer"])
def test_a_question_is_no_document(watch: Watch, question: str, way: str) -> None:
    """A document that the question repeats, and that was cut off, was not shown."""
    watch(selected_by=lambda question: "reset")
    listed = [NodeWithScore(node=TextNode(id_=raw, text=said), score=1.0) for raw, said in FAQ.items()]
    if way == "synthesizer":
        room = 260 + len(question) // 4
        helper = PromptHelper(context_window=room, num_output=200, chunk_overlap_ratio=0.0)
        made = get_response_synthesizer(llm=Model(), response_mode=ResponseMode.SIMPLE_SUMMARIZE, prompt_helper=helper)
        engine(Found(found=listed), response_synthesizer=made).query(question)
        assert watch.only.verdict != "PASS"
    else:
        KeepsTwo(retriever=Found(found=listed), model=Model(), template=way == "template").query(question)
        assert (*loss(watch), codes(watch)) == ("FAIL", "packing", "over_budget", [])


@pytest.mark.usefixtures("loop")
def test_a_history_is_no_document(watch: Watch) -> None:
    """What an earlier turn said of a document that was not found again is no sign of it, nor of one that is cut off."""
    watch(selected_by=lambda question: "b")
    chat = ContextChatEngine.from_defaults(found("a"), llm=Model(), memory=memory())
    chat.chat(
        "and?", chat_history=[ChatMessage(role="user", content="?"), ChatMessage(role="assistant", content=text("b"))]
    )
    assert loss(watch)[0] == "FAIL"


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
def test_a_model_that_repeats_its_prompt(watch: Watch, kind: Any) -> None:
    """The history of a model in tests, which says what it is asked, hides no document of the next turn."""
    watch(selected_by=lambda question: "b")
    chat = kind.from_defaults(found("a", "b"), llm=MockLLM(), memory=memory())
    for question in ("one?", "two?", "two?"):
        chat.chat(question)
    assert [each.verdict for each in watch.assessments] == ["PASS"] * 3


# A context that is cut


@pytest.mark.parametrize("extra", [0, 2, 20, 40, 60, 90, 110, 200])
def test_a_context_cut_at_characters(watch: Watch, extra: int) -> None:
    """A piece of a neighbour is no sign of the next document, and has its share."""
    said = {raw: " ".join(f"{raw}{n} says something else about {raw}{n * 7}." for n in range(12)) for raw in "abcd"}
    budget = 2 * len(said["a"]) + 4 + extra

    class Cutting(CustomQueryEngine):
        retriever: Any

        def custom_query(self, query_str: str) -> str:
            found = self.retriever.retrieve(query_str)
            context = "\n\n".join(each.get_content() for each in found)[:budget]
            return str(Model().complete(f"Context: {context}\n\nQuestion: q"))

    watch(selected_by=lambda question: "d")
    listed = [NodeWithScore(node=TextNode(id_=raw, text=each), score=1.0) for raw, each in said.items()]
    Cutting(retriever=Found(found=listed)).query("q")
    assert (*loss(watch), codes(watch)) == ("FAIL", "packing", "over_budget", [])
    shares = watch.stages[-1].shares
    assert shares is not None
    assert shares[:2] == (1.0, 1.0)
    assert all(share < 0.6 for share in shares[2:])


def test_a_document_that_is_cut_in_the_middle(watch: Watch) -> None:
    """It was shown in part, which is a warning."""
    long = [" ".join(f"{word}{place}" for place in range(150)) for word in ("alpha", "beta", "gamma")]
    watch(selected_by=lambda question: "p2")
    helper = PromptHelper(context_window=700, num_output=16, chunk_overlap_ratio=0.0)
    made = get_response_synthesizer(llm=Model(), response_mode=ResponseMode.SIMPLE_SUMMARIZE, prompt_helper=helper)
    listed = [NodeWithScore(node=TextNode(id_=f"p{n}", text=each), score=1.0) for n, each in enumerate(long)]
    engine(Found(found=listed), response_synthesizer=made).query("?")
    assert (watch.only.verdict, codes(watch)) == ("PASS", ["passage_cut"])


# No document is in the prompt


@pytest.mark.parametrize("mode", ASKING)
@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("streams", [False, True])
async def test_a_template_without_its_context(watch: Watch, mode: ResponseMode, awaited: bool, streams: bool) -> None:
    """A lost placeholder is never a pass, and an error."""
    watch(selected_by=lambda question: "a")
    built = engine(
        found("a", "b"),
        response_mode=mode,
        text_qa_template=LOST,
        refine_template=LOST,
        summary_template=LOST,
        streaming=streams and "accumulate" not in mode,
    )
    response = await built.aquery("What is a?") if awaited else built.query("What is a?")
    if hasattr(response, "async_response_gen"):
        _ = [token async for token in response.async_response_gen()]
    else:
        str(response)
    assert (watch.only.verdict, codes(watch)) == ("UNVERIFIABLE", ["context_not_in_prompt"])


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
def test_a_chat_without_its_context(watch: Watch, kind: Any) -> None:
    """The same for chats, whose system prompt has lost its placeholder."""
    watch(selected_by=lambda question: "a")
    lost = {"context_template": "Be kind."} if kind is ContextChatEngine else {"context_prompt": "Be kind."}
    kind.from_defaults(found("a"), llm=Model(), memory=memory(), **lost).chat("What is a?")
    assert (watch.only.verdict, codes(watch)) == ("UNVERIFIABLE", ["context_not_in_prompt"])


def test_metadata_alone_is_no_text(watch: Watch) -> None:
    """A node whose text is lost, as where a window is looked for under a wrong key, is not in the prompt."""
    watch(selected_by=lambda question: "a")
    replaced = nodes("a", window="")
    engine(Found(found=replaced), MetadataReplacementPostProcessor(target_metadata_key="window")).query("?")
    assert watch.only.verdict != "PASS"


@pytest.mark.parametrize("selected", ["a", "image"])
def test_an_image_is_no_text(watch: Watch, selected: str) -> None:
    """Whether a model was shown an image, its text does not tell; an empty text is not shown."""
    watch(selected_by=lambda question: selected)
    image = NodeWithScore(node=ImageNode(id_="image", image_url="http://localhost/a.png"), score=1.0)
    engine(Found(found=[*nodes("a"), image])).query("?")
    assert watch.only.verdict == "UNVERIFIABLE"
    watch.assessments.clear()
    engine(Found(found=[*nodes("a"), NodeWithScore(node=TextNode(id_="image"), score=1.0)])).query("?")
    assert watch.only.verdict == ("PASS" if selected == "a" else "FAIL")


# A model that is asked for something else


class Graded(CustomQueryEngine):
    """Has each document graded, shows those that pass, and then has a title made."""

    retriever: Any
    model: Any

    def custom_query(self, query_str: str) -> str:
        """Answer."""
        good = [
            each
            for each in self.retriever.retrieve(query_str)
            if str(self.model.complete(f"Is this of use?\n{each.get_content()}")) == "yes"
        ]
        again = str(self.model.complete(f"Write the question better: {query_str}"))
        context = "\n".join(each.get_content() for each in good)
        answer = str(self.model.complete(f"Context:\n{context}\n\nQuestion: {again}"))
        self.model.complete(f"A title for: {answer}")
        return answer


@pytest.mark.parametrize(
    ("grades", "selected", "seen"),
    [
        (["yes", "no"], "a", ("PASS", [])),
        (["yes", "no"], "b", ("FAIL", [])),
        (["no", "no"], "a", ("UNVERIFIABLE", ["context_not_in_prompt"])),
    ],
)
def test_a_grader_is_no_reader(watch: Watch, grades: list[str], selected: str, seen: tuple[str, list[str]]) -> None:
    """What a model only grades was not shown; and one that writes a question or a title has lost no context."""
    watch(selected_by=lambda question: selected)
    model = Scripted(script=[*grades, "What is a, please?", "It is so.", "On a"])
    Graded(retriever=found("a", "b"), model=model).query("What is a?")
    assert (watch.only.verdict, codes(watch)) == seen


class Mapped(CustomQueryEngine):
    """Asks of each document by itself, and joins the answers, or has them joined."""

    retriever: Any
    model: Any
    reduces: bool

    def custom_query(self, query_str: str) -> str:
        """Answer."""
        parts = [
            str(self.model.complete(f"Sum up: {each.get_content()}")) for each in self.retriever.retrieve(query_str)
        ]
        return str(self.model.complete("Join: " + "\n".join(parts))) if self.reduces else "\n".join(parts)


@pytest.mark.parametrize("reduces", [False, True])
def test_answers_that_lead_to_another(watch: Watch, reduces: bool) -> None:
    """Where answers on single documents make up the answer, all of those documents were shown."""
    watch(selected_by=lambda question: "a")
    model = Scripted(script=["The first is about the subject a.", "The other is about the subject b.", "Both are."])
    Mapped(retriever=found("a", "b"), model=model, reduces=reduces).query("What is a?")
    assert (watch.only.verdict, watch.only.shown.ids, codes(watch)) == ("PASS", ("a", "b"), [])


# Parts that are called by hand


@pytest.mark.parametrize("context", ["all", "first", "none"])
@pytest.mark.parametrize("grades", [False, True])
def test_parts_called_by_hand(watch: Watch, context: str, grades: bool) -> None:
    """In a handoff of the application's own, prompts are those of the last answer: a lost context is an error."""
    watch()
    model = Scripted(script=["yes", "no", "It is so, with details."] if grades else ["It is so, with details."])
    with rop.handoff("mine", selected="b") as handoff:
        listed = LongContextReorder().postprocess_nodes(found("a", "b").retrieve("?"))
        if grades:
            for each in listed:
                model.complete(f"Grade: {each.get_content()}")
        kept = {"all": ("a", "b"), "first": ("a",), "none": ()}[context]
        texts = [each.get_content() for each in listed if each.node_id in kept]
        handoff.answered(str(model.complete("Context:\n" + "\n".join(texts))))
        model.complete("Say good bye.")
    assert watch.only.verdict == {"all": "PASS", "first": "FAIL", "none": "UNVERIFIABLE"}[context]
    assert codes(watch) == (["context_not_in_prompt"] if context == "none" else [])


def test_citations_of_an_answer_by_hand(watch: Watch) -> None:
    """Labels in a prompt that is written by hand are those that the answer cites."""
    watch()
    with rop.handoff("mine", selected="b") as handoff:
        listed = enumerate(found("a", "b").retrieve("?"), 1)
        context = "\n".join(f"[{place}] {each.get_content()}" for place, each in listed)
        handoff.answered(str(Model(answer="So [2], not [9].").complete(f"{context}\n\nQuestion: ?")))
    assert (watch.only.verdict, codes(watch)) == ("PASS", ["citation_unresolved"])


@pytest.mark.parametrize("selected", ["a", "c"])
def test_a_search_that_runs_again_by_hand(watch: Watch, selected: str) -> None:
    """A second search, after a model was asked about the first, is a round there too."""
    watch()
    retriever, model = InTurn(nodes("a", "b"), nodes("b", "c")), Scripted(script=["no", "It is so, with details."])
    with rop.handoff("mine", selected=selected):
        model.complete("Grade: " + " ".join(each.get_content() for each in retriever.retrieve("?")))
        model.complete("From: " + " ".join(each.get_content() for each in retriever.retrieve("better")))
    assert (watch.only.verdict, codes(watch)) == ("PASS" if selected == "c" else "FAIL", [])


def test_a_question_that_is_rewritten(watch: Watch) -> None:
    """A model that rewrites the question between two searches has lost no context."""
    watch()
    retriever, model = InTurn(nodes("a", "b"), nodes("b", "c")), Scripted(script=["What is the subject c about?"])
    with rop.handoff("mine", selected="c"):
        retriever.retrieve("?")
        retriever.retrieve(str(model.complete("Write this better: ?")))
    assert (watch.only.verdict, codes(watch)) == ("PASS", [])


def test_what_the_application_records_itself(watch: Watch) -> None:
    """Where it says what it packs, that counts, and no prompt is looked at."""
    watch()
    with rop.handoff("mine", selected="b"):
        listed = found("a", "b").retrieve("?")
        with rop.using_stage("packing", input=listed) as packing:
            packing.returned(listed)
        Model().complete("Context: none")
    assert (watch.only.verdict, watch.kinds(), codes(watch)) == ("PASS", ["retriever", "packing"], [])
