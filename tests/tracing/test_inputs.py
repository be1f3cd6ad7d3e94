"""What a stage is handed, found in the call of a decorated function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rop_otel as rop
from tests.tracing.watched import Watched


@pytest.mark.parametrize(
    ("where", "args", "kwargs", "expected"),
    [
        ("given", ("q", ["a"], ["b"]), {}, ("a",)),
        ("given", ("q",), {"given": ["a"]}, ("a",)),
        ("given", ("q",), {}, None),
        ("more", ("q", ["a"]), {}, ("x",)),
        (["given", "more"], ("q", ["a"], ["b"]), {}, ("a", "b")),
        (lambda *args, **kwargs: args[1][::-1], ("q", ["a", "b"]), {}, ("b", "a")),
    ],
)
def test_input_is_found_in_the_call(
    where: Any, args: tuple[Any, ...], kwargs: dict[str, Any], expected: tuple[str, ...] | None, watched: Watched
) -> None:
    """An input is found whether given by place, by name or by default, in one parameter or several."""

    @rop.stage("fusion", input_arg=where)
    def fuse(question: str, given: Any = None, more: Any = ("x",)) -> list[str]:
        return ["a"]

    with rop.handoff("qa"):
        fuse(*args, **kwargs)
    assert watched.stage("fusion").input == expected


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([["a"], ["b", "c"]], ("a", "b", "c")),
        ([[], [("b", 0.5), ("c", 0.2)]], ("b", "c")),
        ((["a"], ["b"]), ("a", "b")),
        ([["a", 0.5], ["b", 0.2]], ("a", "b")),
        ([["a", 3], ["b", 2]], ("a", "b")),
        ([[1, 2], [2, 3]], ("1", "2", "2", "3")),
        ([[1], []], ("1",)),
        ([np.array([1, 2]), np.array([2, 3])], ("1", "2", "2", "3")),
        ((np.array([1, 2]), np.array([2, 3])), ("1", "2", "2", "3")),
        ([np.array(["a", "b"]), np.array(["c"])], ("a", "b", "c")),
        ([np.array([1, 2]), ["c"]], ("1", "2", "c")),
        ([np.array([[1, 2]]), np.array([3]), np.array([], dtype=int)], ("1", "2", "3")),
        (np.array([1, 2]), ("1", "2")),
        ([[]], ()),
        ([], ()),
    ],
)
def test_lists_of_a_fusion_are_joined(lists: Any, expected: tuple[str, ...], watched: Watched) -> None:
    """A list of lists is joined, whether it is one parameter or a call's many; pairs with a score are no lists."""

    @rop.stage("fusion", input_arg="lists")
    def fuse(lists: Any) -> list[str]:
        return ["a"]

    @rop.stage("fusion", input_arg="lists")
    def fuse_all(question: str, *lists: Any) -> list[str]:
        return ["a"]

    with rop.handoff("qa"):
        fuse(lists)
        fuse_all("q", *lists)
        with rop.using_stage("fusion", input=lists) as stage:
            stage.returned(["a"])
    assert [stage.input for stage in watched.stages()] == [expected] * 3


def test_a_search_that_is_handed_on_is_one_list(watched: Watched) -> None:
    """Faiss's pair of distances and indices is what one search returned, and no two lists."""
    found = np.array([[0.5, 0.2]], dtype=np.float32), np.array([[7, 8]])

    @rop.stage("rerank", input_arg="found")
    def rerank(found: Any) -> list[str]:
        return ["7"]

    with rop.handoff("qa"):
        rerank(found)
        with rop.using_stage("rerank", input=found) as stage:
            stage.returned(["7"])
    assert [stage.input for stage in watched.stages()] == [("7", "8")] * 2


def test_input_of_a_method_is_found(watched: Watched) -> None:
    """``self`` and ``cls`` are counted where they are passed."""

    class Ranker:
        @rop.stage("rerank", input_arg="given")
        def method(self, question: str, given: list[str]) -> list[str]:
            return given

        @rop.stage("mmr", input_arg="given")
        @classmethod
        def of_class(cls, question: str, given: list[str]) -> list[str]:
            return given

        @rop.stage("boost", input_arg="given")
        @staticmethod
        def static(question: str, given: list[str]) -> list[str]:
            return given

    with rop.handoff("qa"):
        Ranker().method("q", ["a"])
        Ranker.of_class("q", ["a"])
        Ranker.static("q", ["a"])
    assert [stage.input for stage in watched.stages()] == [("a",)] * 3


def test_input_is_read_before_the_function_changes_it(watched: Watched) -> None:
    """A function that empties the list it was handed was handed the whole list."""

    @rop.stage("candidates", input_arg="given")
    def cut(given: list[str]) -> list[str]:
        del given[1:]
        return given

    with rop.handoff("qa"):
        cut(["a", "b"])
    assert watched.stage("candidates").input == ("a", "b")
    assert watched.stage("candidates").returned == ("a",)


def test_input_callable_that_raises_is_kept_from_the_application(watched: Watched) -> None:
    """An input callable of the user that raises is counted, and the function runs."""

    @rop.stage("candidates", input_arg=lambda *_: 1 / 0)
    def cut(given: list[str]) -> list[str]:
        return given

    with rop.handoff("qa"):
        assert cut(["a"]) == ["a"]
    assert watched.errors("input") == 1
    assert watched.stage("candidates").input is None
