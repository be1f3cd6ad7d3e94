"""Under which label a prompt shows each passage."""

from __future__ import annotations

import re

import pytest

from rop_otel.core.prompt import passages_in
from rop_otel.core.prompt.prompt_labels import Labelled, labels_of

TEXTS = [
    "Alpha began in the spring of the year 1912, when the river froze.",
    "Beta [sic] came later, in a summer without rain (see 4).",
    "Gamma is what remained of both.",
]
IDS = ["alpha", "beta#2", "gamma"]


def read(form: str, *, first: int = 1, pattern: str | None = None) -> tuple[str, ...] | None:
    """Return the labels of three passages that a prompt shows in a form."""
    shown = "\n\n".join(form.format(i=first + place, t=text, k=IDS[place]) for place, text in enumerate(TEXTS))
    prompt = (
        f"1. Answer in two sentences [or three].\n2. Cite the sources (1 or more).\n\nContext:\n{shown}\n\nQuestion: 7?"
    )
    found = passages_in([prompt], TEXTS)
    assert found is not None
    passages = [Labelled(each.before, TEXTS[each.place], IDS[each.place]) for each in found]
    return labels_of(passages, pattern=None if pattern is None else re.compile(pattern))


@pytest.mark.parametrize(
    ("form", "labels"),
    [
        ("[{i}] {t}", "{0} {1} {2}"),
        ("[{i}]\n{t}", "{0} {1} {2}"),
        ("[S{i}] {t}", "S{0} S{1} S{2}"),
        ("[doc{i}]: {t}", "doc{0} doc{1} doc{2}"),
        ("[^{i}]: {t}", "^{0} ^{1} ^{2}"),
        ("【{i}】{t}", "【{0}】 【{1}】 【{2}】"),
        ("Source {i}:\n{t}", "{0} {1} {2}"),
        ("Source ID: {i}\nArticle Title: x\nArticle Snippet: {t}", "{0} {1} {2}"),
        ("### Document {i}\n{t}", "{0} {1} {2}"),
        ("Passage #{i} (score 0.5)\n{t}", "{0} {1} {2}"),
        ('<document index="{i}">\n{t}\n</document>', "{0} {1} {2}"),
        ("<doc id='{i}' lang=en>{t}</doc>", "{0} {1} {2}"),
        ("<source_{i}>{t}</source_{i}>", "{0} {1} {2}"),
        ("{i}. {t}", "{0} {1} {2}"),
        ("{i}) {t}", "{0} {1} {2}"),
        ("{i}: {t}", "{0} {1} {2}"),
        ("({i}) {t}", "({0}) ({1}) ({2})"),
        ("[{i}] title: x [y] 12\n{t}", "{0} {1} {2}"),
        ("[citation:{k}] {t}", "citation:alpha citation:beta#2 citation:gamma"),
        ("[{k}] {t}", "alpha beta#2 gamma"),
        ("ID: {k}\n{t}", "alpha beta#2 gamma"),
        ("{k}: {t}", "alpha beta#2 gamma"),
    ],
)
def test_forms(form: str, labels: str) -> None:
    """Each usual form is read, whatever else the prompt holds."""
    assert read(form) == tuple(labels.format(1, 2, 3).split())
    assert read(form, first=0) == tuple(labels.format(0, 1, 2).split())


@pytest.mark.parametrize("form", ["{t}", "- {t}", "Text: {t}", "{k} {t}", "* a {t}"])
def test_no_labels(form: str) -> None:
    """Passages without labels have none."""
    assert read(form) is None


def test_a_pattern() -> None:
    """A form of the application's own is read by its pattern; its first group is the label, else all of it."""
    assert read("~{i}~ {t}", pattern=r"~(\d)~") == ("1", "2", "3")
    assert read("~{i}~ {t}", pattern=r"~\d~") == ("~1~", "~2~", "~3~")
    assert read("[{i}] {t}", pattern=r"~\d~") is None


def test_labels_that_the_texts_begin_with() -> None:
    """A text may hold its own label."""
    passages = [Labelled("", f"Source {number}:\n{text}", "") for number, text in enumerate(TEXTS, 1)]
    assert labels_of(passages) == ("1", "2", "3")


def test_a_label_of_several() -> None:
    """A label that two passages share is read as it is, where no form gives each its own."""
    assert labels_of([Labelled("[1] ", "a", ""), Labelled("[1] ", "b", "")]) == ("1", "1")
    assert labels_of([]) is None


def test_an_id_with_which_a_passage_begins() -> None:
    """A passage may begin with its ID in brackets itself; an ID that only stands in it is no label."""
    begin = [Labelled("", f"[citation:{raw}] {text}", raw) for raw, text in zip(IDS, TEXTS, strict=True)]
    assert labels_of(begin) == ("citation:alpha", "citation:beta#2", "citation:gamma")
    assert labels_of([Labelled("", f"{text} [{raw}]", raw) for raw, text in zip(IDS, TEXTS, strict=True)]) is None
