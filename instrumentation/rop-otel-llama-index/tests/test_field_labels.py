"""Labels in the forms that users of LlamaIndex write, and what else they say of an application."""

from typing import Any

import pytest
from field_parts import LOST, codes, found, nodes
from llama_index.core.instrumentation.dispatcher import instrument_tags  # type: ignore[attr-defined]
from llama_index.core.postprocessor import LongContextReorder
from llama_index.core.query_engine import (
    CustomQueryEngine,
)
from llama_index_parts import Found, Model, Watch, engine

import rop_otel as rop
from rop_otel.instrumenting import notices

# Another tenant


def test_a_passage_of_another_tenant(watch: Watch) -> None:
    """With the key of the scope, a passage of another one is a leak, at each stage that returns it."""
    watch(scope_key="tenant")
    listed = [*nodes("a", tenant="bob"), *nodes("b", tenant="alice")]
    with rop.handoff("mine", selected="a", scope="bob"):
        engine(Found(found=listed), LongContextReorder()).query("?")
    leaks = [finding for finding in watch.only.findings if finding.code == "scope_leak"]
    assert [(leak.stage, leak.ids) for leak in leaks] == [
        ("retriever", ("b",)),
        ("reorder", ("b",)),
        ("packing", ("b",)),
    ]


# Forms of labels

FORMS = {
    "[1] text": ("[{i}] {t}", "[9]"),
    "[doc1]: text": ("[doc{i}]: {t}", "[doc9]"),
    "Source 1:": ("Source {i}:\n{t}", "[9]"),
    "Source ID: 0": ("Source ID: {i}\nArticle Title: x\nArticle Snippet: {t}", "[9]"),
    "1. text": ("{i}. {t}", "[9]"),
    "[1] title: x": ("[{i}] title: x\n{t}", "[9]"),
    "by ID": ("[citation:{k}] {t}", "[citation:zzz]"),
}


class Labelling(CustomQueryEngine):
    """Numbers its passages."""

    retriever: Any
    model: Any
    form: str

    def custom_query(self, query_str: str) -> str:
        """Answer."""
        found = enumerate(self.retriever.retrieve(query_str), 1)
        context = "\n\n".join(self.form.format(i=i, t=each.get_content(), k=each.node_id) for i, each in found)
        return str(self.model.complete(f"Context:\n{context}\n\nQuestion: {query_str}"))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("by", ["engine", "node"])
def test_forms_of_labels(watch: Watch, name: str, by: str) -> None:
    """A label that nobody showed is unresolved, however passages are numbered and whoever numbers them."""
    form, cite = FORMS[name]
    watch(selected_by=lambda question: "a")
    model = Model(answer=f"It is so {cite}.")
    if by == "engine":
        Labelling(retriever=found("a", "b", "c"), model=model, form=form).query("?")
    else:
        listed = nodes("a", "b", "c")
        for place, each in enumerate(listed, 1):
            each.node.set_content(form.format(i=place, t=each.get_content(), k=each.node_id))
        engine(Found(found=listed), llm=model).query("?")
    assert (watch.only.verdict, codes(watch)) == ("PASS", ["citation_unresolved"])


def test_a_form_that_is_not_known(
    watch: Watch, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the answer cites and no label was read, the log says so once."""
    monkeypatch.setattr(notices, "_warned", set())
    watch()
    for _ in range(2):
        Labelling(retriever=found("a", "b"), model=Model(answer="So [9]."), form="<<{i}>> {t}").query("?")
    assert ["no label could be read" in each.getMessage() for each in caplog.records] == [True]


# What a user says of an application


def test_judgments_and_record(watch: Watch) -> None:
    """Judged objects come from a function, the record's ID and the scope from tags."""
    watch(judged_by=lambda question: {"b": 2}, record_key="record", scope_key="tenant")
    with instrument_tags({"record": "r1", "tenant": "bob"}):
        engine(Found(found=[*nodes("a", tenant="bob"), *nodes("b", tenant="alice")])).query("?")
    (record,) = watch.records
    assert (record.record_id, record.scope_id, record.judged) == ("r1", "bob", ("b",))
    assert codes(watch) == ["scope_leak", "scope_leak"]


def test_expected_stages(watch: Watch) -> None:
    """A stage that the pipeline is said to have, and that does not run, is a finding."""
    watch(selected_by=lambda question: "a", expected=["retriever", "rerank", "packing"])
    engine(found("a")).query("?")
    assert codes(watch) == ["stage_not_observed"]


def test_a_pattern_of_labels(watch: Watch) -> None:
    """Labels of any form are read by a pattern."""
    watch(label_pattern=r"<<(\d+)>>")
    model = Model(answer="So [9].")
    Labelling(retriever=found("a", "b"), model=model, form="<<{i}>> {t}").query("?")
    assert (watch.stages[-1].labels, codes(watch)) == (("1", "2"), ["citation_unresolved"])


@pytest.mark.parametrize("shows", ["text", "rewritten"])
def test_documents_in_another_form(watch: Watch, shows: str) -> None:
    """Where summaries of the documents are shown, an application says so, and what is packed counts as shown."""
    watch(selected_by=lambda question: "a", shows=shows)
    engine(found("a"), text_qa_template=LOST).query("?")
    expected = ("UNVERIFIABLE", "unseen") if shows == "text" else ("PASS", "assumed")
    assert (watch.only.verdict, watch.stages[-1].basis) == expected
