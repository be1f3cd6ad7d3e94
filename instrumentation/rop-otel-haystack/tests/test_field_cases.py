"""Programs from the field: what people build with Haystack, and lose in it without noticing.

Long because they are one list, and share their parts.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from haystack import Document, SuperComponent, component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder, PromptBuilder
from haystack.components.joiners import BranchJoiner, DocumentJoiner
from haystack.components.retrievers import AutoMergingRetriever
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage, ImageContent
from haystack.document_stores.in_memory import InMemoryDocumentStore

import rop_otel as rop

EACH = "{% for doc in documents %}{{ doc.content }}\n{% endfor %}{{ query }}"
NUMBERED = "{% for doc in documents %}[{{ loop.index }}] {{ doc.content }}\n{% endfor %}{{ query }}"
CITED = r"\[(\d+)\]"


def texts(*ids: str, **meta: Any) -> list[Document]:
    """Return documents with a text about each ID."""
    return [
        Document(
            id=each,
            content=f"This is the note on {each}, with all the details about the subject {each}.",
            score=1 - place / 10,
            meta=dict(meta),
        )
        for place, each in enumerate(ids)
    ]


@component
class Given:
    """A retriever that returns what it is told to."""

    def __init__(self, documents: Any) -> None:
        self.documents = documents

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Return it."""
        return {"documents": list(self.documents(query) if callable(self.documents) else self.documents)}


@component
class Model:
    """A model that replies what it is told to, in order, and the last reply again and again."""

    def __init__(self, *replies: str) -> None:
        self.replies = replies or ("fine",)
        self.prompts: list[str] = []

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, Any]:
        """Reply."""
        self.prompts.append(prompt)
        return {"replies": [self.replies[min(len(self.prompts), len(self.replies)) - 1]]}


@component
class ChatModel:
    """A model that is asked with messages."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Reply."""
        return {"replies": [ChatMessage.from_assistant("fine")]}


@component
class Shorten:
    """Cuts a prompt."""

    def __init__(self, length: int) -> None:
        self.length = length

    @component.output_types(prompt=str)
    def run(self, prompt: str) -> dict[str, Any]:
        """Cut."""
        return {"prompt": prompt[: self.length]}


@component
class Formatted:
    """Makes text of documents."""

    def __init__(self, keep: int = 99) -> None:
        self.keep = keep

    @component.output_types(text=str)
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Join their texts."""
        return {"text": "\n\n".join(str(each.content) for each in documents[: self.keep])}


def connected(parts: Any, components: dict[str, Any], *connections: tuple[str, str]) -> Any:
    """Return a pipeline."""
    pipeline = parts.Pipeline()
    for name, each in components.items():
        pipeline.add_component(name, each)
    for sender, receiver in connections:
        pipeline.connect(sender, receiver)
    return pipeline


def asked(parts: Any, documents: Any, template: str = EACH, *, reply: str = "fine", pattern: str | None = CITED) -> Any:
    """Run a pipeline of a retriever, a prompt, a model and an answer."""
    pipeline = connected(
        parts,
        {
            "find": Given(documents),
            "prompt": PromptBuilder(template, required_variables=None, variables=["documents", "query"]),
            "model": Model(reply),
            "answer": AnswerBuilder(reference_pattern=pattern),
        },
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "model.prompt"),
        ("model.replies", "answer.replies"),
        ("find.documents", "answer.documents"),
    )
    return pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}, "answer": {"query": "q"}})


def said(assessment: rop.Assessment) -> tuple[str, str | None, str | None]:
    """Return the verdict, and where and why something was lost."""
    cause = assessment.drop_cause
    return str(assessment.verdict and assessment.verdict.value), assessment.dropped_at, cause and cause.value


def codes(assessment: rop.Assessment) -> list[str]:
    """Return the codes of the findings."""
    return [finding.code.value for finding in assessment.findings]


def is_red(assessment: rop.Assessment) -> bool:
    """Return whether a handoff has no PASS, and an error among its findings."""
    errors = any(finding.severity.value == "error" for finding in assessment.findings)
    return assessment.verdict != "PASS" and errors


# Sources of an answer, and the IDs that the user names


def test_sources_are_read_with_the_keys_that_the_user_names(selecting: Any, parts: Any) -> None:
    """Documents whose ID is in their metadata are attached under that ID, too."""
    watch = selecting("a.md", id_keys=("file",))
    found = [*texts("a", file="a.md"), *texts("b", file="b.md")]
    asked(parts, found, NUMBERED, reply="It is so [1], [2].")
    assert (said(watch.only)[0], watch.only.citations.resolved, codes(watch.only)) == ("PASS", 2, [])


def test_only_what_is_cited_is_attached(selecting: Any, parts: Any) -> None:
    """An answer that lists only the documents it refers to leaves no label unattached."""
    watch = selecting("a")
    asked(parts, texts("a", "b", "c"), NUMBERED, reply="It is so [2].")
    assert (watch.only.citations.resolved, codes(watch.only)) == (1, [])


def test_a_parent_and_its_children_under_one_key(selecting: Any, parts: Any) -> None:
    """Where a parent takes the place of its children, both have the ID that the user names."""
    watch = selecting("a.md", id_keys=("file",))
    store = InMemoryDocumentStore()
    meta = {"file": "a.md", "__block_size": 10, "__level": 0, "__children_ids": ["c1", "c2"], "__parent_id": None}
    parent = Document(id="p", content="One half of the text is here. The other half is there.", meta=meta)
    store.write_documents([parent])
    meta = {"file": "a.md", "__parent_id": "p", "__level": 1, "__block_size": 5, "__children_ids": []}
    children = [Document(id=f"c{n}", content=f"half {n}", meta=meta) for n in (1, 2)]
    pipeline = connected(
        parts,
        {"find": Given(children), "merge": AutoMergingRetriever(store, threshold=0.5), "prompt": PromptBuilder(EACH)},
        ("find.documents", "merge.documents"),
        ("merge.documents", "prompt.documents"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert said(watch.only)[0] == "PASS"
    assert [stage.present for stage in watch.only.stages] == [True, True, True]


# Retrievers that run others


@component
class Best:
    """Keeps the best of what another retriever finds."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Find, and keep one."""
        return {"documents": self.inner(query)[:1]}


def by_component(parts: Any) -> Callable[[str], list[Document]]:
    """Return what asks a component."""
    inner = Given(texts("a", "b", "c"))
    return lambda query: inner.run(query=query)["documents"]


def by_pipeline(parts: Any) -> Callable[[str], list[Document]]:
    """Return what asks a pipeline."""
    inner = connected(parts, {"find": Given(texts("a", "b", "c"))})
    return lambda query: inner.run({"find": {"query": query}})["find"]["documents"]


