"""What a prompt shows, recorded by hand-written code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import pytest

import rop_otel as rop
from rop_otel.tracing.stages.prompting import ShownIn
from tests.tracing.watched import Watched

TEXTS = {
    "a": "Alpha began in the spring of the year when the river froze and the mill stood still for weeks.",
    "b": "Beta came later, in a summer without rain; nobody had seen the like of it in thirty years or more.",
    "c": "Gamma is what remained of both once the harvest was over and the last cart had left the village.",
}
QUESTION = "When did the river freeze?"


@dataclass(frozen=True)
class Page:
    """A document."""

    id: str
    content: str | None


PAGES = [Page(key, text) for key, text in TEXTS.items()]


def packed(prompt: str | Iterable[str], results: Any = PAGES, **given: Unpack[ShownIn]) -> rop.Assessment:
    """Return what is concluded of a handoff whose selected page is b."""
    with rop.handoff("qa", selected="b") as handoff:
        with rop.using_stage("vector") as stage:
            stage.returned(results)
        with rop.using_stage("packing", input=results) as stage:
            stage.shown_in(prompt, results, **given)
    return handoff.assessment


def test_what_a_prompt_holds_is_shown(watched: Watched) -> None:
    """The prompt's own order, labels and shares are recorded, whatever was handed over."""
    found = packed(f"[1] {TEXTS['c']}\n[2] {TEXTS['b'][:60]}\n\nQuestion: {QUESTION}", beside=[QUESTION])
    assert str(found.verdict) == "PASS"
    packing = watched.stage("packing")
    assert packing.returned == ("c", "b")
    assert packing.labels == ("1", "2")
    assert packing.basis == "prompt"
    assert packing.shares is not None
    assert packing.shares[0] == 1
    assert packing.shares[1] == pytest.approx(0.6, abs=0.1)


def test_who_asks_is_told_what_is_shown(watched: Watched) -> None:
    """The method returns it, and nothing where it cannot be decided or nothing is recorded."""
    with rop.handoff("qa"), rop.using_stage("packing") as stage:
        shown = stage.shown_in(f"[1] {TEXTS['b']}", PAGES)
        assert shown is not None
        assert (shown.documents, shown.labels) == ([PAGES[1]], ("1",))
    assert rop.current_handoff().running_stage.shown_in(TEXTS["b"], PAGES) is None


def test_a_document_that_is_not_in_the_prompt_is_lost(watched: Watched) -> None:
    """The recorded list is what the prompt holds, not what the application meant to show."""
    found = packed([f"Context: {TEXTS['a']}", QUESTION])
    assert str(found.verdict) == "FAIL"
    assert found.dropped_at == "packing"


@pytest.mark.parametrize("prompt", ["", f"Context:\n\nQuestion: {QUESTION}", "Context: {context}"])
def test_a_prompt_without_documents(watched: Watched, prompt: str) -> None:
    """A prompt that lost its context has no PASS, and its basis says why."""
    assert str(packed(prompt).verdict) != "PASS"
    packing = watched.stage("packing")
    assert packing.basis == "unseen"
    assert packing.shares == (0, 0, 0)


def test_what_cannot_be_decided_has_no_verdict(watched: Watched) -> None:
    """Documents without text, and parts that belong to several alike, are no PASS and no FAIL."""
    assert str(packed("anything", [Page("a", None), Page("b", None)]).verdict) == "UNVERIFIABLE"
    title = "The handbook of the third edition, chapter on water and on what it drives. "
    twins = [Page("a", title + TEXTS["a"]), Page("b", title + TEXTS["b"])]
    assert str(packed(title, twins).verdict) == "UNVERIFIABLE"


def test_what_was_said_before_does_not_count(watched: Watched) -> None:
    """What the prompt shows takes the place of a list that was returned before, also where it cannot be decided."""
    with rop.handoff("qa", selected="b") as handoff, rop.using_stage("packing") as stage:
        stage.returned(PAGES, labels=["1", "2", "3"])
        stage.shown_in("anything", [Page("b", None)], tokens=7, token_budget=100)
    assert str(handoff.assessment.verdict) == "UNVERIFIABLE"
    packing = watched.stage("packing")
    assert (packing.returned, packing.labels, packing.tokens, packing.token_budget) == (None, None, 7, 100)


def test_nothing_was_handed_over(watched: Watched) -> None:
    """Without documents a prompt shows none, which is known."""
    with rop.handoff("qa", selected="b") as handoff, rop.using_stage("packing") as stage:
        stage.shown_in("Question", [])
    assert str(handoff.assessment.verdict) == "FAIL"


@pytest.mark.parametrize(
    ("results", "where"),
    [
        ([{"id": key, "body": text} for key, text in TEXTS.items()], "body"),
        ([{"id": key, "text": text} for key, text in TEXTS.items()], None),
        (list(TEXTS), TEXTS.__getitem__),
        (PAGES, lambda page: page.content),
    ],
)
def test_where_the_text_is(watched: Watched, results: Any, where: Any) -> None:
    """The text of a document is found by the usual names, a name or a callable."""
    assert str(packed(f"Context: {TEXTS['b']}", results, text=where).verdict) == "PASS"
    assert watched.stage("packing").returned == ("b",)


def test_labels_of_another_form(watched: Watched) -> None:
    """A pattern says how passages are labelled."""
    packed(f"<<x1>> {TEXTS['b']}", label_pattern=re.compile(r"<<(\w+)>>"))
    assert watched.stage("packing").labels == ("x1",)


def test_a_text_that_raises_is_kept_from_the_application(watched: Watched) -> None:
    """Whatever a callable or a document does, the application goes on, without a verdict."""

    def broken(_: object) -> str:
        raise KeyError("text")

    assert str(packed("anything", text=broken).verdict) == "UNVERIFIABLE"


@pytest.mark.parametrize(
    ("prompt", "results"),
    [
        (None, PAGES),
        ([1, 2], PAGES),
        (b"some words", PAGES),
        ("x", iter(PAGES)),
        ("x", {"a": 1}),
        ("x", object()),
        ("x", None),
        ("x", [PAGES, PAGES]),
        ("\ud800 x", PAGES),
    ],
)
def test_odd_prompts_and_results_are_no_pass(watched: Watched, prompt: Any, results: Any) -> None:
    """Whatever is given, nothing raises into the application, and nothing that was not seen counts as shown."""
    with rop.handoff("qa", selected="b") as handoff, rop.using_stage("packing") as stage:
        stage.shown_in(prompt, results)
    assert str(handoff.assessment.verdict) == "UNVERIFIABLE"


def test_off() -> None:
    """Where monitoring is off nothing is looked for."""
    with rop.using_stage("packing") as stage:
        stage.shown_in("anything", object())  # type: ignore[arg-type]
