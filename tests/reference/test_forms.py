"""Query forms: what is looked for, and why nothing can be."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from rop_otel.core.ranking import Lost, StudyRow
from rop_otel.errors import ConfigurationError
from rop_otel.reference.forms import find_form
from rop_otel.reference.named_callable import NamedCallable, load_named

LINKED = [{"cell": "the dam builder", "link": "/beaver"}, {"cell": "other", "link": "/otter"}]


def row(**fields: Any) -> StudyRow:
    return StudyRow(
        id="q1",
        selector="s",
        question=fields.pop("question", "Who builds dams?"),
        selected_id=fields.pop("selected_id", "/beaver"),
        selected_title=fields.pop("selected_title", "Beaver"),
        fields=fields,
    )


@pytest.mark.parametrize(
    ("form", "given", "query"),
    [
        ("question", row(), "Who builds dams?"),
        ("question", row(question=None), Lost("no_question")),
        ("question", row(selected_id=None, selected_title=None), "Who builds dams?"),
        ("title", row(), "Beaver"),
        ("title", row(selected_id=None, selected_title=None), Lost("no_selection")),
        ("title", row(selected_title=None), Lost("unresolved_selection")),
        ("cell", row(selected_cell="beavers", answer_nodes=LINKED), "beavers"),
        ("cell", row(answer_nodes=LINKED), "the dam builder"),
        ("cell", row(answer_nodes=LINKED, selected_title=None), "the dam builder"),
        ("cell", row(answer_nodes=[*LINKED[1:], "no object"]), Lost("no_cell")),
        ("cell", row(answer_nodes={"cell": "x"}), Lost("no_cell")),
        ("cell", row(selected_cell="beavers", selected_id=None), Lost("no_selection")),
        ("rewrite", row(rewrite="animal that builds dams"), "animal that builds dams"),
        ("rewrite", row(rewrite=None), Lost("no_rewrite")),
        ("retrieval_fact", row(retrieval_fact="Beaver"), "Beaver"),
        ("retrieval_fact", row(), Lost("no_retrieval_fact")),
    ],
)
def test_form_gives_a_query_or_a_reason(form: str, given: StudyRow, query: str | Lost) -> None:
    """Every form gives the text to look for, or the reason that the accounting names."""
    assert find_form(form).query(given) == query


@pytest.mark.parametrize(
    ("returned", "query"),
    [
        (lambda record: record["hint"].upper(), "DAMS"),
        (lambda record: None, Lost("no_mine")),
        (lambda record: 7, Lost("form_failed: int is no text")),
        (lambda record: record["absent"], Lost("form_failed: KeyError")),
        (lambda record: sys.exit(3), Lost("form_failed: SystemExit")),
        (lambda record: "half a pair \ud800", Lost("form_failed: half of a surrogate pair is no text")),
    ],
)
def test_own_form_loses_only_its_row(returned: Any, query: str | Lost) -> None:
    """A form of one's own sees the record as it was given; where it fails, the row has a reason."""
    form = find_form("mine", NamedCallable(name="mine", call=returned, sha256=None))
    assert form.query(row(hint="dams")) == query


def test_unknown_form_is_named() -> None:
    """A form that does not exist is an error that lists those that do."""
    with pytest.raises(ConfigurationError, match="unknown query form 'titel'; there are question, title, cell"):
        find_form("titel")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["=json:dumps"], "is not of the form"),
        (["a b=json:dumps"], "is not of the form"),
        (["mine=json"], "a function is named as module:function"),
        (["mine=json:absent"], "AttributeError"),
        (["mine=no_such_module:f"], "ModuleNotFoundError"),
        (["mine=json:__name__"], "is no function but str"),
        (["dense=json:dumps"], "the name 'dense' is taken"),
        (["mine=json:dumps", "mine=json:loads"], "the name 'mine' is taken"),
    ],
)
def test_function_that_cannot_be_used_is_named(texts: list[str], message: str) -> None:
    """What is wrong with the name of a function of one's own is one sentence."""
    with pytest.raises(ConfigurationError, match=message):
        load_named(texts, taken={"dense"})