@pytest.mark.parametrize("make", [by_component, by_pipeline])
def test_what_a_retriever_drops_of_another_ones_is_lost_in_it(selecting: Any, parts: Any, make: Any) -> None:
    """It was retrieved, so that nobody has to look into the index, and the next stage is not blamed."""
    watch = selecting("b")
    pipeline = connected(
        parts, {"find": Best(make(parts)), "prompt": PromptBuilder(EACH)}, ("find.documents", "prompt.documents")
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert (said(watch.only), codes(watch.only)) == (("FAIL", "retriever", "dropped"), [])


def test_a_super_component_that_only_wraps_is_no_stage(selecting: Any, parts: Any) -> None:
    """What is lost in the pipeline that it wraps is lost there."""
    watch = selecting("b")
    inner = connected(parts, {"find": Given(texts("a", "b")), "cut": parts.Cut(1)}, ("find.documents", "cut.documents"))
    outer = connected(
        parts,
        {
            "search": SuperComponent(inner, input_mapping={"query": ["find.query"]}),
            "prompt": PromptBuilder(EACH),
            "model": Model(),
        },
        ("search.documents", "prompt.documents"),
        ("prompt", "model"),
    )
    outer.run({"search": {"query": "q"}, "prompt": {"query": "q"}})
    assert (said(watch.only), codes(watch.only)) == (("FAIL", "Cut", "dropped"), [])


def test_a_joiner_that_keeps_one_arm_is_blamed(selecting: Any, parts: Any) -> None:
    """A fusion whose list equals that of one arm is no wrapper of it."""
    watch = selecting("b")
    pipeline = connected(
        parts,
        {
            "one": Given(texts("b")),
            "two": Given(texts("c")),
            "join": DocumentJoiner(join_mode="concatenate", top_k=1, sort_by_score=False),
            "prompt": PromptBuilder(EACH),
        },
        ("one.documents", "join.documents"),
        ("two.documents", "join.documents"),
        ("join.documents", "prompt.documents"),
    )
    pipeline.run({"one": {"query": "q"}, "two": {"query": "q"}, "prompt": {"query": "q"}})
    kept = watch.only.shown.ids
    assert len(kept) == 1
    if kept == ("c",):
        assert said(watch.only) == ("FAIL", "fusion", "fused_out")
    assert codes(watch.only) == []


# What the prompt held


LOST = {
    "a misspelt field": "{% for doc in documents %}{{ doc.contents }}\n{% endfor %}{{ query }}",
    "a misspelt variable": "{% for doc in docs %}{{ doc.content }}\n{% endfor %}{{ query }}",
    "a lost placeholder": "Answer from the context.\nContext:\n\nQuestion: {{ query }}",
    "metadata only": "{% for doc in documents %}{{ doc.meta }}\n{% endfor %}{{ query }}",
}


@pytest.mark.parametrize("template", LOST.values(), ids=LOST.keys())
@pytest.mark.parametrize("chat", [False, True])
def test_a_prompt_without_any_document(selecting: Any, parts: Any, template: str, chat: bool) -> None:
    """However the context was lost, the answer was not made from it, and that is an error."""
    watch = selecting("a")
    more: Any = {"required_variables": None, "variables": ["documents", "query"]}
    prompt = ChatPromptBuilder([ChatMessage.from_user(template)], **more) if chat else PromptBuilder(template, **more)
    pipeline = connected(
        parts,
        {"find": Given(texts("a", "b")), "prompt": prompt, "model": ChatModel() if chat else Model()},
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "model.messages" if chat else "model.prompt"),
    )
    pipeline.run({"find": {"query": "What is a?"}, "prompt": {"query": "What is a?"}})
    assert is_red(watch.only), watch.only
    assert "context_not_in_prompt" in codes(watch.only)


