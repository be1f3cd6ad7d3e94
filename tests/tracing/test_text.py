"""Strings that are text where IDs are looked for, and what is said of exceptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rop_otel as rop
from rop_otel import semconv
from rop_otel.core.idshape import IdShape
from tests.tracing.watched import Watched, hits

Watch = Callable[..., Watched]
WORDY = "one two three four five six seven eight nine ten eleven twelve"


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("", True),
        ("a" * 200, True),
        ("a" * 201, False),
        (WORDY, True),
        (f"{WORDY} thirteen", False),
        (f"{WORDY}\u3000thirteen", False),
        ("a\nb", False),
        ("a\n", False),
        ("a\rb", False),
        ("a\u2028b", False),
        ("a\tb", True),
        ("Größe 12 (Übersicht).pdf#3", True),
    ],
)
def test_what_an_id_may_be(text: str, fits: bool) -> None:
    """Up to 200 characters and 12 words without a line break, also among others."""
    assert IdShape().fit([text]) is IdShape().fit(["doc-1", text, "doc-2"]) is fits


def test_long_lists_of_short_titles_are_ids() -> None:
    """Words count for each string, not for the list."""
    assert IdShape().fit([f"Title number {number} of the collection" for number in range(100)])


@pytest.mark.parametrize("text", ["first line\nsecond line", f"{WORDY} thirteen", "x" * 201])
def test_a_list_with_text_is_unreadable(watched: Watched, caplog: pytest.LogCaptureFixture, text: str) -> None:
    """One passage among IDs makes the stage ``ids_unreadable``; the log says once what to do, without the text."""
    for _ in range(2):
        with rop.handoff("qa", selected="a") as handoff, rop.using_stage("vector") as stage:
            stage.returned(["a", text], scopes=["t", "t"], scores=[1.0, 0.5])
    assert [finding.code for finding in handoff.assessment.findings] == ["ids_unreadable"]
    assert handoff.assessment.verdict is rop.Verdict.UNVERIFIABLE
    assert semconv.RETURNED_IDS not in (watched.spans[0].attributes or {})
    assert watched.errors("ids") == 2
    [message] = caplog.messages
    assert "it returned text where IDs are looked for" in message
    assert "is no stage" in message
    assert text not in message


def test_text_takes_the_place_of_what_was_told_before(watched: Watched) -> None:
    """A second list that is text leaves nothing of the first one."""
    with rop.handoff("qa"), rop.using_stage("vector") as stage:
        stage.returned(hits("a", "b"))
        stage.returned(["a\nb"])
    record = watched.stage("vector")
    assert (record.returned, record.scores, record.returned_count) == (None, None, None)


def test_yielded_text_is_unreadable(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """A generator that yields passages is no stage that returns IDs."""

    @rop.stage("vector")
    def search() -> Iterator[str]:
        yield "a"
        yield f"{WORDY} thirteen"

    with rop.handoff("qa"):
        assert len(list(search())) == 2
    assert watched.stage("vector").returned is None
    assert "it yields text" in caplog.text


def test_text_as_input_is_not_recorded(watched: Watched) -> None:
    """What a stage is handed is unknown where it is text, and that is a mishap."""
    with rop.handoff("qa"), rop.using_stage("rerank", input=["a", "b\nc"]) as stage:
        stage.returned(["a"])
    assert (watched.stage("rerank").input, watched.errors("input")) == (None, 1)


@pytest.mark.parametrize("told", [{"labels": ["a\nb"]}, {"scopes": ["a\nb"]}])
def test_labels_and_scopes_that_are_text_are_left_out(watched: Watched, told: dict[str, Any]) -> None:
    """A label may be a title, and is no passage."""
    with rop.handoff("qa"), rop.using_stage("packing") as stage:
        stage.returned(["a"], **told)
    record = watched.stage("packing")
    assert (record.returned, record.labels, record.scopes, watched.errors("stage")) == (("a",), None, None, 1)


def test_citations_that_are_text_are_none(watched: Watched) -> None:
    """Of the citations told, passages are left out and labels stay."""
    with rop.handoff("qa") as handoff:
        handoff.answered("It is so.", citations=["S1", f"{WORDY} thirteen"])
    assert watched.stage("reader").citations == ("S1",)


def test_selected_and_judged_text_are_unusable(watched: Watched) -> None:
    """A selected passage is an unusable selection, and a judged one is ignored."""
    with rop.handoff("qa", selected="a\nb", judged=["c\nd", "e"]) as handoff:
        pass
    assert handoff.assessment.verdict is rop.Verdict.SELECTOR_ERROR
    assert watched.heard.records[0].judged == ("e",)
    assert watched.errors("handoff") == 2


def test_the_settings_say_what_an_id_may_be(watch: Watch) -> None:
    """Longer IDs, of more words or several lines, are IDs where that is set."""
    ids = ("x" * 201, f"{WORDY} thirteen", "a\nb")
    watched = watch(max_id_length=300, max_id_words=13, id_line_breaks=True)
    with rop.handoff("qa"), rop.using_stage("vector") as stage:
        stage.returned(list(ids))
    assert watched.stage("vector").returned == ids


def rewriting(**arguments: Any) -> Callable[[list[str]], list[str]]:
    @rop.stage("rewrite", **arguments)
    def rewrite(questions: list[str]) -> list[str]:
        return questions

    return rewrite


def test_rewritten_questions_are_text(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """Short questions look like IDs; nothing knows them as such, so they are not recorded."""
    with rop.handoff("qa"):
        rewriting()(["who waits", "wait for whom"])
        rewriting(input_arg="questions")(["who waits"])
    assert [(stage.returned, stage.input) for stage in watched.stages()] == [(None, None)] * 2
    assert "source=True" in caplog.text


@pytest.mark.parametrize("key", [None, b"key"])
def test_titles_that_are_known_as_ids_stay_ids(watch: Watch, key: bytes | None) -> None:
    """Titles of a source, or of a stage before, are IDs of several words for a stage of a kind of its own, too."""
    watched = watch(hash_key=key)
    with rop.handoff("qa"):
        rewriting(source=True)(["New York", "Boston"])
        rewriting(input_arg="questions")(["New York"])
        rewriting()(["Boston", "New York"])
    assert [len(stage.returned or ()) for stage in watched.stages()] == [2, 1, 2]
    assert [len(stage.input or ()) for stage in watched.stages()] == [0, 1, 0]


@pytest.mark.parametrize("captures", [False, True])
def test_an_exception_is_its_type_unless_text_is_asked_for(watch: Watch, captures: bool) -> None:
    """Messages and stack traces quote documents: spans have them where ``capture_text`` says so."""
    watched = watch(capture_text=captures)
    with pytest.raises(LookupError), rop.handoff("qa"), rop.using_stage("vector"):
        raise LookupError("doc-1")
    for span in watched.spans:
        [event] = span.events
        attributes = dict(event.attributes or {})
        assert (event.name, attributes["exception.type"]) == ("exception", "LookupError")
        assert ({"exception.message", "exception.stacktrace"} <= set(attributes)) is captures
        assert (span.status.description, len(attributes) > 1) == ("LookupError", captures)


def test_what_was_text_is_text_again(watched: Watched) -> None:
    """A question that a stage of its own is handed, and returns, is no ID the second time either."""
    with rop.handoff("qa", selected="a"):
        for _ in range(2):
            with rop.using_stage("rewrite", input=["What is it?"]) as stage:
                stage.returned(["What is it?"])
    assert [(each.input, each.returned) for each in watched.stages()] == [(None, None)] * 2


def test_titles_that_a_source_returned_are_ids_for_the_next_stage(watched: Watched) -> None:
    """Strings of several words are IDs where a stage before returned them, the same list or part of it."""
    titles = ["New York City", "San Francisco Bay"]
    with rop.handoff("qa", selected=titles[0]):
        with rop.using_stage("vector") as stage:
            stage.returned(titles)
        with rop.using_stage("pick", input=titles) as stage:
            stage.returned(titles[:1])
    assert [each.returned for each in watched.stages()] == [tuple(titles), tuple(titles[:1])]
    assert watched.stages()[1].input == tuple(titles)
