"""A mark in every text that an application hands over, looked for in everything that leaves the process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import rop_otel as rop
from rop_otel import semconv
from rop_otel.core.profile import Resolver
from tests.safety.recorded import Recorded

Record = Callable[..., Recorded]

MARK = "CANARY"
PASSAGE = f"{MARK} was admitted on Monday with a fever, and the nurse of ward four noted all that she said"
LETTER = f"{MARK}\nward four"
BLOB = f"{MARK}{'x' * 300}"
QUESTION = f"who is {MARK}"
TEXTS = (PASSAGE, LETTER, BLOB)
RAW = "RAWID"

hashing = pytest.mark.parametrize("key", [None, "secret"], ids=["plain", "hashed"])


class Page:
    """A document that shows its text wherever it is looked at."""

    def __init__(self, raw: object, text: str = PASSAGE) -> None:
        self.id = raw
        self.text = self.page_content = text
        self.metadata = {"title": text, "summary": [text]}
        self.score = 0.5

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__


class BareError(Exception):
    """An exception that quotes what it failed on."""


def quoting() -> BareError:
    error = BareError(PASSAGE, LETTER)
    error.add_note(BLOB)
    error.__cause__ = ValueError(QUESTION)
    return error


def fail(*_: object, **__: object) -> Any:
    raise quoting()


class Refusing:
    """An object of which each use raises, with text in the message."""

    def __repr__(self) -> str:
        raise quoting()

    __str__ = __len__ = __iter__ = __bool__ = __getitem__ = __index__ = __float__ = __hash__ = __repr__  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        raise quoting()


class BrokenResolver(Resolver):
    """A resolver that quotes what it was asked."""

    def resolve(self, raw: str) -> str | None:
        raise KeyError(f"{PASSAGE} {raw}")

    canonical = resolve  # type: ignore[assignment]


@rop.stage("vector")
def passages(question: str) -> list[str]:
    return list(TEXTS)


@rop.stage("vector")
async def passages_later(question: str) -> list[str]:
    return [PASSAGE, "d1"]


@rop.stage("lexical")
def yielded(question: str) -> Iterator[str]:
    yield "d1"
    yield LETTER


@rop.stage("lexical")
async def yielded_later(question: str) -> Any:
    yield BLOB


@rop.stage("rewrite")
def rewritten(question: str) -> list[str]:
    return [QUESTION, f"{MARK} ward"]


@rop.stage("rewrite", input_arg="questions")
def rewritten_again(questions: Sequence[str]) -> Iterator[str]:
    yield from questions


@rop.stage("vector", id="text", scope="text")
def texts_as_ids(question: str) -> list[Page]:
    return [Page("d1"), Page("d2", LETTER)]


@rop.stage("vector", id=lambda page: page.page_content, scope=lambda page: page.page_content)
def texts_by_call(question: str) -> list[Page]:
    return [Page("d1", BLOB)]


@rop.stage("vector", id=fail, score=fail, scope=fail)
def failing_parts(question: str) -> list[Page]:
    return [Page("d1")]


@rop.stage("vector", input_arg=fail, top_k_arg="question")
def failing_input(question: str) -> list[Page]:
    return [Page("d1")]


@rop.stage("rerank", input_arg="pages")
def failing(question: str, pages: object) -> list[Page]:
    raise quoting()


@rop.stage("rerank", input_arg="pages", top_k_arg="question")
async def failing_later(question: str, pages: object) -> list[Page]:
    raise quoting()


@rop.stage("rerank")
def failing_midway(question: str) -> Iterator[Page]:
    yield Page("d1")
    raise quoting()


@rop.stage("answer")
def answered(question: str) -> object:
    return {"answer": PASSAGE, "documents": [PASSAGE]}


@rop.stage("answer")
def answered_in_one(question: str) -> str:
    return PASSAGE


PLAIN: tuple[Callable[[str], Any], ...] = (
    passages,
    yielded,
    rewritten,
    texts_as_ids,
    texts_by_call,
    failing_parts,
    failing_input,
    failing_midway,
    answered,
    answered_in_one,
)


def pipeline() -> None:
    """Run each kind of stage, and hand its results on."""
    for search in PLAIN:
        with suppress(BareError):
            list(search(QUESTION))
    with suppress(BareError):
        failing(QUESTION, [Page("d1"), PASSAGE])
    list(rewritten_again([QUESTION]))
    with rop.using_stage("packing", input=[Page("d1")]) as stage:
        stage.returned([Page("d1"), Page("d2")], labels=[PASSAGE, LETTER], scopes=[BLOB, LETTER])
    with rop.using_stage("packing", input=list(TEXTS)) as stage:
        stage.returned(list(TEXTS), labels=["S1", "S2", "S3"], scores=[1, 0.5, 0.2])


async def pipeline_later() -> None:
    """Do the same in a task."""
    await passages_later(QUESTION)
    [each async for each in yielded_later(QUESTION)]
    with suppress(BareError):
        await failing_later(PASSAGE, [PASSAGE])
    pipeline()


def misuse(wrong: Any) -> None:
    """Give something wrong, which may hold text, to each argument of each public call."""
    for name in ("cutoff", "rule", "mode", "judged", "grades", "record_id", "run_id", "scope", "expected"):
        answer_wrongly(wrong, **{name: wrong})
    answer_wrongly(wrong, starved_ratio=wrong, judged=["d1"], grades=[wrong])
    answer_wrongly(wrong, judged={"d1": wrong, PASSAGE: 1, Page(PASSAGE): 2})
    for name in ("name", "source", "fed_by", "id", "score", "scope", "data_source", "query_form", "implementation"):
        stage_wrongly(wrong, **{name: wrong})
    unusable: Any = Page("d1")
    rop.run(wrong, expected=wrong, deadline=wrong, journal=unusable).close()
    with rop.using_round(wrong):
        pass


def answer_wrongly(wrong: Any, **arguments: Any) -> None:
    with rop.handoff(wrong, **arguments), rop.handoff("qa", selected=wrong) as handoff:
        handoff.select([wrong, "d1"])
        handoff.answered(wrong, sources=wrong, labels=wrong, citations=wrong)
        handoff.answered(f"{PASSAGE} [S1] [{PASSAGE}]", sources=[wrong], labels=[wrong], citations=[wrong])
        handoff.select(wrong)


def stage_wrongly(wrong: Any, **arguments: Any) -> None:
    with rop.handoff("qa", selected="d1"):
        with rop.using_stage(wrong, **arguments) as stage:
            stage.returned(wrong)
        with rop.using_stage("vector", input=wrong, **arguments) as stage:
            stage.input(wrong, [wrong])
            stage.implementation(wrong, fallback=wrong)
            stage.query_form(wrong)
            numbers: Any = {"tokens": wrong, "token_budget": wrong, "id_tokens": wrong, "scores": [wrong]}
            stage.returned([wrong], labels=[wrong], scopes=wrong, **numbers)


@hashing
def test_texts_of_a_pipeline_stay_inside(record: Record, key: str | None) -> None:
    """Passages, rewritten questions, documents, labels and exceptions of a pipeline leave nothing but types."""
    recorded = record(hash_key=key, openinference=True)
    with suppress(BareError), rop.handoff("qa", selected="d1", judged=["d1"]) as handoff:
        pipeline()
        handoff.answered(PASSAGE, sources=list(TEXTS), labels=list(TEXTS), citations=[PASSAGE])
        fail()
    pipeline()
    asyncio.run(pipeline_later())
    with rop.handoff("tasks", selected=PASSAGE):
        asyncio.run(pipeline_later())
    assert recorded.places_of(MARK) == []
    assert {"BareError"} == {span.status.description for span in recorded.spans.get_finished_spans()} - {None}


@hashing
@pytest.mark.parametrize("enabled", [True, False])
def test_wrong_arguments_stay_inside(record: Record, key: str | None, enabled: bool) -> None:
    """Whatever is handed to a public call in the wrong place is neither recorded nor quoted, and raises nothing."""
    recorded = record(hash_key=key, enabled=enabled)
    for wrong in (*TEXTS, Page("d1"), [PASSAGE], {PASSAGE: PASSAGE}, Refusing(), quoting()):
        misuse(wrong)
    assert recorded.places_of(MARK) == []


def test_failures_of_our_own_quote_nothing(record: Record) -> None:
    """Where a resolver raises in the middle of our code, the log says where and with which type."""
    recorded = record(resolver=BrokenResolver({"d1": ["d1"]}))
    with rop.handoff("qa", selected=RAW), rop.using_stage("vector") as stage:
        stage.returned([RAW])
    assert recorded.places_of(MARK) == []
    assert recorded.places_of("KeyError")


@hashing
def test_spans_of_others_are_not_repeated(record: Record, key: str | None) -> None:
    """Of texts on spans of other libraries nothing gets into our own spans, events, metrics and log lines."""
    recorded = record(hash_key=key, foreign_selected="app.selected", foreign_labels="app.labels")
    start = recorded.foreign.start_as_current_span
    lists = (semconv.RETURNED_IDS, semconv.INPUT_IDS, semconv.CONTEXT_LABELS, semconv.ANSWER_CITATIONS)
    words = (semconv.STAGE, semconv.STAGE_NAME, semconv.QUERY_FORM, semconv.STAGE_IMPLEMENTATION)
    for text in TEXTS:
        said: dict[str, Any] = {name: [text, text] for name in (*lists, semconv.RETURNED_SCOPES)}
        said |= dict.fromkeys(words, text)
        whole: dict[str, Any] = dict.fromkeys((semconv.RECORD_ID, semconv.SCOPE_ID, semconv.MODE, semconv.RULE), text)
        whole |= {semconv.SELECTED_IDS: [text], semconv.JUDGED_IDS: [text], semconv.EXPECTED_STAGES: [text]}
        found = {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.id": text}
        with start(text, attributes={semconv.HANDOFF_NAME: text, **whole}), start(text, attributes=said):
            pass
        with start(text, attributes={"app.selected": text}), start(text, attributes={**found, "app.labels": [text]}):
            pass
        with rop.handoff("qa", selected="d1"), start("search", attributes=said), start("find", attributes=found):
            pass
    assert recorded.places_of(MARK) == []
    assert len([span for span in recorded.spans.get_finished_spans() if span.name == semconv.SPAN_ASSESSMENT]) == 6


@pytest.mark.parametrize("asynchronous", [False, True])
def test_raw_ids_stay_inside(record: Record, tmp_path: Path, asynchronous: bool) -> None:
    """With a key no ID leaves as it was given: selected, judged, handed, returned, cited, of scopes, of others."""
    recorded = record(hash_key="secret", openinference=True, resolver=Resolver({f"{RAW}-1": [f"{RAW}-2"]}))
    journal = tmp_path / "journal.jsonl"

    def answer() -> None:
        ids = [f"{RAW}-{number}" for number in range(4)]
        judged = {ids[0]: "high", ids[1]: 2}
        facts: dict[str, Any] = {"judged": judged, "scope": f"{RAW}-scope", "record_id": "r1"}
        with suppress(BareError), rop.handoff("qa", selected=ids[1], **facts) as handoff:
            with rop.using_stage("vector", id="id", scope=lambda page: page.id) as stage:
                stage.returned([Page(raw) for raw in ids])
            with rop.using_stage("packing", input=[*ids, ids[0]]) as stage:
                stage.returned(ids[2:], labels=ids[2:], scopes=ids[2:])
            with recorded.foreign.start_as_current_span("search") as span:
                span.set_attributes({semconv.STAGE: "dedupe", semconv.RETURNED_IDS: [ids[0], ids[0], f"{RAW}-5"]})
            handoff.answered(f"It is so [{ids[2]}] [{RAW}-9].", sources=ids, citations=[ids[0], f"{RAW}-9"])
            handoff.select([ids[0], Page(ids[3])])
            raise BareError(ids[0])
        theirs: dict[str, Any] = {semconv.HANDOFF_NAME: "theirs", semconv.SELECTED_IDS: [ids[0]]}
        with recorded.foreign.start_as_current_span("chain", attributes=theirs):
            returned = {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.id": ids[3]}
            recorded.foreign.start_span("retriever", attributes=returned).end()

    async def later() -> None:
        answer()

    with rop.run("nightly", expected=["r1"], journal=journal) as run:
        asyncio.run(later()) if asynchronous else answer()
    assert recorded.places_of(RAW) == []
    assert RAW not in journal.read_text(encoding="utf-8") + run.close().to_bytes().decode()
    assert recorded.places_of("theirs")


def test_text_is_recorded_where_it_is_asked_for(record: Record) -> None:
    """The ecosystem's variable, or its setting, asks for messages and stack traces; IDs stay IDs."""
    recorded = record(capture_text=True)
    with suppress(BareError), rop.handoff("qa"):
        passages(QUESTION)
        fail()
    places = recorded.places_of(MARK)
    assert places
    assert all(place.startswith("span handoff") for place in places)