def test_a_prompt_that_is_not_connected_to_the_retriever(selecting: Any, parts: Any) -> None:
    """A template without documents behind a retriever asks a model without what was found."""
    watch = selecting("a")
    pipeline = connected(
        parts,
        {"find": Given(texts("a")), "prompt": PromptBuilder("Answer: {{ query }}"), "model": Model()},
        ("prompt", "model"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert is_red(watch.only), watch.only


def test_a_required_variable_that_does_not_come(selecting: Any, parts: Any) -> None:
    """A prompt that could not be built shows nothing."""
    watch = selecting("a")
    prompt = PromptBuilder(EACH + "{{ style }}", required_variables=["documents", "style"], variables=None)
    pipeline = connected(
        parts,
        {"find": Given(texts("a")), "prompt": prompt, "model": Model()},
        ("find.documents", "prompt.documents"),
        ("prompt", "model"),
    )
    with pytest.raises(ValueError, match="style"):
        pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert watch.all == [] or watch.only.verdict == "UNVERIFIABLE"


def test_a_builder_that_raises(selecting: Any, parts: Any) -> None:
    """A prompt that could not be built shows nothing, though all of its documents were retrieved."""
    watch = selecting("a")
    with pytest.raises(Exception, match="no attribute"):
        asked(parts, texts("a"), EACH + "{{ documents[0].content.nothing.at_all }}")
    assert watch.only.verdict == "UNVERIFIABLE"
    assert "stage_failed" in codes(watch.only)


@pytest.mark.parametrize("extra", [0, 2, 20, 40, 55])
def test_a_prompt_that_is_cut_behind_the_builder(selecting: Any, parts: Any, extra: int) -> None:
    """What the model is asked with counts, not what the builder made: of a neighbour only a piece is left."""
    found = texts("a", "b", "c")
    length = len(str(found[0].content)) + 1 + extra
    watch = selecting("c")
    model = Model()
    pipeline = connected(
        parts,
        {"find": Given(found), "prompt": PromptBuilder(EACH), "cut": Shorten(length), "model": model},
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "cut.prompt"),
        ("cut.prompt", "model.prompt"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert said(watch.only)[0] == "FAIL"
    assert watch.only.dropped_at == "packing"
    assert len(model.prompts[0]) == length
    assert watch.only.shown.ids[0] == "a"
    assert "silent_cut" not in codes(watch.only)


@pytest.mark.parametrize(("keep", "verdict"), [(1, "FAIL"), (2, "PASS")])
@pytest.mark.parametrize("through", ["a template", "the model's input"])
def test_text_that_a_component_makes_of_documents(
    selecting: Any, parts: Any, keep: int, verdict: str, through: str
) -> None:
    """A component of one's own that joins their texts is seen in what the model is asked with."""
    watch = selecting("b")
    components: dict[str, Any] = {"find": Given(texts("a", "b")), "join": Formatted(keep), "model": Model()}
    connections = [("find.documents", "join.documents")]
    inputs: dict[str, Any] = {"find": {"query": "q"}}
    if through == "a template":
        components["prompt"] = PromptBuilder("Context: {{ context }}\nQuestion: {{ query }}")
        connections += [("join.text", "prompt.context"), ("prompt.prompt", "model.prompt")]
        inputs["prompt"] = {"query": "q"}
    else:
        connections += [("join.text", "model.prompt")]
    connected(parts, components, *connections).run(inputs)
    assert said(watch.only)[0] == verdict
    assert watch.only.shown.basis == "prompt"


@pytest.mark.parametrize("question", ["How do I reset the password of my home router?", "password reset?"])
def test_a_question_that_repeats_a_document_shows_nothing_of_it(selecting: Any, parts: Any, question: str) -> None:
    """The words of the question are no sign of the document that was cut off."""
    watch = selecting("reset")
    found = [
        Document(id="power", content="How do I restart the device safely? Unplug it and wait a minute."),
        Document(id="light", content="What does the red light mean? The line is down."),
        Document(id="reset", content="How do I reset the password of my home router? Hold the button."),
    ]
    template = "Answer from:\n{% for doc in documents[:2] %}{{ doc.content }}\n{% endfor %}\nQuestion: {{ query }}"
    pipeline = connected(
        parts,
        {"find": Given(found), "prompt": PromptBuilder(template), "model": Model()},
        ("find.documents", "prompt.documents"),
        ("prompt", "model"),
    )
    pipeline.run({"find": {"query": question}, "prompt": {"query": question}})
    assert said(watch.only) == ("FAIL", "packing", "over_budget")


def test_two_builders_of_one_prompt(selecting: Any, parts: Any) -> None:
    """A prompt that another builder puts into its own is one prompt."""
    watch = selecting("b")
    pipeline = connected(
        parts,
        {
            "find": Given(texts("a", "b")),
            "context": PromptBuilder("{% for doc in documents[:1] %}{{ doc.content }}{% endfor %}"),
            "prompt": PromptBuilder("Context: {{ context }}\nQuestion: {{ query }}"),
            "model": Model(),
        },
        ("find.documents", "context.documents"),
        ("context.prompt", "prompt.context"),
        ("prompt.prompt", "model.prompt"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert [(stage.stage, stage.name) for stage in watch.only.stages] == [("retriever", "find"), ("packing", "context")]
    assert said(watch.only) == ("FAIL", "packing", "over_budget")


def test_pictures_cannot_be_looked_for(selecting: Any, parts: Any) -> None:
    """Where a prompt holds pictures, and a document has no text, nobody can say whether it was shown."""

    @component
    class WithPicture:
        @component.output_types(prompt=list[ChatMessage])
        def run(self, documents: list[Document], picture: bool) -> dict[str, Any]:
            text = "\n".join(each.content for each in documents if each.content)
            pictures = [ImageContent("aGk=", mime_type="image/png", validation=False)] if picture else []
            return {"prompt": [ChatMessage.from_user(content_parts=[text, *pictures])]}

    watch = selecting("picture")
    found = [*texts("a"), Document(id="picture", content=None, meta={"file_path": "picture.png"})]
    pipeline = connected(
        parts,
        {"find": Given(found), "prompt": WithPicture(), "model": ChatModel()},
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "model.messages"),
    )
    for picture, verdict in ((True, "UNVERIFIABLE"), (False, "FAIL")):
        pipeline.run({"find": {"query": "q"}, "prompt": {"picture": picture}})
        assert watch.all[-1].verdict == verdict


# Prompts that are not the reader's


def rewriting(parts: Any) -> Any:
    """Return a pipeline that has the question rewritten before it retrieves."""
    return connected(
        parts,
        {
            "ask": PromptBuilder("Rewrite: {{ query }}"),
            "rewriter": Model("a better question"),
            "first": Given(texts("x")),
            "find": Given(texts("a", "b")),
            "prompt": PromptBuilder(EACH),
            "model": Model(),
            "take": Taken(),
        },
        ("ask.prompt", "rewriter.prompt"),
        ("rewriter.replies", "take.replies"),
        ("take.query", "find.query"),
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "model.prompt"),
    )


@component
class Taken:
    """Takes the first reply for a question."""

    @component.output_types(query=str)
    def run(self, replies: list[str]) -> dict[str, Any]:
        """Take it."""
        return {"query": replies[0]}


def test_a_rewritten_question_is_no_lost_context(selecting: Any, parts: Any) -> None:
    """A model that is asked for another question is shown no documents, and needs none."""
    watch = selecting("a")
    rewriting(parts).run({"ask": {"query": "q"}, "first": {"query": "q"}, "prompt": {"query": "q"}})
    assert (said(watch.only)[0], codes(watch.only)) == ("PASS", [])


@pytest.mark.parametrize(
    ("template", "verdict"),
    [(EACH, "PASS"), (EACH.replace("documents", "documents[:1]"), "FAIL"), ("Answer: {{ query }}", "UNVERIFIABLE")],
)
def test_what_a_grader_saw_the_reader_did_not(selecting: Any, parts: Any, template: str, verdict: str) -> None:
    """The model that grades documents is shown all of them; the one that answers counts."""
    watch = selecting("b")
    routes: Any = [
        {
            "condition": "{{ 'yes' in replies[0] }}",
            "output": "{{ documents }}",
            "output_name": "good",
            "output_type": list[Document],
        },
        {"condition": "{{ True }}", "output": "{{ query }}", "output_name": "bad", "output_type": str},
    ]
    pipeline = connected(
        parts,
        {
            "find": Given(texts("a", "b")),
            "grade": PromptBuilder("Relevant?\n" + EACH),
            "grader": Model("yes"),
            "route": ConditionalRouter(routes, unsafe=True),
            "prompt": PromptBuilder(template, required_variables=None, variables=["documents", "query"]),
            "model": Model(),
        },
        ("find.documents", "grade.documents"),
        ("grade.prompt", "grader.prompt"),
        ("grader.replies", "route.replies"),
        ("find.documents", "route.documents"),
        ("route.good", "prompt.documents"),
        ("prompt.prompt", "model.prompt"),
    )
    asking = {"query": "q"}
    pipeline.run({"find": asking, "grade": asking, "route": asking, "prompt": asking})
    assert said(watch.only)[0] == verdict, watch.only
    assert ("context_not_in_prompt" in codes(watch.only)) == (verdict == "UNVERIFIABLE")


@pytest.mark.parametrize("reply", ["ok", "It is done by waiting for the task and cancelling it."])
def test_what_takes_up_the_answer_is_no_lost_context(selecting: Any, parts: Any, reply: str) -> None:
    """A translation, or a judgment, of the answer needs no documents: the answer was made from them."""
    watch = selecting("a")
    pipeline = connected(
        parts,
        {
            "find": Given(texts("a", "b")),
            "prompt": PromptBuilder(EACH),
            "model": Model(reply),
            "translate": PromptBuilder("Translate: {{ replies[0] }}"),
            "translator": Model("gut"),
        },
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "model.prompt"),
        ("model.replies", "translate.replies"),
        ("translate.prompt", "translator.prompt"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert (said(watch.only)[0], codes(watch.only)) == ("PASS", [])
    assert [stage.name for stage in watch.only.stages] == ["find", "prompt"]


def test_an_answer_that_is_mended_counts_once(selecting: Any, parts: Any) -> None:
    """A model that is asked again, with its own reply, is shown the same documents."""

    @component
    class Check:
        def __init__(self) -> None:
            self.times = 0

        @component.output_types(good=list[str], bad=list[str])
        def run(self, replies: list[str]) -> dict[str, Any]:
            self.times += 1
            return {"bad": replies} if self.times == 1 else {"good": replies}

    watch = selecting("a")
    template = EACH + "{% if bad %}Mend {{ bad[0] }}{% endif %}"
    pipeline = connected(
        parts,
        {
            "find": Given(texts("a", "b")),
            "prompt": PromptBuilder(template, required_variables=["documents", "query"]),
            "model": Model("{"),
            "check": Check(),
        },
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "model.prompt"),
        ("model.replies", "check.replies"),
        ("check.bad", "prompt.bad"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert (said(watch.only)[0], codes(watch.only), watch.only.shown.ids) == ("PASS", [], ("a", "b"))


def corrective(parts: Any, template: str) -> Any:
    """Return a loop that retrieves, has the documents graded and, at first, the question rewritten."""
    routes: Any = [
        {
            "condition": "{{ 'yes' in replies[0] }}",
            "output": "{{ documents }}",
            "output_name": "good",
            "output_type": list[Document],
        },
        {"condition": "{{ True }}", "output": "better", "output_name": "bad", "output_type": str},
    ]
    lists = {"q": texts("a", "b"), "better": texts("b", "c")}
    return connected(
        parts,
        {
            "queries": BranchJoiner(str),
            "find": Given(lambda query: lists[query]),
            "grade": PromptBuilder(EACH, required_variables=["documents"]),
            "grader": Model("no", "yes"),
            "route": ConditionalRouter(routes, unsafe=True),
            "prompt": PromptBuilder(template, required_variables=["documents"]),
            "model": Model(),
        },
        ("queries.value", "find.query"),
        ("find.documents", "grade.documents"),
        ("grade.prompt", "grader.prompt"),
        ("grader.replies", "route.replies"),
        ("find.documents", "route.documents"),
        ("route.bad", "queries.value"),
        ("route.good", "prompt.documents"),
        ("prompt.prompt", "model.prompt"),
    )


@pytest.mark.parametrize(("selected", "verdict"), [("c", "PASS"), ("b", "PASS"), ("a", "FAIL")])
def test_a_loop_that_retrieves_again(selecting: Any, parts: Any, selected: str, verdict: str) -> None:
    """What only a round that was given up found was graded there, and shown to no reader."""
    watch = selecting(selected)
    corrective(parts, EACH).run({"queries": {"value": "q"}, "grade": {"query": "q"}, "prompt": {"query": "q"}})
    assert said(watch.only)[0] == verdict, watch.only
    assert codes(watch.only) == []


# Settings


def test_a_document_of_another_scope(selecting: Any, parts: Any) -> None:
    """The scope of each document is in its metadata, under a key that the user names."""
    watch = selecting("a", scope_key="tenant")
    found = [*texts("a", tenant="bob"), *texts("b", tenant="alice")]
    with rop.handoff("mine", selected="a", scope="bob"):
        asked(parts, found)
    leaks = [finding for finding in watch.only.findings if finding.code.value == "scope_leak"]
    assert leaks
    assert all(finding.ids == ("b",) for finding in leaks)


def test_the_settings_of_a_handoff(watch: Any, parts: Any) -> None:
    """Judged objects, the record's ID and the stages that are expected belong to each handoff."""
    watch.instrument(
        selected_by=lambda inputs: "a",
        judged_by=lambda inputs: {"b": 1},
        record_key="record",
        scope_key="tenant",
        expected=("find", "rerank", "packing"),
    )
    pipeline = connected(
        parts,
        {"find": Given(texts("a", "b", tenant="bob")), "prompt": PromptBuilder(EACH), "model": Model()},
        ("find.documents", "prompt.documents"),
        ("prompt", "model"),
    )
    pipeline.metadata = {"record": "r1", "tenant": "bob"}
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert (watch.only.record_id, watch.only.joint) == ("r1", "both")
    assert codes(watch.only) == ["stage_not_observed"]


FORMS = {
    "[1] text": ("[{i}] {t}", "[9]"),
    "[doc1]: text": ("[doc{i}]: {t}", "[9]"),
    "Document 1:": ("Document {i}:\n{t}", "[9]"),
    "Source ID: 1": ("Source ID: {i}\nTitle: x\nSnippet: {t}", "[9]"),
    "1. text": ("{i}. {t}", "[9]"),
    "XML": ('<document index="{i}">{t}</document>', "[9]"),
    "no number": ("- {t}", "[9]"),
    "a pattern": ("<<{i}>> {t}", "[9]"),
}


@pytest.mark.parametrize(("form", "cites"), FORMS.values(), ids=FORMS.keys())
def test_labels_in_all_forms(selecting: Any, parts: Any, form: str, cites: str) -> None:
    """A reference to a document that has no such number is found, however the prompt writes numbers."""
    watch = selecting("a", **({"label_pattern": r"<<(\d+)>>"} if "<<" in form else {}))
    each = form.replace("{i}", "{{ loop.index }}").replace("{t}", "{{ doc.content }}")
    template = "{% for doc in documents %}" + each + "\n{% endfor %}{{ query }}"
    asked(parts, texts("a", "b", "c"), template, reply=f"It is so [2], {cites}.")
    assert codes(watch.only) == ["citation_unresolved"]
    assert (watch.only.citations.resolved, watch.only.citations.unresolved) == (1, 1)


def test_numbers_that_begin_with_0(selecting: Any, parts: Any) -> None:
    """Haystack's references begin with 1: where the prompt begins with 0, each leads to another document."""
    watch = selecting("a")
    asked(parts, texts("a", "b"), NUMBERED.replace("index", "index0"), reply="It is so [1].")
    assert codes(watch.only) == ["label_misattributed"]


# Handoffs of the application's own, several pipelines, agents, fallbacks


def test_a_prompt_that_the_application_writes_itself(selecting: Any, parts: Any) -> None:
    """Components that the application runs one by one: what the model is asked with counts, also without a builder."""
    selecting("b")
    find, model = Given(texts("a", "b")), Model()
    seen = {}
    for keep in (0, 1, 2):
        with rop.handoff("mine", selected="b") as handoff:
            model.run(prompt="Rewrite: q")
            found = find.run(query="q")["documents"]
            model.run(prompt="Context: " + "\n".join(str(each.content) for each in found[:keep]))
        seen[keep] = handoff.assessment.verdict
        assert is_red(handoff.assessment) == (keep == 0)
    assert seen == {0: "UNVERIFIABLE", 1: "FAIL", 2: "PASS"}


def test_a_pipeline_that_retrieves_and_one_that_answers(selecting: Any, parts: Any) -> None:
    """In a handoff of the application's own the prompt of the second pipeline shows what the first one found."""
    selecting("b")
    search = connected(parts, {"find": Given(texts("a", "b"))})
    prompt = PromptBuilder("Context: {{ context }} {{ query }}")
    answer = connected(parts, {"prompt": prompt, "model": Model()}, ("prompt", "model"))
    for keep, verdict in ((1, "FAIL"), (2, "PASS")):
        with rop.handoff("mine", selected="b") as handoff:
            found = search.run({"find": {"query": "q"}})["find"]["documents"]
            context = "\n".join(str(each.content) for each in found[:keep])
            answer.run({"prompt": {"context": context, "query": "q"}})
        assert handoff.assessment.verdict == verdict


def test_one_pipeline_for_several_questions_in_one_handoff(selecting: Any, parts: Any) -> None:
    """Each of its prompts shows what was found for it, and none cuts off what was found for another."""
    selecting("a")
    lists = {"one": texts("a", "b"), "two": texts("c")}
    pipeline = connected(
        parts,
        {"find": Given(lambda query: lists[query]), "prompt": PromptBuilder(EACH), "model": Model()},
        ("find.documents", "prompt.documents"),
        ("prompt", "model"),
    )
    with rop.handoff("mine", selected="a") as handoff:
        for query in lists:
            pipeline.run({"find": {"query": query}, "prompt": {"query": query}})
    assert (handoff.assessment.verdict, codes(handoff.assessment)) == ("PASS", [])
    assert handoff.assessment.shown.ids == ("a", "b", "c")


def test_the_answer_of_the_application_cites_what_was_shown(selecting: Any, parts: Any) -> None:
    """An application that tells its answer in its own handoff has its citations compared with the prompt's labels."""
    selecting("a")
    pipeline = connected(
        parts,
        {"find": Given(texts("a", "b")), "prompt": PromptBuilder(NUMBERED), "model": Model("See [1], [5].")},
        ("find.documents", "prompt.documents"),
        ("prompt", "model"),
    )
    with rop.handoff("mine", selected="a") as handoff:
        (reply,) = pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})["model"]["replies"]
        handoff.answered(reply)
    assert (handoff.assessment.citations.resolved, codes(handoff.assessment)) == (0, ["citation_unresolved"])


def test_a_model_that_is_asked_in_the_place_of_another(selecting: Any, parts: Any) -> None:
    """A generator that falls back to its second model says so."""
    from haystack.components.generators import chat

    if not hasattr(chat, "FallbackChatGenerator"):
        pytest.skip("this version has no such component")

    @component
    class Broken:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], **more: Any) -> dict[str, Any]:
            raise ConnectionError("no model")

    @component
    class Second:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], **more: Any) -> dict[str, Any]:
            return {"replies": [ChatMessage.from_assistant("fine")]}

    watch = selecting("a")
    pipeline = connected(
        parts,
        {
            "find": Given(texts("a", "b")),
            "prompt": ChatPromptBuilder([ChatMessage.from_user(EACH)], required_variables=["documents", "query"]),
            "model": chat.FallbackChatGenerator([Broken(), Second()]),
        },
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "model.messages"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert (said(watch.only)[0], codes(watch.only)) == ("PASS", ["fallback_used"])


def test_a_retriever_that_has_another_one_to_fall_back_to(selecting: Any, parts: Any) -> None:
    """A component in which another one raises, and that returns documents all the same, ran its fallback."""

    @component
    class Down:
        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            raise ConnectionError("no index")

    @component
    class Either:
        def __init__(self) -> None:
            self.first, self.second = Down(), Given(texts("a"))

        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            try:
                return self.first.run(query=query)
            except ConnectionError:
                return self.second.run(query=query)

    watch = selecting("a")
    pipeline = connected(
        parts, {"find": Either(), "prompt": PromptBuilder(EACH)}, ("find.documents", "prompt.documents")
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert said(watch.only)[0] == "PASS"
    assert "fallback_used" in codes(watch.only)


@component
class Calling:
    """A model that calls a tool once for each question, and then answers."""

    def __init__(self, answer: str, *questions: str) -> None:
        self.answer = answer
        self.questions = iter(questions)

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **more: Any) -> dict[str, Any]:
        """Call the tool, or answer."""
        from haystack.dataclasses import ToolCall

        question = next(self.questions, None)
        if question is None:
            return {"replies": [ChatMessage.from_assistant(self.answer)]}
        call = ToolCall(tool_name="notes", arguments={"query": question}, id=question)
        return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}


