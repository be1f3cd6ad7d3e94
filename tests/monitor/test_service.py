"""What becomes of spans that arrive: kept at once, assessed when all are there, updated when more come."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rop_otel import semconv
from rop_otel.assembling import assemble
from rop_otel.monitor.service import BusyError
from rop_otel.monitor.sqlite_store import SqliteStore
from rop_otel.replay import replay
from rop_otel.spans import Span
from tests.assembling.test_arrival import traces
from tests.monitor.expected import expected
from tests.monitor.kept import PATIENCE, QUIET, Kept
from tests.spans.trace import TRACE, handoff, pipeline, span, stage

Keep = Callable[..., Kept]
OTHER = "cd" * 16


def test_a_handoff_is_assessed_when_its_trace_is_quiet(keep: Keep) -> None:
    """Stages of several requests, in any order, are one handoff, and it is the same as in replay."""
    kept = keep()
    spans = pipeline()
    for each in reversed(spans):
        kept.send(each)
        kept.wait(QUIET - 0.1)
    assert kept.documents() == []
    kept.wait(0.2)
    assert kept.documents() == expected(spans)
    assert kept.verdicts() == ["FAIL"]
    assert (kept.counted(), kept.monitor.open_traces, kept.monitor.waiting_bytes) == (1, 0, 0)


def test_a_stage_without_its_handoff_waits_for_it(keep: Keep) -> None:
    """Nothing is said of a handoff whose own span has not arrived, until the patience is at its end."""
    kept = keep()
    top, *stages = pipeline()
    kept.send(*stages)
    kept.wait(PATIENCE - 1)
    assert kept.documents() == []
    kept.send(top)
    kept.wait()
    assert kept.verdicts() == ["FAIL"]


def test_stages_wait_for_their_handoff_below_a_root(keep: Keep) -> None:
    """Where the root of a trace has arrived and the handoff has not, its stages are not let go."""
    kept = keep()
    kept.send(stage(3, "vector", "d1", parent=2), span(1))
    kept.wait(2 * QUIET)
    kept.send(handoff(2, "d1", parent=1))
    kept.wait()
    assert kept.verdicts() == ["PASS"]


def test_spans_without_a_handoff_are_let_go(keep: Keep) -> None:
    """At the end of the patience they leave nothing; stages that name a handoff are counted as expired."""
    kept = keep()
    kept.send(stage(2, "vector", "d1", parent=1, given={semconv.HANDOFF_ID: "h"}), span(3, parent=9, trace=OTHER))
    kept.wait(PATIENCE)
    assert (kept.monitor.open_traces, kept.monitor.waiting_bytes, list(kept.store.open_spans())) == (0, 0, [])
    assert kept.notices(semconv.SELF_EXPIRED) == 1


def test_a_late_span_updates_the_handoff(keep: Keep) -> None:
    """The stored handoff is the one with the late stage; it is counted as late, and no counter counts it again."""
    kept = keep()
    *early, packing = pipeline()
    kept.send(*early)
    kept.wait()
    assert [each["stage"] for each in kept.documents()[0]["stages"]] == ["vector", "lexical", "fusion"]
    kept.send(packing)
    kept.wait()
    assert kept.documents() == expected(pipeline())
    assert (kept.counted(), kept.notices(semconv.SELF_LATE)) == (1, 1)


def test_a_handoff_in_several_traces(keep: Keep) -> None:
    """A stage that names a handoff of another trace belongs to it, whichever arrives first, late or in time."""
    top = handoff(1, "d1", given={semconv.HANDOFF_ID: "h"}, end_ns=90)
    near = stage(2, "vector", "d1", parent=1)
    far = stage(3, "packing", "d2", trace=OTHER, given={semconv.HANDOFF_ID: "h"})
    found = expected([top, near, far])
    for order in ([far, near, top], [top, near, far]):
        kept = keep()
        for each in order:
            kept.send(each)
        kept.wait()
        assert kept.documents() == found
    assert kept.counted() == 0, "the second time they are late, and counted already"


def test_late_in_another_trace(keep: Keep) -> None:
    """A stage of another trace finds the handoff that was assessed before."""
    kept = keep()
    top = handoff(1, "d1", given={semconv.HANDOFF_ID: "h"}, end_ns=90)
    far = stage(3, "vector", "d1", trace=OTHER, given={semconv.HANDOFF_ID: "h"})
    kept.send(top)
    kept.wait()
    kept.send(far)
    kept.wait(PATIENCE)
    assert kept.documents() == expected([top, far])


@given(data=st.data(), spans=traces(), pauses=st.integers(0, 3))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_three_doors(data: st.DataObject, tmp_path: Path, spans: list[Span], pauses: int) -> None:
    """However spans are divided into requests, and whenever a trace is settled, the last word is that of replay."""
    kept = Kept(tmp_path / f"{uuid4()}.db")
    rest = data.draw(st.permutations(spans))
    for _ in range(pauses):
        cut = data.draw(st.integers(0, len(rest)))
        kept.send(*rest[:cut])
        if kept.sent and replay(kept.sent).assessments:  # where there is no handoff yet, its spans may be let go
            kept.wait(data.draw(st.sampled_from([0.0, QUIET, PATIENCE])))
        rest = rest[cut:]
    kept.send(*rest)
    kept.wait(PATIENCE)
    assert sorted(kept.documents(), key=_by_id) == sorted(expected(spans), key=_by_id)
    kept.monitor.close()


def _by_id(document: dict[str, object]) -> str:
    return str(document["handoff_id"])


def test_what_was_open_is_found_again(keep: Keep) -> None:
    """A service that begins again goes on with the spans that another one has acknowledged."""
    top, *stages = pipeline()
    keep().send(*stages)
    kept = keep()
    kept.send(top)
    kept.wait()
    assert kept.verdicts() == ["FAIL"]
    kept = keep()
    assert (kept.monitor.open_traces, kept.verdicts()) == (0, ["FAIL"])


@pytest.mark.parametrize("name", ["h", "h" * 300])
def test_what_was_open_finds_its_handoff_again(keep: Keep, name: str) -> None:
    """A stage that was open when the service ended belongs to a handoff of another trace that was assessed before."""
    top = handoff(1, "d1", given={semconv.HANDOFF_ID: name}, end_ns=90)
    far = stage(3, "vector", "d1", trace=OTHER, given={semconv.HANDOFF_ID: name})
    kept = keep()
    kept.send(top)
    kept.wait()
    kept.send(far)
    kept = keep()
    kept.wait(PATIENCE)
    assert kept.documents() == expected([top, far])


def test_more_than_there_is_memory_for(keep: Keep) -> None:
    """A request that is too much is refused at once, so that the sender tries again; nothing else is."""
    kept = keep(max_waiting_bytes=250)
    kept.send(*pipeline(), size=200)
    with pytest.raises(BusyError):
        kept.monitor.submit(pipeline(trace=OTHER), size=200)
    kept.wait()
    kept.send(*pipeline(trace=OTHER), size=200)
    kept.wait()
    assert len(kept.verdicts()) == 2


def test_a_trace_that_is_too_long(keep: Keep) -> None:
    """Spans beyond what one trace may hold are refused and said to be; those of other traces are not."""
    kept = keep(max_trace_spans=10)
    stages = [stage(number, "vector", "d1", parent=1) for number in range(2, 20)]
    assert kept.send(handoff(1, "d1"), *stages, span(1, trace=OTHER)) == 9
    assert kept.send(stage(30, "vector", parent=1)) == 1
    kept.wait()
    assert len(kept.documents()[0]["stages"]) == 9
    assert kept.notices(semconv.SELF_REFUSED) == 10


def test_a_full_disk(keep: Keep) -> None:
    """A request that cannot be kept fails; when there is room again, what is sent again is kept, and nothing twice."""
    kept = keep()
    full = sqlite3.OperationalError("database or disk is full")
    with patch.object(SqliteStore, "spool", side_effect=full), pytest.raises(sqlite3.OperationalError):
        kept.send(*pipeline())
    assert (kept.monitor.failure, kept.monitor.waiting_bytes) == (full, 0)
    kept.send(*pipeline())
    with patch.object(SqliteStore, "settle", side_effect=full):
        kept.wait()
    assert kept.verdicts() == []
    kept.wait()
    assert (kept.verdicts(), kept.counted(), kept.monitor.failure) == (["FAIL"], 1, None)
    assert kept.notices(semconv.SELF_ERRORS) == 2


def test_a_store_that_another_program_locks(keep: Keep, tmp_path: Path) -> None:
    """Senders try again until it lets go; nothing is lost, and nothing is there twice."""
    kept = keep()
    kept.store._writer.execute("PRAGMA busy_timeout = 20")
    kept.send(*pipeline())
    other = sqlite3.connect(tmp_path / "kept.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        kept.send(*pipeline(trace=OTHER))
    kept.wait()
    assert kept.verdicts() == []
    other.execute("ROLLBACK")
    other.close()
    kept.send(*pipeline(trace=OTHER))
    kept.wait()
    kept.wait()
    assert (kept.verdicts(), kept.counted(), kept.monitor.failure) == (["FAIL", "FAIL"], 2, None)


def test_a_trace_that_cannot_be_assessed(keep: Keep) -> None:
    """It keeps no other from being assessed, and a service that begins again tries it again."""
    kept = keep()
    kept.send(*pipeline())
    kept.send(*pipeline(trace=OTHER))
    with patch("rop_otel.monitor.assessing.assemble", side_effect=_only(TRACE)):
        kept.wait()
    assert len(kept.verdicts()) == 1
    kept = keep()
    kept.wait()
    assert len(kept.verdicts()) == 2


def _only(trace_id: str) -> Callable[..., object]:
    def assembled(spans: Sequence[Span], rules: object) -> object:
        if any(each.trace_id != trace_id for each in spans):
            raise RuntimeError("a fault of ours")
        return assemble(spans)

    return assembled


def test_old_handoffs_go(keep: Keep) -> None:
    """What was settled too long ago is deleted, with its spans; how old the spans are by themselves is no matter."""
    kept = keep(retention_seconds=3600.0)
    kept.send(*pipeline())
    kept.wait()
    kept.wait(60.0)
    assert kept.verdicts() == ["FAIL"]
    with patch("rop_otel.monitor.service.time.time_ns", return_value=time.time_ns() + 3_700_000_000_000):
        kept.wait(60.0)
    assert (kept.verdicts(), kept.store.spans_of([TRACE], [])) == ([], [])
