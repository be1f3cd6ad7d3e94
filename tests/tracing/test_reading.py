from __future__ import annotations

import gc
import sqlite3
import uuid
from collections import Counter, defaultdict, deque, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rop_otel as rop
from rop_otel.errors import UsageError
from rop_otel.tracing.results.result_reader import Reader, Reading
from tests.tracing.watched import Hit, Watched, hits


@dataclass
class LangChainDocument:
    """As LangChain's: an optional ID beside metadata and text."""

    page_content: str
    id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"page_content={self.page_content!r}"


class LlamaNode:
    """As LlamaIndex's node with a score."""

    def __init__(self, node_id: str, score: float | None) -> None:
        self.node = SimpleNamespace(node_id=node_id, text="text")
        self.score = score


@dataclass
class HaystackDocument:
    """As Haystack's."""

    id: str
    content: str = "text"
    score: float | None = None


class Slug(StrEnum):
    """An ID of a closed set."""

    FIRST = "first"


class RaisingId:
    """A document whose property raises."""

    @property
    def id(self) -> str:
        raise ValueError("not loaded")


class RaisingText(str):
    """An ID whose ``__str__`` raises."""

    __slots__ = ()

    def __str__(self) -> str:
        raise ValueError("no text")


Row = namedtuple("Row", ["chunk_id", "score"])  # noqa: PYI024 - an application's
WITH_SLOTS = SimpleNamespace(id="a", score=2)


def rows() -> list[sqlite3.Row]:
    with sqlite3.connect(":memory:") as connection:
        connection.row_factory = sqlite3.Row
        found = connection.execute("SELECT 'a' AS id, 0.5 AS score UNION ALL SELECT 'b', 0.25").fetchall()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("results", "ids", "scores"),
    [
        (["a", "b"], ("a", "b"), None),
        (("a", "b"), ("a", "b"), None),
        (deque(["a", "b"]), ("a", "b"), None),
        ({"a": 1, "b": 2}.keys(), ("a", "b"), None),
        ([7, 8], ("7", "8"), None),
        ([7, "b"], ("7", "b"), None),
        ([uuid.UUID(int=1)], ("00000000-0000-0000-0000-000000000001",), None),
        ([PurePosixPath("docs/a.md")], ("docs/a.md",), None),
        ([Slug.FIRST], ("first",), None),
        ([np.int64(7), np.str_("b")], ("7", "b"), None),
        (np.array([3, 1]), ("3", "1"), None),
        (np.array(["x", "y"]), ("x", "y"), None),
        (np.array([[3, 1]]), ("3", "1"), None),
        (hits("a", "b"), ("a", "b"), (1.0, 0.9)),
        ([Row("a", 0.5)], ("a",), (0.5,)),
        ([{"id": "a", "score": 1}], ("a",), (1.0,)),
        ([{"_id": "a", "_score": 0.5, "_source": {}}], ("a",), (0.5,)),
        ([{"doc_id": "doc", "chunk_id": "doc#1"}], ("doc#1",), None),
        ([{"metadata": {"id": 7, "relevance_score": 0.5}}], ("7",), (0.5,)),
        ([{"document": {"id": "a"}, "score": 0.5}], ("a",), (0.5,)),
        (rows(), ("a", "b"), (0.5, 0.25)),
        ([WITH_SLOTS], ("a",), (2.0,)),
        ([("a", 0.5), ("b", 0.25)], ("a", "b"), (0.5, 0.25)),
        ([["a", 0.5]], ("a",), (0.5,)),
        ([(0.5, "a")], ("a",), (0.5,)),
        ([(LangChainDocument("text", "a"), np.float32(0.5))], ("a",), (0.5,)),
        ([(LangChainDocument("text", metadata={"id": "m"}), 0.5)], ("m",), (0.5,)),
        ([LangChainDocument("text", "a")], ("a",), None),
        ([LangChainDocument("text", None, {"id": "m"})], ("m",), None),
        ([LlamaNode("n", 0.5)], ("n",), (0.5,)),
        ([HaystackDocument("h", score=0.5)], ("h",), (0.5,)),
        ({"documents": [HaystackDocument("h", score=0.5)]}, ("h",), (0.5,)),
        ([{"id": "a", "score": np.float32(0.5)}, {"id": "b", "score": np.float64(0.25)}], ("a", "b"), (0.5, 0.25)),
        ([Hit("a", 1), Hit("b", 0.5)], ("a", "b"), (1.0, 0.5)),
        ([Hit(None, 1.0), Hit("b", 0.5)], ("", "b"), (1.0, 0.5)),
        ([Hit("a", 1.0), Hit("b")], ("a", "b"), None),
        ([Hit("a"), Hit("b", 1.0)], ("a", "b"), None),
        ([Hit("a", 1.0), Hit("b", float("nan"))], ("a", "b"), None),
        ([Hit("a", float("inf")), Hit("b", float("-inf"))], ("a", "b"), (float("inf"), float("-inf"))),
        ([Hit("a", 1.0), {"id": "b", "score": 0.5}, ("c", 0.25)], ("a", "b", "c"), (1.0, 0.5, 0.25)),
        (["a", object()], ("a", ""), None),
        ([RaisingId(), Hit("b")], ("", "b"), None),
        ([RaisingText("a")], ("a",), None),
        ([], (), None),
        ((), (), None),
        (np.array([], dtype=np.int64), (), None),
    ],
)
def test_what_is_read(results: object, ids: tuple[str, ...], scores: tuple[float, ...] | None) -> None:
    """IDs are the documents' own, as strings and in order, and scores are floats or none at all."""
    reading = Reader().read(results, limit=100)
    assert (reading.ids, reading.scores) == (ids, scores)
    assert {type(raw) for raw in reading.ids or ()} <= {str}
    assert {type(score) for score in reading.scores or ()} <= {float}