def agent(answer: str, *questions: str, documents: Any = None) -> Any:
    """Return an agent with a tool that numbers what it finds."""
    from haystack.components.agents import Agent
    from haystack.tools import ComponentTool

    def numbered(found: list[Document]) -> str:
        return "\n".join(f"[{place}] {each.content}" for place, each in enumerate(found, 1))

    tool = ComponentTool(
        Given(texts("a", "b") if documents is None else documents),
        name="notes",
        description="finds notes",
        outputs_to_string={"source": "documents", "handler": numbered},
    )
    made = Agent(chat_generator=Calling(answer, *questions), tools=[tool])
    made.warm_up()
    return made


@pytest.mark.parametrize(("answer", "found"), [("See [1].", []), ("See [9].", ["citation_unresolved"]), ("", [])])
@pytest.mark.parametrize("outer", ["alone", "in a pipeline"])
def test_what_an_agent_cites(selecting: Any, parts: Any, answer: str, found: list[str], outer: str) -> None:
    """The answer of an agent cites what the messages of its tools show."""
    watch = selecting("a")
    asking = [ChatMessage.from_user("how?")]
    if outer == "alone":
        agent(answer, "q").run(messages=asking)
    else:
        connected(parts, {"agent": agent(answer, "q")}).run({"agent": {"messages": asking}})
    assert (said(watch.only)[0], codes(watch.only)) == ("PASS", found)


