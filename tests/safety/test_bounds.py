"""What is read of long, lazy and endless things is bounded, and what was not read is counted all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count, repeat
from typing import Any

import numpy as np
import pytest
from opentelemetry.sdk.trace import TracerProvider

import rop_otel as rop
from rop_otel.core.escapes import LONGEST_READ
from rop_otel.core.handoff import Verdict
from rop_otel.core.handoff.findings.making import quoted
from rop_otel.errors import UsageError
from rop_otel.tracing.results.result_reader import EMPTY, Reader
from rop_otel.tracing.results.scalars import MOST_NAMED
from rop_otel.tracing.running.exceptions import record_exception
from rop_otel.tracing.running.runtime import install
from tests.tracing.watched import Watched

MANY = 20_000_000
MOST = 10


@pytest.fixture
def watched() -> Iterator[Watched]:
    """A runtime that records ten IDs of each list."""
    seen = Watched(max_ids=MOST)
    before = install(seen.runtime)
    yield seen
    install(before)


class Lazy(Sequence[Any]):
    """A list that makes its elements when they are asked for, and counts how often that is.

    Args:
        says: How long it says it is.
        has: How many elements it has.
    """

    def __init__(self, says: int = MANY, has: int = MANY) -> None:
        self.says, self.has, self.read = says, has, 0

    def __len__(self) -> int:
        return self.says

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            raise TypeError("only one at a time")
        if place >= self.has:
            raise IndexError(place)
        self.read += 1
        return f"d{place}"


class LazyArray:
    """A one-dimensional array that is read when it is turned into a list."""

    ndim = 1
    read = 0

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> LazyArray:
        return LazyArray(len(range(self.length)[part]))

    def tolist(self) -> list[str]:
        """Return its elements."""
        LazyArray.read += self.length
        return [f"d{place}" for place in range(self.length)]


class Series(LazyArray):
    """An array whose index goes by label, and ``iloc`` by place."""

    def __getitem__(self, part: slice) -> LazyArray:
        raise KeyError(part)

    @property
    def iloc(self) -> LazyArray:
        """The same by place."""
        return LazyArray(self.length)


def stage_given(results: object, **told: Any) -> None:
    with rop.handoff("q", selected="d1"), rop.using_stage("packing") as stage:
        stage.returned(results, **told)


def test_lazy_list_is_read_once_and_in_part(watched: Watched) -> None:
    """Of a lazy list as many elements are made as are recorded, and its length is what it says."""
    lazy = Lazy()
    stage_given(lazy)
    assert lazy.read == MOST
    [record] = watched.heard.records
    assert (len(record.stages[0].returned or ()), record.stages[0].returned_count) == (MOST, MANY)


@pytest.mark.parametrize(("says", "has", "ids", "total"), [(3, MANY, MOST, None), (MANY, 3, 3, None), (0, 0, 0, None)])
def test_length_that_is_not_true(says: int, has: int, ids: int, total: int | None) -> None:
    """A list with more or fewer elements than it says is read as it is, and no further than the limit."""
    reading = Reader().read(Lazy(says, has), limit=MOST)
    assert (len(reading.ids or ()), reading.total) == (ids, total)


@pytest.mark.parametrize("array", [LazyArray(MANY), Series(MANY)], ids=["array", "series"])
def test_long_array_is_read_in_part(array: LazyArray) -> None:
    """Of an array only the beginning is turned into Python's objects."""
    LazyArray.read = 0
    reading = Reader().read(array, limit=MOST)
    assert (len(reading.ids or ()), reading.total, LazyArray.read) == (MOST, MANY, MOST)


def test_long_search_of_faiss() -> None:
    """Of a long search the beginning is read, and the neighbours that were found are counted."""
    indices = np.concatenate([np.arange(5000), np.full(3000, -1)])[None, :]
    reading = Reader().read((np.linspace(1, 0, 8000)[None, :], indices), limit=MOST)
    assert (len(reading.ids or ()), len(reading.scores or ()), reading.total) == (MOST, MOST, 5000)
    assert Reader().read((np.zeros(20), np.full(20, -1)), limit=MOST) == EMPTY


def test_tuple_of_many_is_looked_at_in_part(watched: Watched) -> None:
    """A long tuple of documents is a list of documents, whatever comes at its end."""
    stage_given((*(f"d{place}" for place in range(20)), None))
    assert watched.heard.records[0].stages[0].returned_count == 21


def test_joined_inputs_are_read_to_the_limit_and_counted(watched: Watched) -> None:
    """Of many lists that a stage joins, the first are read and all are counted."""

    class Document:
        read = 0

        @property
        def id(self) -> str:
            Document.read += 1
            return "d"

    lists = [[Document() for _ in range(8)] for _ in range(50)]
    with rop.handoff("q", selected="d"), rop.using_stage("fusion", input=lists) as stage:
        stage.returned(["d"])
    [record] = watched.heard.records
    assert (len(record.stages[0].input or ()), record.stages[0].input_count) == (MOST, 400)
    assert Document.read < 40


@pytest.mark.parametrize("told", ["labels", "scores", "scopes", "id_tokens"])
@pytest.mark.parametrize("endless", [lambda: count(1), lambda: repeat("S1")], ids=["numbers", "texts"])
def test_endless_facts_of_documents_end(told: str, endless: Callable[[], Any], watched: Watched) -> None:
    """Facts beside the documents that never end are read as far as documents are."""
    given = endless()
    stage_given(["d1", "d2"], **{told: given})
    assert watched.heard.records[0].stages[0].returned == ("d1", "d2")
    if isinstance(given, count):
        assert next(given) <= MOST + 1


