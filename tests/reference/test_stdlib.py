from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rop_otel.errors import PipelineError
from rop_otel.reference.assembly import standard_library_task
from rop_otel.reference.corpus import Corpus, bundled_questions, read_standard_library
from rop_otel.reference.corpus.stdlib import MAX_ITEMS


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("asyncio.tasks.wait_for", "asyncio.wait_for"),
        ("collections.Counter.most_common", "collections.Counter.most_common"),
        ("concurrent.futures.thread.ThreadPoolExecutor", "concurrent.futures.ThreadPoolExecutor"),
        ("unittest.case.TestCase.assertRaises", "unittest.TestCase.assertRaises"),
        ("os.makedirs", "os.makedirs"),
        ("os.path.join", "os.path.join"),
        ("queue.LifoQueue.put", "queue.Queue.put"),
        ("asyncio.wait_for#0", "asyncio.wait_for"),
    ],
)
def test_documented_names_resolve(library: Corpus, name: str, key: str) -> None:
    """Public names, defining names, inherited names and passages lead to one object."""
    assert library.resolver.resolve(name) == key


def test_size_is_bounded_and_every_object_has_passages(library: Corpus) -> None:
    """The corpus stays small enough to be indexed in a minute."""
    assert 1000 < len(library.items) <= MAX_ITEMS
    assert all(item.chunks for item in library.items)


def test_a_second_library_is_in_the_index_under_its_own_scope(library: Corpus) -> None:
    """Another library's passages lie beside the standard library's."""
    assert {chunk.scope for item in library.neighbours for chunk in item.chunks} == {"pydantic"}
    assert {chunk.scope for item in library.items for chunk in item.chunks} == {"python"}


def test_reading_imports_nothing_of_the_library() -> None:
    """Modules are read as text: none of them is imported by that."""
    code = (
        "import sys; from rop_otel.reference.corpus import read_standard_library; before = set(sys.modules);"
        "read_standard_library();"
        "print([name for name in set(sys.modules) - before if not name.startswith('_sysconfigdata')])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"


def test_two_readings_are_equal() -> None:
    """Reading again gives the same corpus and the same resolver, byte for byte."""
    first, second = (read_standard_library(modules=("json", "asyncio")) for _ in range(2))
    assert first == second
    assert first.resolver.to_bytes() == second.resolver.to_bytes()


def test_no_sources_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    """A Python without the sources of its library gets one sentence."""
    with pytest.raises(PipelineError, match="--corpus"):
        read_standard_library(root=tmp_path)


def test_a_question_about_what_this_python_lacks_is_left_out() -> None:
    """The task's questions each have a judged object in this Python's library; the others are counted."""
    task = standard_library_task()
    assert all(question.judged for question in task.questions)
    assert len(task.questions) + task.left_out == len(bundled_questions())
