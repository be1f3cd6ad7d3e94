"""The handoff of the topmost call of a framework, and where its selection comes from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from opentelemetry import baggage
from opentelemetry.context import attach, detach

import rop_otel as rop
from rop_otel import semconv
from rop_otel.core.handoff import Ids
from rop_otel.instrumenting import NOT_DUE, Settings, topmost
from tests.tracing.watched import Watched, retrieve

NOBODY = Settings()


class Questions:
    """A selector that remembers what it was asked."""

    def __init__(self, answer: object) -> None:
        self.asked: list[object] = []
        self._answer = answer

    def __call__(self, inputs: object) -> object:
        self.asked.append(inputs)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


class Hostile(dict[str, object]):
    """A mapping that raises."""

    def __contains__(self, key: object) -> bool:
        raise RuntimeError("not now")


@contextmanager
def received(entry: object) -> Iterator[None]:
    """Be in a request that came with a selection in its baggage."""
    token = attach(baggage.set_baggage(semconv.SELECTED_IDS, entry))
    try:
        yield
    finally:
        detach(token)


def selected(watched: Watched) -> Ids | None:
    """Return what was selected in the only handoff."""
    (record,) = watched.heard.records
    return record.selected


def test_a_call_is_a_handoff(watched: Watched) -> None:
    """Where none is open, the block is a handoff of the framework's name, which it ends."""
    with topmost(NOBODY, name="RetrievalChain") as handoff:
        assert rop.current_handoff() is handoff
        retrieve("a", packed=("a",))
    assert watched.assessment.handoff_name == "RetrievalChain"
    assert [stage.kind for stage in watched.stages()] == ["vector", "packing"]


def test_settings_name_the_handoff_and_cut_it(watched: Watched) -> None:
    """The settings' name and cutoff are those of the handoff."""
    with topmost(Settings(handoff="docs-qa", cutoff=3), name="RetrievalChain"):
        pass
    (record,) = watched.heard.records
    assert (record.name, record.cutoff) == ("docs-qa", 3)


def test_an_open_handoff_is_taken(watched: Watched) -> None:
    """Inside the application's own handoff the block neither renames nor ends it, and changes no selection."""
    with rop.handoff("mine", selected="a") as mine:
        with topmost(Settings(handoff="other", selected_by=Questions("b")), name="chain") as handoff:
            assert handoff is mine
        assert mine.assessment.verdict is None
    assert selected(watched) == ("a",)


def test_an_open_handoff_without_selection_is_told_one(watched: Watched) -> None:
    """The application's own handoff gets the selection where it has none."""
    with rop.handoff("mine"), topmost(Settings(selected_by=Questions("b")), name="chain"):
        pass
    assert selected(watched) == ("b",)


def test_a_block_knows_whether_the_handoff_is_its_own(watched: Watched) -> None:
    """A package answers a handoff only where its block opened it, not the application or a call around it."""
    outer, inner = topmost(NOBODY, name="outer"), topmost(NOBODY, name="inner")
    with outer, inner:
        assert (outer.owns, inner.owns) == (True, False)


def test_a_selection_that_did_not_come_stays(watched: Watched) -> None:
    """Where the application says that its selector found nothing, nobody else is asked."""
    questions = Questions("b")
    with rop.handoff("mine", selected=None), topmost(Settings(selected_by=questions), name="chain"):
        pass
    assert (selected(watched), questions.asked) == ((), [])


def test_an_ended_handoff_is_not_taken(watched: Watched) -> None:
    """What runs on in the context of a handoff that has ended is a handoff of its own."""
    ended = rop.start_handoff("mine")
    with ended:
        ended.close()
        with topmost(NOBODY, name="chain") as handoff:
            assert handoff is not ended
    assert [each.handoff_name for each in watched.heard.assessments] == ["mine", "chain"]


def test_calls_inside_belong_to_the_topmost(watched: Watched) -> None:
    """Calls nest: one handoff, whose selector is asked once, with the inputs of the outermost."""
    questions = Questions(None)
    settings = Settings(selected_by=questions)
    with topmost(settings, name="outer", inputs="first") as outer:
        with topmost(settings, name="inner", inputs="second") as inner:
            assert inner is outer
        assert outer.assessment.verdict is None
    assert questions.asked == ["first"]
    assert watched.assessment.verdict is rop.Verdict.SELECTOR_ERROR


@pytest.mark.parametrize(("answer", "ids"), [("a", ("a",)), (["a", "b"], ("a", "b")), (None, ()), (NOT_DUE, None)])
def test_a_selector_selects(watched: Watched, answer: object, ids: Ids | None) -> None:
    """A selector returns an ID, alternatives, None where none came, or that none was due."""
    with topmost(Settings(selected_by=Questions(answer)), name="chain"):
        pass
    assert selected(watched) == ids


def test_what_a_selector_retrieves_belongs_to_no_handoff(watched: Watched) -> None:
    """A selector that retrieves by the same framework is asked once, and its documents are nobody's."""
    asked: list[object] = []

    def linked(inputs: object) -> str:
        asked.append(inputs)
        with topmost(settings, name="linker", inputs="within"):
            retrieve("a", packed=("a",))
        return "a"

    settings = Settings(selected_by=linked)
    with topmost(settings, name="chain", inputs="first"):
        retrieve("b", packed=("b",))
    with rop.handoff("mine"), topmost(settings, name="chain", inputs="second"):
        retrieve("b", packed=("b",))
    assert asked == ["first", "second"]
    assert [each.handoff_name for each in watched.heard.assessments] == ["chain", "mine"]
    assert {each.drop_cause for each in watched.heard.assessments} == {rop.DropCause.NEVER_RETRIEVED}
    assert [len(record.stages) for record in watched.heard.records] == [2, 2]