@pytest.mark.parametrize(
    "results",
    [
        None,
        "one text",
        b"bytes",
        3,
        object(),
        {"a", "b"},
        {"a": 0.5},
        iter(["a"]),
        (hit for hit in hits("a")),
        [object(), object()],
        [RaisingId()],
        [None],
        [[]],
        [LangChainDocument("text")],
        [("text of a document", {"source": "x"})],
        [(1, Hit("a"))],
        [""],
        [Hit("")],
        [True],
        [0.5],
        [float("nan")],
        np.array([[1, 2], [3, 4]]),
        np.array([0.5]),
        [10**5000],
        [type],
        (["a", "b"], 24),
        ("the text of a prompt", ["a"]),
        ("the text of a prompt", 24),
        (hits("a"), {"tokens": 24}),
        (None, ["a"]),
        Row("the text of a prompt", ["a"]),
    ],
)
def test_what_cannot_be_read_is_said_so(results: object) -> None:
    """No exception, and no made-up ID: no ``repr``, no text of a document, no place in the list."""
    assert Reader().read(results, limit=100) == Reading(None)


def test_iterator_is_left_as_it_is() -> None:
    """An iterator is the application's to consume."""
    results = iter(["a", "b"])
    Reader().read(results, limit=100)
    assert list(results) == ["a", "b"]


NESTED = SimpleNamespace(node=SimpleNamespace(ref="n"), stats={"cosine": 0.5}, tenant="t")


@pytest.mark.parametrize(
    ("results", "told", "expected"),
    [
        ([NESTED], {"id": "node.ref"}, Reading(("n",))),
        ([NESTED], {"id": "node.ref", "score": "stats.cosine"}, Reading(("n",), (0.5,))),
        ([NESTED], {"id": lambda hit: hit.node.ref, "score": lambda hit: 2}, Reading(("n",), (2.0,))),
        ([NESTED, NESTED], {"id": "node.ref", "scope": "tenant"}, Reading(("n", "n"), None, ("t", "t"))),
        ([{"id": "a"}], {"scope": "tenant"}, Reading(("a",), None, ("",))),
        ([{"id": "a"}], {"scope": lambda hit: None}, Reading(("a",), None, ("",))),
        ([{"a.b": "dotted"}], {"id": "a.b"}, Reading(("dotted",))),
        ([{"class": "a"}], {"id": "class"}, Reading(("a",))),
        ([SimpleNamespace(**{"class": "a"})], {"id": "class"}, Reading(("a",))),
        ([({"ref": "a"}, 0.5)], {"id": "ref"}, Reading(("a",), (0.5,))),
        ([{"id": "a"}], {"id": "ref"}, Reading(None)),
        ([{"ref": "a"}, {"id": "b"}], {"id": "ref"}, Reading(("a", ""))),
        ([{"id": "a"}], {"id": lambda hit: hit["missing"]}, Reading(None)),
        ([0, 2], {"id": ["a", "b", "c"]}, Reading(("a", "c"))),
        ([0, 7, -1], {"id": ["a", "b", "c"]}, Reading(("a", "", ""))),
        ([(0, 0.5)], {"id": ["a"]}, Reading(("a",), (0.5,))),
        ([4], {"id": {4: "a"}}, Reading(("a",))),
    ],
)
def test_where_to_read_can_be_told(results: list[Any], told: dict[str, Any], expected: Reading) -> None:
    """A name, a path of names, a callable or a map from indices says where the parts are."""
    assert Reader(**told).read(results, limit=100) == expected