def test_an_agent_that_asks_twice_cites_the_first_message(selecting: Any, parts: Any) -> None:
    """A label that only the first of two messages shows is one that was shown."""
    watch = selecting("a")
    lists = {"one": texts("a", "b", "c"), "two": texts("d")}
    agent("See [3].", "one", "two", documents=lambda query: lists[query]).run(messages=[ChatMessage.from_user("how?")])
    assert (said(watch.only)[0], codes(watch.only)) == ("PASS", [])


@pytest.mark.parametrize(("template", "verdict"), [(NUMBERED, "PASS"), ("Answer {{ query }}", "UNVERIFIABLE")])
def test_an_agent_that_reads_what_a_pipeline_found(selecting: Any, parts: Any, template: str, verdict: str) -> None:
    """An agent behind a prompt is its reader, and so it is where the prompt lost its context."""
    watch = selecting("b")
    builder = ChatPromptBuilder(
        [ChatMessage.from_user(template)], required_variables=None, variables=["documents", "query"]
    )
    pipeline = connected(
        parts,
        {"find": Given(texts("a", "b")), "prompt": builder, "agent": agent("fine")},
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "agent.messages"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert said(watch.only)[0] == verdict
    assert is_red(watch.only) == (verdict != "PASS")


def test_an_agent_whose_pipeline_found_one_document_and_its_tool_another(selecting: Any, parts: Any) -> None:
    """The last prompt of the agent holds both."""
    watch = selecting("z")
    builder = ChatPromptBuilder([ChatMessage.from_user(EACH)], required_variables=["documents", "query"])
    pipeline = connected(
        parts,
        {"find": Given(texts("z")), "prompt": builder, "agent": agent("fine", "q")},
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "agent.messages"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert said(watch.only)[0] == "PASS"
    assert set(watch.only.shown.ids) == {"z", "a", "b"}


async def test_an_asynchronous_pipeline(selecting: Any, parts: Any) -> None:
    """What holds for a run holds for one that is awaited."""
    import haystack

    watch = selecting("c")
    pipeline = getattr(haystack, "AsyncPipeline", haystack.Pipeline)(connection_type_validation=False)
    for name, each in {"find": Given(texts("a", "b", "c")), "prompt": PromptBuilder(EACH), "model": Model()}.items():
        pipeline.add_component(name, each)
    pipeline.add_component("cut", Shorten(90))
    for sender, receiver in (
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "cut.prompt"),
        ("cut.prompt", "model.prompt"),
    ):
        pipeline.connect(sender, receiver)
    await pipeline.run_async({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert said(watch.only) == ("FAIL", "packing", "over_budget")


@pytest.mark.parametrize("size", [1, 400])
def test_long_prompts_take_little_time(selecting: Any, parts: Any, size: int) -> None:
    """Documents that contain each other, megabytes of them, and labels by the thousand stop nothing."""
    watch = selecting("0")
    found = [Document(id=str(n), content="word " * (10 * size + n)) for n in range(5 * size)]
    asked(parts, found, NUMBERED, reply="See [1].")
    assert watch.only.verdict in ("PASS", "UNVERIFIABLE")


@pytest.mark.parametrize("names", [("find", "prompt", "model"), ("z", "a", "b")])
def test_a_retriever_to_which_nothing_is_connected(selecting: Any, parts: Any, names: tuple[str, str, str]) -> None:
    """In whichever order components run, a model that is asked without what was found is an error."""
    watch = selecting("a")
    find, prompt, model = names
    pipeline = parts.Pipeline()
    components: dict[str, Any] = {find: Given(texts("a")), prompt: PromptBuilder("{{ query }}"), model: Model()}
    for name, each in sorted(components.items()):
        pipeline.add_component(name, each)
    pipeline.connect(prompt, model)
    pipeline.run({find: {"query": "q"}, prompt: {"query": "q"}})
    assert is_red(watch.only), watch.only


def test_a_model_that_is_not_asked_with_the_prompt(selecting: Any, parts: Any) -> None:
    """A prompt that is built, and with which nobody is asked, shows nothing."""
    watch = selecting("a")
    pipeline = connected(
        parts,
        {"find": Given(texts("a")), "prompt": PromptBuilder(EACH), "model": Model()},
        ("find.documents", "prompt.documents"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}, "model": {"prompt": "Answer: q"}})
    assert is_red(watch.only), watch.only


def test_a_history_is_no_sign_of_a_document(selecting: Any, parts: Any) -> None:
    """What an earlier answer quoted of a document is not shown of it now."""
    watch = selecting("b")
    found = texts("a", "b")
    quoted = ChatMessage.from_assistant(str(found[1].content))
    template = [
        ChatMessage.from_user("{% for each in memories %}{{ each.text }}{% endfor %}" + EACH.replace("nts", "nts[:1]"))
    ]
    pipeline = connected(
        parts,
        {
            "find": Given(found),
            "prompt": ChatPromptBuilder(template, required_variables=["documents", "query", "memories"]),
            "model": ChatModel(),
        },
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "model.messages"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q", "memories": [quoted]}})
    assert said(watch.only) == ("FAIL", "packing", "over_budget")


def test_a_component_that_answers_by_itself(selecting: Any, parts: Any) -> None:
    """The prompt that a component of one's own builds inside, and asks a model with, is what was shown."""

    @component
    class Answerer:
        def __init__(self) -> None:
            self.prompt, self.model = PromptBuilder(EACH.replace("documents", "documents[:1]")), Model()

        @component.output_types(answer=str)
        def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
            prompt = self.prompt.run(documents=documents, query=query)["prompt"]
            return {"answer": self.model.run(prompt=prompt)["replies"][0]}

    watch = selecting("b")
    pipeline = connected(
        parts, {"find": Given(texts("a", "b")), "answer": Answerer()}, ("find.documents", "answer.documents")
    )
    pipeline.run({"find": {"query": "q"}, "answer": {"query": "q"}})
    assert said(watch.only) == ("FAIL", "packing", "over_budget")


def test_prompts_by_the_hundred(selecting: Any, parts: Any) -> None:
    """Of more prompts than anybody reads none is taken for the reader's: there is no verdict, and no waiting."""
    selecting("a")
    model, find = Model(), Given(texts("a"))
    with rop.handoff("mine", selected="a") as handoff:
        find.run(query="q")
        for number in range(500):
            model.run(prompt=f"{number}: {texts('a')[0].content}")
    assert handoff.assessment.verdict == "UNVERIFIABLE"


@component
class AtOnce:
    """Asks several retrievers at once, in threads that know of nothing, and keeps the best of all."""

    def __init__(self, **retrievers: Any) -> None:
        self.retrievers = retrievers

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Ask them."""
        with ThreadPoolExecutor(2) as pool:
            found = [*pool.map(lambda each: each.run(query=query)["documents"], self.retrievers.values())]
        return {"documents": [each[0] for each in found]}


def test_retrievers_that_are_asked_in_threads(selecting: Any, parts: Any) -> None:
    """What one found, and the retriever that asked it dropped, was retrieved; also of components made before."""
    pipeline = connected(
        parts,
        {"find": AtOnce(one=Given(texts("a", "b")), two=Given(texts("c"))), "prompt": PromptBuilder(EACH)},
        ("find.documents", "prompt.documents"),
    )
    watch = selecting("b")
    for _ in range(2):
        pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
        assert said(watch.all[-1]) == ("FAIL", "retriever", "dropped")
        assert [stage.returned for stage in watch.all[-1].stages] == [2, 1, 2, 2]


def test_a_component_that_goes_on_without_its_model(selecting: Any, parts: Any) -> None:
    """A ranker whose model raises, and that goes on, ran its fallback; its prompt is not the reader's."""

    @component
    class Broken:
        @component.output_types(replies=list[str])
        def run(self, prompt: str) -> dict[str, Any]:
            raise ConnectionError("no model")

    @component
    class ModelRanker:
        def __init__(self, model: Any) -> None:
            self.prompt, self.model = PromptBuilder("Rank: " + EACH), model

        @component.output_types(documents=list[Document])
        def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
            prompt = self.prompt.run(documents=documents, query=query)["prompt"]
            try:
                self.model.run(prompt=prompt)
            except ConnectionError:
                return {"documents": documents[:1]}
            return {"documents": documents[::-1]}

    watch = selecting("b")
    for model, verdict, found in ((Broken(), "FAIL", ["fallback_used"]), (Model(), "PASS", [])):
        pipeline = connected(
            parts,
            {"find": Given(texts("a", "b")), "rank": ModelRanker(model), "prompt": PromptBuilder(EACH), "m": Model()},
            ("find.documents", "rank.documents"),
            ("rank.documents", "prompt.documents"),
            ("prompt.prompt", "m.prompt"),
        )
        pipeline.run({"find": {"query": "q"}, "rank": {"query": "q"}, "prompt": {"query": "q"}})
        assert (watch.all[-1].verdict, codes(watch.all[-1])) == (verdict, found)


@pytest.mark.parametrize(
    ("field", "keep", "verdict"), [("content", 2, "PASS"), ("content", 1, "FAIL"), ("text", 2, "UNVERIFIABLE")]
)
def test_a_model_with_a_template_of_its_own(selecting: Any, parts: Any, field: str, keep: int, verdict: str) -> None:
    """A component that fills in its template itself is seen by what its model is asked with."""
    from haystack.components.generators import chat

    if not hasattr(chat, "LLM"):
        pytest.skip("this version has no such component")

    each = "{% for doc in documents[:" + str(keep) + "] %}{{ doc." + field + " }}{% endfor %}{{ query }}"
    llm = chat.LLM(
        chat_generator=Calling("fine"),
        user_prompt='{% message role="user" %}' + each + "{% endmessage %}",
        required_variables=["documents", "query"],
    )
    watch = selecting("b")
    pipeline = connected(parts, {"find": Given(texts("a", "b")), "llm": llm}, ("find.documents", "llm.documents"))
    pipeline.run({"find": {"query": "q"}, "llm": {"query": "q"}})
    assert watch.only.verdict == verdict


def test_texts_that_a_retriever_returns_beside_its_documents(selecting: Any, parts: Any) -> None:
    """Windows of text hold the documents of which they were made."""

    @component
    class Windows:
        @component.output_types(context_windows=list[str], context_documents=list[Document])
        def run(self, retrieved_documents: list[Document]) -> dict[str, Any]:
            window = " ".join(str(each.content) for each in retrieved_documents)
            return {"context_windows": [window], "context_documents": retrieved_documents}

    watch = selecting("b")
    template = "{% for window in windows %}{{ window }}{% endfor %}"
    pipeline = connected(
        parts,
        {
            "find": Given(texts("a", "b")),
            "widen": Windows(),
            "prompt": PromptBuilder(template, required_variables=["windows"]),
            "model": Model(),
        },
        ("find.documents", "widen.retrieved_documents"),
        ("widen.context_windows", "prompt.windows"),
        ("prompt.prompt", "model.prompt"),
    )
    pipeline.run({"find": {"query": "q"}})
    assert (said(watch.only)[0], codes(watch.only), watch.only.shown.ids) == ("PASS", [], ("a", "b"))


def test_two_models_that_answer_side_by_side(selecting: Any, parts: Any) -> None:
    """What either is shown was shown, and one that lost its context is an error."""
    watch = selecting("b")
    for template, verdict in ((EACH.replace("nts", "nts[1:]"), "PASS"), (EACH.replace("content", "x"), "UNVERIFIABLE")):
        pipeline = connected(
            parts,
            {
                "find": Given(texts("a", "b")),
                "one": PromptBuilder(EACH.replace("documents", "documents[:1]")),
                "two": PromptBuilder(template),
                "first": Model(),
                "second": Model(),
            },
            ("find.documents", "one.documents"),
            ("find.documents", "two.documents"),
            ("one.prompt", "first.prompt"),
            ("two.prompt", "second.prompt"),
        )
        pipeline.run({"find": {"query": "q"}, "one": {"query": "q"}, "two": {"query": "q"}})
        assert watch.all[-1].verdict == verdict


@component
class TooLong:
    """A model that refuses a long prompt."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, Any]:
        """Refuse, or reply."""
        if len(prompt) > 100:
            raise ValueError("context too long")
        return {"replies": ["fine"]}


def test_a_model_that_refuses_the_prompt_read_nothing(selecting: Any, parts: Any) -> None:
    """Nobody read a prompt that was too long; one that was made shorter then counts, and the first is a retry."""
    watch = selecting("a")
    template = "{% for doc in documents[:keep] %}{{ doc.content }}\n{% endfor %}"
    pipeline = connected(
        parts,
        {"find": Given(texts("a", "b")), "prompt": PromptBuilder(template), "model": TooLong()},
        ("find.documents", "prompt.documents"),
        ("prompt", "model"),
    )
    with pytest.raises(Exception, match="too long"):
        pipeline.run({"find": {"query": "q"}, "prompt": {"keep": 2}})
    assert (watch.only.verdict, codes(watch.only)) == ("UNVERIFIABLE", ["stage_failed"])
    with rop.handoff("mine", selected="a") as handoff:
        for keep in (2, 1):
            with suppress(Exception):
                pipeline.run({"find": {"query": "q"}, "prompt": {"keep": keep}})
    assert handoff.assessment.verdict == "PASS"
    (finding,) = handoff.assessment.findings
    assert (finding.code.value, finding.severity.value) == ("stage_failed", "warning")


def test_numbers_that_nobody_can_read(
    selecting: Any, parts: Any, caplog: pytest.LogCaptureFixture, unsaid: Any
) -> None:
    """Where a prompt writes no numbers, and leaves out the first document, one line says that none can be compared."""
    watch = selecting("b")
    template = "{% for doc in documents[1:] %}- {{ doc.content }}\n{% endfor %}{{ query }}"
    for _ in range(2):
        asked(parts, texts("a", "b"), template, reply="It is so [1].")
    assert watch.all[0].verdict == "PASS"
    lines = [each.getMessage() for each in caplog.records if "label_pattern" in each.getMessage()]
    assert len(lines) == 1


@pytest.fixture
def unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was warned of until now."""
    monkeypatch.setattr("rop_otel.instrumenting.notices._warned", set())


@pytest.mark.parametrize(("data", "abstained"), [("the answer", False), (None, True)])
def test_a_reader_that_extracts_its_answer(selecting: Any, parts: Any, data: str | None, abstained: bool) -> None:
    """It reads what it is handed, and says where there is no answer in it."""

    class Extracted:
        def __init__(self, document: Document | None) -> None:
            self.data, self.document = data, document

    @component
    class ExtractiveReader:
        @component.output_types(answers=list[Any])
        def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
            return {"answers": [Extracted(None if data is None else documents[0])]}

    watch = selecting("b")
    pipeline = connected(
        parts, {"find": Given(texts("a", "b")), "read": ExtractiveReader()}, ("find.documents", "read.documents")
    )
    pipeline.run({"find": {"query": "q"}, "read": {"query": "q"}})
    assert (said(watch.only)[0], codes(watch.only), watch.only.shown.basis) == ("PASS", [], "last_list")
    assert watch.records[-1].stages[-1].abstained is abstained


def test_prompts_that_each_begin_to_count_anew(selecting: Any, parts: Any) -> None:
    """Under one number two prompts of one handoff show two documents, which is no error."""
    selecting("a")
    lists = {"one": texts("a", "b"), "two": texts("c")}
    pipeline = connected(
        parts,
        {"find": Given(lambda query: lists[query]), "prompt": PromptBuilder(NUMBERED), "model": Model()},
        ("find.documents", "prompt.documents"),
        ("prompt", "model"),
    )
    with rop.handoff("mine", selected="a") as handoff:
        for query in lists:
            pipeline.run({"find": {"query": query}, "prompt": {"query": query}})
    assert (handoff.assessment.verdict, codes(handoff.assessment)) == ("PASS", [])


@pytest.mark.parametrize(("keep", "said_of_c"), [(3, ("PASS", None, None)), (2, ("FAIL", None, "unused"))])
def test_a_prompt_for_each_document_and_one_for_their_summaries(
    selecting: Any, parts: Any, keep: int, said_of_c: tuple[str, str | None, str | None]
) -> None:
    """What was summarised was shown, each in a prompt of its own; the last prompt only takes up the summaries."""
    selecting("c")
    each = PromptBuilder("Summarise: {{ document.content }}")
    one = connected(parts, {"p": each, "m": Model("A short summary of the note that was given.")}, ("p", "m"))
    every = PromptBuilder("Combine: {% for each in summaries %}{{ each }}\n{% endfor %}")
    two = connected(parts, {"p": every, "m": Model()}, ("p", "m"))
    search = connected(parts, {"find": Given(texts("a", "b", "c"))})
    with rop.handoff("mine", selected="c") as handoff:
        found = search.run({"find": {"query": "q"}})["find"]["documents"]
        summaries = [one.run({"p": {"document": document}})["m"]["replies"][0] for document in found[:keep]]
        two.run({"p": {"summaries": summaries}})
    assert (said(handoff.assessment), codes(handoff.assessment)) == (said_of_c, [])


def test_documents_that_cannot_be_read(selecting: Any, parts: Any) -> None:
    """Where a document raises when its text is asked for, there is no verdict, and the pipeline answers."""

    class Broken(Document):
        def __getattribute__(self, name: str) -> Any:
            if name == "content" and broken:
                raise RuntimeError(name)
            return super().__getattribute__(name)

    @component
    class Ask:
        @component.output_types(replies=list[str])
        def run(self, prompt: str) -> dict[str, Any]:
            broken.append(True)
            return {"replies": [prompt]}

    broken: list[bool] = []
    found = [Broken(id="a", content="a text that nobody is going to read here")]
    watch = selecting("a")
    pipeline = connected(
        parts,
        {"find": Given(found), "prompt": PromptBuilder(EACH), "model": Ask()},
        ("find.documents", "prompt.documents"),
        ("prompt", "model"),
    )
    assert pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})["model"]["replies"]
    assert watch.only.verdict == "UNVERIFIABLE"


def test_messages_that_are_dictionaries(selecting: Any, parts: Any) -> None:
    """A model of one's own may be asked as its service is."""

    @component
    class Service:
        @component.output_types(replies=list[str])
        def run(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
            return {"replies": ["fine"]}

    @component
    class Write:
        @component.output_types(messages=list[dict[str, Any]])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            first = {"role": "system", "content": "Be brief."}
            parts = [{"type": "text", "text": str(each.content)} for each in documents[:1]]
            return {"messages": [first, {"role": "user", "content": parts}]}

    watch = selecting("b")
    pipeline = connected(
        parts,
        {"find": Given(texts("a", "b")), "write": Write(), "model": Service()},
        ("find.documents", "write.documents"),
        ("write.messages", "model.messages"),
    )
    pipeline.run({"find": {"query": "q"}})
    assert said(watch.only) == ("FAIL", "packing", "over_budget")


@pytest.mark.parametrize(("keep", "verdict"), [(1, "FAIL"), (2, "PASS")])
def test_who_judges_the_answer_is_not_its_reader(selecting: Any, parts: Any, keep: int, verdict: str) -> None:
    """A model that compares the answer with all documents is shown more than the one that answered."""
    watch = selecting("b")
    judge = "Is it so?\n{% for doc in documents %}{{ doc.content }}\n{% endfor %}{{ replies[0] }}"
    pipeline = connected(
        parts,
        {
            "find": Given(texts("a", "b")),
            "prompt": PromptBuilder(EACH.replace("documents", f"documents[:{keep}]")),
            "model": Model("It is so because of the first of the notes."),
            "ask": PromptBuilder(judge),
            "judge": Model("yes"),
        },
        ("find.documents", "prompt.documents"),
        ("prompt.prompt", "model.prompt"),
        ("model.replies", "ask.replies"),
        ("find.documents", "ask.documents"),
        ("ask.prompt", "judge.prompt"),
    )
    pipeline.run({"find": {"query": "q"}, "prompt": {"query": "q"}})
    assert said(watch.only)[0] == verdict
    assert codes(watch.only) == []


def test_a_question_that_a_model_found_in_documents(selecting: Any, parts: Any) -> None:
    """Where a model makes the next question of what was found first, the answer is made from what is found then."""
    watch = selecting("d")
    again = {"q": texts("a", "b"), "what is to be said of the other two notes": texts("c", "d")}
    pipeline = connected(
        parts,
        {
            "first": Given(lambda query: again[query]),
            "ask": PromptBuilder("What is left to ask?\n" + EACH),
            "asker": Model("what is to be said of the other two notes"),
            "take": Taken(),
            "second": Given(lambda query: again[query]),
            "prompt": PromptBuilder(EACH.replace("documents", "documents[:1]")),
            "model": Model(),
        },
        ("first.documents", "ask.documents"),
        ("ask.prompt", "asker.prompt"),
        ("asker.replies", "take.replies"),
        ("take.query", "second.query"),
        ("second.documents", "prompt.documents"),
        ("take.query", "prompt.query"),
        ("prompt.prompt", "model.prompt"),
    )
    pipeline.run({"first": {"query": "q"}, "ask": {"query": "q"}})
    assert said(watch.only) == ("FAIL", "packing", "over_budget")