def test_endless_citations_end(watched: Watched) -> None:
    """Citations that never end are read as far as documents are."""
    with rop.handoff("q", selected="d1") as handoff:
        handoff.answered("", sources=["d1"], citations=repeat("S1"))
    assert len(watched.heard.records[0].stages[0].citations or ()) == MOST


@pytest.mark.parametrize("judged", [count(1), ["d"] * (MOST_NAMED + 1), dict.fromkeys(range(MOST_NAMED + 1), 1)])
def test_too_many_judged_objects_are_all_left_out(judged: Any, watched: Watched) -> None:
    """Judged objects are never cut, which would change every score: too many of them count as none."""
    with rop.handoff("q", judged=judged):
        pass
    assert watched.heard.records[0].judged is None


def test_judged_objects_are_not_cut(watched: Watched) -> None:
    """More judged objects than IDs are recorded of a list all count, with grades read as far as those go."""
    with rop.handoff("q", judged=[f"d{place}" for place in range(50)], grades=repeat(2)):  # type: ignore[arg-type]
        pass
    assert (len(watched.heard.records[0].judged or ()), watched.heard.records[0].grades) == (50, (2,) * 50)


def test_too_many_selected_objects_are_no_selection(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """More alternatives than anybody means are no selection that can be checked, and the log says so."""
    with rop.handoff("q") as handoff:
        handoff.select(["d"] * (MOST_NAMED + 1))
    assert watched.heard.assessments[0].verdict is Verdict.SELECTOR_ERROR
    assert "more than 100,000 alternatives" in caplog.text


def test_too_many_expected_stages_are_left_out(watched: Watched) -> None:
    """A declaration of more stages than any pipeline has is ignored."""
    with rop.handoff("q", expected=["vector"] * (MOST_NAMED + 1)):
        pass
    assert watched.heard.records[0].expected == ()


def test_endless_feeds_are_refused(watched: Watched) -> None:
    """Names of feeds that never end are a wrong argument: it raises at the decorator, and a block is not monitored."""
    with pytest.raises(UsageError, match="more than 100,000 stages"):
        rop.stage("fusion", fed_by=repeat("vector"))  # type: ignore[arg-type]
    with rop.handoff("q"), rop.using_stage("fusion", fed_by=repeat("vector")) as stage:  # type: ignore[arg-type]
        stage.returned(["d1"])
    assert watched.heard.records[0].stages == ()


def test_long_ids_are_short_in_messages() -> None:
    """A message about an ID of megabytes shows its beginning."""
    assert len(quoted(["x" * 10**6])) < 2 * LONGEST_READ


def written(error: BaseException) -> Any:
    """Return the attributes of the event that an exception is written as."""
    span: Any = TracerProvider(shutdown_on_exit=False).get_tracer("t").start_span("s")
    record_exception(span, error, text=True)
    [event] = span.events
    return event.attributes


def raised(depth: int) -> ValueError:
    """Return an exception that was raised this deep."""

    def deeper(left: int) -> None:
        if left:
            deeper(left - 1)
        innermost()

    def innermost() -> None:
        raise ValueError("deep")

    try:
        deeper(depth)
    except ValueError as error:
        return error
    raise AssertionError("nothing was raised")


def test_exception_is_written_as_python_writes_it() -> None:
    """A short traceback is whole: the frames with their lines, then the type and the message."""
    found = written(raised(1))
    lines = found["exception.stacktrace"].splitlines()
    assert (found["exception.type"], found["exception.message"]) == ("ValueError", "deep")
    assert (lines[0], lines[-1], len(lines)) == ("Traceback (most recent call last):", "ValueError: deep", 10)
    assert lines[-2].strip() == 'raise ValueError("deep")'


def test_long_traceback_is_written_in_part() -> None:
    """Of a long traceback the first frames are there, and the ones where the exception was raised."""
    stacktrace = written(raised(300))["exception.stacktrace"]
    assert stacktrace.count("  File ") == 24
    assert "frames in between]" in stacktrace
    assert stacktrace.splitlines()[-3].endswith("in innermost")


def test_long_message_is_cut() -> None:
    """Of a message of megabytes the beginning is written, once for itself and once in the stack trace."""
    found = written(ValueError("x" * 10**7))
    assert len(found["exception.message"]) < 5000
    assert len(found["exception.stacktrace"]) < 6000


def test_causes_come_first() -> None:
    """What caused an exception stands before it, and a chain that never ends does not keep us."""
    cause, error = KeyError("cause"), ValueError("effect")
    error.__cause__ = cause
    stacktrace = written(error)["exception.stacktrace"]
    assert "direct cause of the following" in stacktrace
    assert stacktrace.index("KeyError: 'cause'") < stacktrace.index("ValueError: effect")
    cause.__cause__ = error
    assert written(error)["exception.stacktrace"].count("ValueError: effect") == 2


def test_cause_without_a_message() -> None:
    """A cause whose ``str()`` raises costs its message, and nothing else."""

    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    error = ValueError("effect")
    error.__cause__ = SilentError()
    assert written(error)["exception.stacktrace"].endswith("ValueError: effect\n")