def test_a_selector_that_raises_harms_nothing(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """The handoff goes on without a selection; the error is counted each time and logged once."""
    settings = Settings(selected_by=Questions(KeyError("question")))
    with caplog.at_level(logging.WARNING, "rop_otel"):
        for _ in range(2):
            with topmost(settings, name="chain"):
                retrieve("a", packed=("a",))
    assert [record.selected for record in watched.heard.records] == [None, None]
    assert [len(record.stages) for record in watched.heard.records] == [2, 2]
    assert watched.errors("handoff") == 2
    assert len(caplog.records) == 1


def test_a_selector_in_a_program_that_exits(watched: Watched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Importing the program that a selector is in may run it, and it may exit: the application does not."""
    (tmp_path / "exiting_program.py").write_text("raise SystemExit(2)")
    monkeypatch.syspath_prepend(tmp_path)
    with topmost(Settings.resolve(selected_by="exiting_program:select"), name="chain"):
        retrieve("a", packed=("a",))
    assert selected(watched) is None
    assert watched.errors("handoff") == 1


def test_a_selector_that_raises_is_not_asked_again(watched: Watched) -> None:
    """Calls inside ask no selector that has failed for the topmost one: they have other inputs."""
    questions = Questions(KeyError("question"))
    settings = Settings(selected_by=questions)
    with topmost(settings, name="outer", inputs="first"), topmost(settings, name="inner", inputs="second"):
        pass
    assert questions.asked == ["first"]


def test_inputs_that_raise_harm_nothing(watched: Watched) -> None:
    """A mapping whose own code raises leaves the handoff without a selection, and no more."""
    with topmost(Settings(selected_key="page"), name="chain", inputs=Hostile()):
        retrieve("a", packed=("a",))
    assert selected(watched) is None
    assert len(watched.stages()) == 2
    assert watched.errors("handoff") == 1


def test_a_selector_that_is_a_coroutine_is_no_selector(watched: Watched) -> None:
    """Nothing could wait for it; that is counted, and no coroutine is left unawaited."""

    async def later(inputs: object) -> str:
        return "a"

    with topmost(Settings(selected_by=later), name="chain"):
        pass
    assert selected(watched) is None
    assert watched.errors("handoff") == 1


@pytest.mark.parametrize(
    ("inputs", "metadata", "ids"),
    [
        ({"page": "inputs"}, {"page": "metadata"}, ("metadata",)),
        ({"page": "inputs"}, {"other": 1}, ("inputs",)),
        ({"page": None}, None, ()),
        ("a question", None, None),
        ({}, {}, None),
    ],
)
def test_a_key_selects(watched: Watched, inputs: object, metadata: dict[str, object] | None, ids: Ids | None) -> None:
    """The key is looked for in the metadata, then in the inputs; where it is nowhere, no selection is due."""
    with topmost(Settings(selected_key="page"), name="chain", inputs=inputs, metadata=metadata):
        pass
    assert selected(watched) == ids


@pytest.mark.parametrize(
    ("entry", "ids"), [("a", ("a",)), ("a,b", ("a", "b")), ("a%2Cb,100%25", ("a,b", "100%")), ("", None), (7, None)]
)
def test_baggage_selects(watched: Watched, entry: object, ids: Ids | None) -> None:
    """The calling service's selection is one ID, or several with commas; anything else is none."""
    with received(entry), topmost(NOBODY, name="chain"):
        pass
    assert selected(watched) == ids


def test_too_much_baggage_is_ignored(watched: Watched) -> None:
    """A selection of a size that nobody selects is not taken in part: half of it would be another one."""
    with received("a" * 3000), topmost(NOBODY, name="chain"):
        pass
    assert selected(watched) is None
    assert watched.errors("handoff") == 1


def test_the_selector_comes_before_the_key_and_the_key_before_baggage(watched: Watched) -> None:
    """What the application says here goes before what its caller says."""
    settings = Settings(selected_by=Questions("selector"), selected_key="page")
    with received("baggage"):
        with topmost(settings, name="chain", inputs={"page": "key"}):
            pass
        with topmost(Settings(selected_key="page"), name="chain", inputs={"page": "key"}):
            pass
        with topmost(Settings(selected_key="page"), name="chain", inputs={}):
            pass
    assert [record.selected for record in watched.heard.records] == [("selector",), ("key",), ("baggage",)]


def test_the_applications_exception_passes(watched: Watched) -> None:
    """An exception of the call is the application's; the handoff is assessed all the same."""
    error = RuntimeError("the application's own")
    with pytest.raises(RuntimeError) as raised, topmost(NOBODY, name="chain"):
        raise error
    assert raised.value is error
    assert watched.assessment.handoff_name == "chain"


def test_switched_off_nothing_is_asked(watch: Callable[..., Watched]) -> None:
    """Where monitoring is off, the selector is not called."""
    watch(enabled=False)
    questions = Questions("a")
    with topmost(Settings(selected_by=questions), name="chain") as handoff:
        assert handoff.assessment.note == "monitoring is off"
    assert questions.asked == []


def test_strict_misuse_does_not_raise(watch: Callable[..., Watched]) -> None:
    """Even in strict mode a block that a framework's user did not write raises nothing."""
    watched = watch(strict=True)
    with topmost(Settings(selected_by=Questions(object())), name="chain"):
        pass
    assert watched.errors("handoff") >= 1