D = np.array([[0.9, 0.5, -1.0]], dtype=np.float32)
I = np.array([[2, 0, -1]])  # noqa: E741 - faiss's name


@pytest.mark.parametrize(
    ("results", "told", "expected"),
    [
        ((D, I), {}, Reading(("2", "0"), (float(np.float32(0.9)), 0.5))),
        ((D[0], I[0]), {}, Reading(("2", "0"), (float(np.float32(0.9)), 0.5))),
        ((D, I), {"id": ["a", "b", "c"]}, Reading(("c", "a"), (float(np.float32(0.9)), 0.5))),
        ((D, I), {"id": np.array(["a", "b", "c"])}, Reading(("c", "a"), (float(np.float32(0.9)), 0.5))),
        ((D, I), {"id": {2: "c", 0: "a"}.get}, Reading(("c", "a"), (float(np.float32(0.9)), 0.5))),
        ((-D[:, :2], I[:, :2]), {}, Reading(("2", "0"))),
        ((D, np.full((1, 3), -1)), {}, Reading(())),
        ((np.zeros((2, 3)), np.zeros((2, 3), dtype=int)), {}, Reading(None)),
        ((np.array([1, 2]), np.array([2, 3])), {}, Reading(None)),
        ((np.array([0.5, 0.2]), np.array([0.1, 0.3])), {}, Reading(None)),
    ],
)
def test_search_of_faiss_is_read(results: object, told: dict[str, Any], expected: Reading) -> None:
    """``(D, I)`` of one query: places without a neighbour are left out, and distances are no scores."""
    assert Reader(**told).read(results, limit=100) == expected


def test_list_is_cut_to_the_limit() -> None:
    """Of a longer list the first are read, and the true length is given."""
    assert Reader().read(hits("a", "b", "c"), limit=2) == Reading(("a", "b"), (1.0, 0.9), None, 3)
    assert Reader().read((D, I), limit=1) == Reading(("2",), (float(np.float32(0.9)),), None, 2)
    assert Reader().read(np.arange(5), limit=2) == Reading(("0", "1"), None, None, 5)
    assert Reader().read([object()] * 3, limit=2) == Reading(None)


def test_reader_learns_anew_where_lists_differ() -> None:
    """What was learnt from one list does not stop the next one of the same type from being read."""
    reader = Reader()
    assert reader.read([{"id": "a"}], limit=9).ids == ("a",)
    assert reader.read([{"chunk_id": "b", "score": 1}], limit=9) == Reading(("b",), (1.0,))
    assert reader.read([{"chunk_id": "c", "score": 2}], limit=9) == Reading(("c",), (2.0,))
    assert reader.read([{"id": "d", "score": 3}], limit=9) == Reading(("d",), (3.0,))


def test_scores_that_come_later_are_read() -> None:
    """A place whose first documents had no score reads those of later ones, in a list and one by one."""
    reader = Reader()
    assert reader.read([Hit("a")], limit=9) == Reading(("a",))
    assert reader.read([Hit("a", 1.0)], limit=9) == Reading(("a",), (1.0,))
    reader = Reader()
    assert [reader.read_one(hit) for hit in (Hit("a"), Hit("b", 1.0))] == [("a", None, ""), ("b", 1.0, "")]


