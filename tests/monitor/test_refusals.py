"""Spans that are refused, dropped, repeated or come twice: no handoff is a PASS because of what is not there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from rop_otel import semconv
from rop_otel.core.handoff import Verdict
from rop_otel.monitor.refusals import gaps_of
from rop_otel.replay import replay, replay_files
from rop_otel.spans import Span
from rop_otel.spans.otlp_writer import write
from rop_otel.spans.refused import Refused
from tests.monitor.expected import expected
from tests.monitor.kept import PATIENCE, QUIET, Kept
from tests.spans.trace import TRACE, handoff, pipeline, span, stage

Keep = Callable[..., Kept]
OTHER = "cd" * 16
UNVERIFIABLE = ["UNVERIFIABLE"]
NAMED = {semconv.HANDOFF_ID: "h"}
TOP = handoff(1, "d1")
VECTOR = stage(2, "vector", "d1", parent=1)
PACKING = stage(5, "packing", "d2", parent=1)


def note(kept: Kept) -> str:
    """Return why the only handoff has no other verdict."""
    [found] = replay(kept.store.spans_of([TRACE], [])).assessments
    return found.note or ""


def test_a_stage_that_is_refused(keep: Keep, tmp_path: Path) -> None:
    """A handoff whose packing had no room is no PASS: not now, not after a crash, not when more comes, nor exported."""
    kept = keep(max_trace_spans=3)
    assert kept.send(TOP, VECTOR, span(3, parent=1), PACKING) == 1
    kept.wait()
    assert (kept.verdicts(), note(kept)) == (
        UNVERIFIABLE,
        "spans of its trace were refused by the monitor, and a stage may be among them",
    )
    kept = keep(max_trace_spans=10)
    kept.send(span(6, parent=1))
    kept = keep(max_trace_spans=10)
    kept.wait()
    assert kept.verdicts() == UNVERIFIABLE
    file = tmp_path / "spans.jsonl"
    with file.open("wb") as stream:
        for spans in kept.store.settled_spans():
            write(spans, stream)
    assert [each.verdict for each in replay_files([str(file)]).assessments] == [Verdict.UNVERIFIABLE]


def test_refused_before_there_is_a_handoff(keep: Keep) -> None:
    """That spans were refused is known when the handoff comes, however late, also where it is in another trace."""
    kept = keep(max_trace_spans=1)
    kept.send(span(8, trace=OTHER), stage(9, "packing", "d2", trace=OTHER, given=NAMED))
    kept.wait(2 * PATIENCE)
    kept = keep()
    kept.send(handoff(1, "d1", given=NAMED), VECTOR)
    kept.wait()
    assert kept.verdicts() == UNVERIFIABLE


def test_what_could_not_be_read(keep: Keep) -> None:
    """A span that was refused at the door is missing in its trace, and in the handoff that it names."""
    for refused in (
        Refused(trace_id=TRACE, handoff_id=None, reason="r"),
        Refused(trace_id="", handoff_id="h", reason="r"),
    ):
        kept = keep()
        answer = kept.monitor.submit([handoff(1, "d1", given=NAMED), VECTOR], size=9, refused=[refused])
        kept.wait(0)
        assert answer.result(timeout=0) == (1, "r")
        kept.wait()
        assert kept.verdicts()[-1:] == UNVERIFIABLE
        assert kept.notices(semconv.SELF_REFUSED) == 1
    assert gaps_of([Refused(trace_id="", handoff_id=None, reason="r")]) == []


def test_a_million_stages_in_many_traces(keep: Keep) -> None:
    """Traces that share a handoff have room together for what one may hold."""
    kept = keep(max_trace_spans=10)
    kept.send(handoff(1, "d1", given=NAMED))
    stages = [stage(2, "vector", "d1", trace=f"{number:032x}", given=NAMED) for number in range(1, 30)]
    assert sum(kept.send(each) for each in stages) == 20
    kept.wait()
    assert kept.verdicts() == UNVERIFIABLE
    assert len(kept.store.spans_of([], ["h"])) <= 10 + 2 * 20


def test_a_trace_that_grows_again_and_again(keep: Keep) -> None:
    """What was settled counts, too, when there is no room left."""
    kept = keep(max_trace_spans=4)
    kept.send(TOP, VECTOR, span(3, parent=1))
    kept.wait()
    assert kept.send(span(6, parent=1), PACKING, span(7, parent=1)) == 2
    kept.wait()
    assert kept.verdicts() == UNVERIFIABLE


def test_a_trace_that_could_not_be_assessed(keep: Keep) -> None:
    """What comes later is put together with its spans, which nobody holds but the store."""
    kept = keep()
    kept.send(TOP, PACKING)
    with patch("rop_otel.monitor.assessing.assemble", side_effect=RuntimeError("a fault of ours")):
        kept.wait()
    kept.send(VECTOR)
    kept.send(TOP)
    kept.wait()
    assert kept.verdicts() == ["FAIL"]


def test_a_handoff_that_lasts_longer_than_the_patience(keep: Keep) -> None:
    """Its stages are let go from memory, and are there again when its own span comes."""
    kept = keep()
    kept.send(PACKING)
    kept.wait(PATIENCE)
    assert (kept.monitor.open_traces, kept.monitor.waiting_bytes) == (0, 0)
    kept = keep()
    kept.send(TOP, VECTOR)
    kept.wait()
    assert (kept.verdicts(), kept.counted()) == (["FAIL"], 1)


def test_stages_that_wait_for_ever_are_deleted(keep: Keep) -> None:
    """They are kept as long as a handoff, and no longer."""
    kept = keep()
    kept.send(PACKING, stage(3, "vector", "d1", given=NAMED, trace=OTHER))
    kept.wait(PATIENCE)
    assert kept.store.forget(before_ns=0) == 0
    assert kept.store.forget(before_ns=2**62) == 2
    assert (kept.store.spans_of([TRACE, OTHER], ["h"]), kept.store.forget(before_ns=2**62)) == ([], 0)


def test_retention_keeps_traces_whole(keep: Keep) -> None:
    """Of traces that share a handoff all spans go or none, also while more has come for one."""
    kept = keep()
    kept.send(TOP, VECTOR, stage(5, "packing", "d2", parent=1, given=NAMED))
    kept.send(handoff(1, "d1", trace=OTHER, given=NAMED), stage(2, "packing", "d2", trace=OTHER, parent=1))
    kept.wait()
    assert len(kept.verdicts()) == 2
    assert kept.store.forget(before_ns=2**62, limit=1) == 1
    assert len(kept.store.spans_of([TRACE], [])) == 5
    kept.send(span(8, parent=1))
    assert kept.store.forget(before_ns=2**62) == 0
    kept.wait()
    assert len(kept.store.spans_of([OTHER], [])) == 6
    assert len(kept.verdicts()) == 2
    while kept.store.forget(before_ns=2**62):
        pass
    assert (kept.store.spans_of([TRACE, OTHER], ["h"]), kept.verdicts()) == ([], [])


def test_a_stage_that_names_a_handoff_of_long_ago(keep: Keep) -> None:
    """A trace that is open already finds it, with all of its spans."""
    top = handoff(1, "d1", given=NAMED)
    kept = keep()
    kept.send(top, VECTOR)
    kept.wait()
    kept.send(span(1, trace=OTHER, parent=3))
    kept.send(stage(5, "packing", "d2", trace=OTHER, parent=1, given=NAMED))
    kept.wait()
    assert kept.documents() == expected(kept.sent)
    assert kept.verdicts() == ["FAIL"]


def test_two_traces_of_a_handoff_at_once(keep: Keep) -> None:
    """Requests that arrive together open the traces of one handoff again together."""
    top, far = handoff(1, "d1", given=NAMED), stage(5, "packing", "d1", trace=OTHER, given=NAMED)
    late = [span(8, parent=1), stage(9, "rescue", "d3", parent=5, trace=OTHER)]
    kept = keep()
    kept.send(top, VECTOR, far)
    kept.wait()
    for each in late:
        kept.monitor.submit([each], size=1)
    kept.wait(0)
    kept.wait()
    assert kept.documents() == expected([top, VECTOR, far, *late])
    assert (kept.monitor.open_traces, kept.monitor.waiting_bytes) == (0, 0)


def test_a_request_that_comes_again(keep: Keep) -> None:
    """It changes nothing, whenever it comes; it is not late, and takes no room."""
    kept = keep(max_trace_spans=len(pipeline()))
    for _ in range(3):
        assert kept.send(*pipeline()) == kept.send(*pipeline(), *pipeline()) == 0
        kept.wait()
    assert kept.documents() == expected(pipeline())
    assert (kept.counted(), kept.notices(semconv.SELF_LATE), kept.notices(semconv.SELF_REFUSED)) == (1, 0, 0)
    assert kept.store.spans_of([TRACE], []) == pipeline()
    assert (kept.monitor.open_traces, kept.monitor.waiting_bytes) == (0, 0)


@pytest.mark.parametrize("taken", [TOP, VECTOR], ids=["the handoff's", "a stage's"])
@pytest.mark.parametrize("pause", [None, 0.0, QUIET])
def test_a_span_id_that_is_taken(keep: Keep, taken: Span, pause: float | None) -> None:
    """A different span with it, in one request or in another, is not lost in silence: the note says so."""
    other = replace(PACKING, span_id=taken.span_id, service="packer", name="packing")
    for one, two in (([TOP, VECTOR], [other]), ([other], [TOP, VECTOR])):
        kept = keep()
        if pause is None:
            kept.send(*one, *two)
        else:
            kept.send(*one)
            kept.wait(pause)
            kept.send(*two)
        kept.wait()
        assert kept.verdicts() == UNVERIFIABLE
        assert note(kept) == "different spans of its trace have one span ID, so that a stage may be missing"
        for _ in range(4):
            assert kept.store.forget(before_ns=2**62) in (0, 1)


@st.composite
def chains(draw: st.DrawFn) -> list[Span]:
    """Return spans of handoffs and stages that keep or lose the selected object, some with an ID that is taken."""
    kinds: list[Callable[..., Span]] = [
        span,
        partial(_named, "d1"),
        partial(_stage, "vector", "d1"),
        partial(_stage, "packing", "d2"),
        partial(_stage, "packing", "d1"),
    ]
    numbers = draw(st.lists(st.integers(1, 6), min_size=2, max_size=6, unique=draw(st.booleans())))
    parents = st.none() | st.integers(1, 4)
    made = [draw(st.sampled_from(kinds))(number, parent=draw(parents)) for number in numbers]
    return [handoff(7, "d1"), *(each if each.parent_id else replace(each, parent_id=f"{7:016x}") for each in made)]


def _named(raw: str, number: int, **fields: Any) -> Span:
    return handoff(number, raw, given=NAMED, **fields)


def _stage(kind: str, raw: str, number: int, **fields: Any) -> Span:
    return stage(number, kind, raw, name=f"{kind} {raw}", **fields)


@given(data=st.data(), spans=chains(), room=st.sampled_from([1, 3, 5, 99]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_verdict_without_what_was_refused(data: st.DataObject, tmp_path: Path, spans: list[Span], room: int) -> None:
    """However little room there is, and whatever comes when, a PASS or FAIL is what replay says of all spans."""
    kept = Kept(tmp_path / f"{uuid4()}.db", max_trace_spans=room)
    rest = data.draw(st.permutations(spans))
    for _ in range(3):
        cut = data.draw(st.integers(0, len(rest)))
        kept.send(*rest[:cut])
        rest = rest[cut:]
        kept.wait(data.draw(st.sampled_from([0.0, QUIET, PATIENCE])))
    kept.send(*rest)
    kept.wait(PATIENCE)
    true = {each.handoff_id: each.verdict for each in replay(spans).assessments}
    for each in kept.documents():
        event(str(each["verdict"]))
        if each["verdict"] in ("PASS", "FAIL"):
            assert each["verdict"] == true.get(each["handoff_id"])
    kept.monitor.close()