@pytest.mark.parametrize("told", [{"id": 3}, {"id": ""}, {"score": 0.5}, {"score": ""}, {"scope": ["a"]}])
def test_wrong_place_raises_where_it_is_told(told: dict[str, Any]) -> None:
    """What is neither a name nor a callable cannot say where an ID is."""
    with pytest.raises(UsageError, match="must be a name or a callable"):
        Reader(**told)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.uuids()
THINGS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(["id", "score", "node", "metadata"]) | st.text(), inner)
        | st.builds(lambda value: SimpleNamespace(id=value, score=value), inner)
        | st.builds(lambda value: SimpleNamespace(metadata=value), inner)
    ),
    max_leaves=20,
)


@given(THINGS, st.integers(1, 5))
def test_reading_never_raises(results: object, limit: int) -> None:
    """Whatever it is, reading it gives lists that are aligned and no longer than the limit."""
    reading = Reader().read(results, limit=limit)
    length = len(reading.ids or ())
    assert length <= limit
    assert reading.scores is None or len(reading.scores) == length
    assert reading.total is None or reading.total > limit


@given(st.lists(st.builds(Hit, st.none() | st.text(), st.none() | st.floats(allow_nan=False)), min_size=1, max_size=9))
def test_quick_and_slow_ways_agree(results: list[Hit]) -> None:
    """A list read at once gives what its documents give one by one."""
    reader = Reader()
    reading = reader.read(results, limit=100)
    one_by_one = [reader.read_one(hit) for hit in results]
    if reading.ids is None:
        assert not any(raw for raw, _, _ in one_by_one)
        return
    assert reading.ids == tuple(raw for raw, _, _ in one_by_one)
    scores = tuple(score for _, score, _ in one_by_one)
    assert reading.scores == (None if None in scores else scores)


@pytest.mark.parametrize("bad", [[RaisingId()], [object()], "text", None])
def test_unreadable_list_is_one_warning_and_never_an_exception(
    bad: object, watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    """The application goes on, the stage carries no IDs, and one warning names the place, however often it happens."""

    @rop.stage("vector")
    def search() -> object:
        return bad

    for _ in range(3):
        with rop.handoff("qa") as handoff:
            assert search() is bad
    assert watched.stage("vector").returned is None
    assert [finding.code for finding in handoff.assessment.findings] == ["ids_unreadable"]
    assert len(caplog.messages) == 1
    assert "search" in caplog.messages[0]
    assert watched.errors("ids") == 3


@pytest.mark.parametrize("made_up", [int, str, lambda: "d9"])
def test_mapping_that_makes_up_what_it_lacks_is_left_as_it_is(made_up: Any) -> None:
    """No key is put into a defaultdict, no ID is made up, and those that it has are read."""
    lacking = [defaultdict(made_up, {"text": "a"}), defaultdict(made_up, {"text": "b"})]
    assert Reader().read(lacking, limit=10).ids is None
    assert Reader(id={0: "a", 1: "b"}).read(lacking, limit=10).ids is None
    assert lacking == [{"text": "a"}, {"text": "b"}]
    mixed = [defaultdict(made_up, {"id": "a", "meta": defaultdict(made_up)}), defaultdict(made_up, {"text": "b"})]
    assert Reader().read(mixed, limit=10).ids == ("a", "")
    assert mixed == [{"id": "a", "meta": {}}, {"text": "b"}]
    assert Reader().read([Counter("abc")], limit=10).ids is None


class Table:
    """As a data frame: it is iterated over by column."""

    columns = ("id", "score")

    def __len__(self) -> int:
        return 5

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns


def test_columns_of_a_table_are_no_documents() -> None:
    """A data frame, whose iteration gives the names of its columns, is unreadable."""
    assert Reader().read(Table(), limit=10).ids is None


def test_types_made_anew_in_every_call_are_not_kept() -> None:
    """Documents of a class that each call defines anew leave nothing behind."""
    reader = Reader()
    types: list[ref[type]] = []
    for _ in range(200):
        document = type("Document", (), {"id": "a"})
        types.append(ref(document))
        assert reader.read([document()], limit=10).ids == ("a",)
    del document
    gc.collect()
    assert sum(made() is not None for made in types) <= 64
