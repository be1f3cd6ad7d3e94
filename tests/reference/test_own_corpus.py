from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rop_otel.errors import InputError
from rop_otel.reference.assembly import files_task
from rop_otel.reference.corpus import read_corpus, read_questions

PAGE = {"id": "p1", "title": "One", "text": "The text."}
QUESTION = {"id": "q1", "question": "What?"}


def write(file: Path, *lines: object, raw: bytes | None = None) -> Path:
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines) if raw is None else raw
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)
    return file


def test_plain_and_gzip_files_make_one_corpus(tmp_path: Path) -> None:
    """Several files, zipped or not, are read as one."""
    plain = write(tmp_path / "a.jsonl", PAGE)
    zipped = write(tmp_path / "b.jsonl.gz", {**PAGE, "id": "p2"})
    corpus = read_corpus([plain, zipped])
    assert [item.id for item in corpus.items] == ["p1", "p2"]
    assert corpus.resolver.resolve("p2#0") == "p2"


def test_long_pages_become_several_passages_with_all_of_their_text(tmp_path: Path) -> None:
    """Nothing of a long page is left out."""
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(80))
    (item,) = read_corpus([write(tmp_path / "a.jsonl", {**PAGE, "text": text})]).items
    assert len(item.chunks) > 10
    assert "".join("".join(chunk.text.split()) for chunk in item.chunks) == "".join(text.split())


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"{", ":2: no JSON"),
        (b"[1]", ":2: a JSON object is expected, not list"),
        (b'{"title": "t", "text": "x"}', ":2: 'id' is missing"),
        (b'{"id": 7, "title": "t", "text": "x"}', ":2: 'id' has to be a non-empty string, not 7"),
        (b'{"id": "p1", "title": "One", "text": "Other."}', ":2: the id 'p1' is there twice"),
        (json.dumps(PAGE).encode(), ":2: the id 'p1' is there twice"),
        (b"\xff", ":2: no JSON"),
        (b'{"id": "p", "title": "\\ud800", "text": "x"}', ":2: 'title' holds half of a surrogate pair"),
        (b"[" * 100_000, ":2: no JSON"),
    ],
)
def test_a_bad_page_is_named_by_file_and_line(tmp_path: Path, line: bytes, what: str) -> None:
    """Each line that cannot be used gives file, line and reason."""
    file = write(tmp_path / "a.jsonl", raw=json.dumps(PAGE).encode() + b"\n" + line + b"\n")
    with pytest.raises(InputError) as caught:
        read_corpus([file])
    assert str(caught.value).startswith(f"{file}{what}")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({**QUESTION, "gold_ids": "p1"}, "'gold_ids' has to be a list of strings"),
        ({**QUESTION, "gold_ids": [1]}, "'gold_ids' has to be a list of strings"),
        ({**QUESTION, "gold_ids": ["\ud800"]}, "'gold_ids' has to be a list of strings"),
        ({**QUESTION, "selected_id": 5}, "'selected_id' has to be a string or null"),
        ({"id": "q1"}, "'question' is missing"),
    ],
)
def test_a_bad_question_is_named_by_file_and_line(tmp_path: Path, line: object, what: str) -> None:
    """Each question that cannot be used gives file, line and reason."""
    file = write(tmp_path / "q.jsonl", line)
    with pytest.raises(InputError, match=what) as caught:
        read_questions([file])
    assert caught.value.line == 1


def test_the_same_question_twice_is_an_error(tmp_path: Path) -> None:
    """Question ids are unique."""
    with pytest.raises(InputError, match=":2: the question id 'q1' is there twice"):
        read_questions([write(tmp_path / "q.jsonl", QUESTION, QUESTION)])


def test_gzip_cut_short_is_an_error_with_its_line(tmp_path: Path) -> None:
    """A file that breaks off is no corpus."""
    data = gzip.compress(b"".join(json.dumps({**PAGE, "id": str(number)}).encode() + b"\n" for number in range(5000)))
    file = write(tmp_path / "a.jsonl", raw=data[: len(data) // 2])
    with pytest.raises(InputError, match=r"a\.jsonl:\d+: the compressed data is cut short"):
        read_corpus([file])


def test_a_missing_or_empty_file_is_an_error(tmp_path: Path) -> None:
    """A file that is not there or holds nothing is named."""
    with pytest.raises(InputError, match="cannot be read"):
        read_corpus([tmp_path / "none.jsonl"])
    with pytest.raises(InputError, match="no page in it"):
        read_corpus([write(tmp_path / "a.jsonl", raw=b"\n")])
    with pytest.raises(InputError, match="no question in it"):
        read_questions([write(tmp_path / "q.jsonl")])


def test_without_a_recorded_selection_the_first_known_judged_object_counts(tmp_path: Path) -> None:
    """A selection is assumed only where the line has no ``selected_id`` at all, and that is counted."""
    pages = write(tmp_path / "a.jsonl", PAGE, {**PAGE, "id": "p2"})
    questions = write(
        tmp_path / "q.jsonl",
        {**QUESTION, "gold_ids": ["gone", "p2"]},
        {**QUESTION, "id": "q2", "gold_ids": ["p1"], "selected_id": None},
        {**QUESTION, "id": "q3", "gold_ids": ["p1"], "selected_id": "p2"},
        {**QUESTION, "id": "q4"},
        {**QUESTION, "id": "q5", "gold_ids": ["gone", "lost"]},
    )
    task = files_task([pages], [questions])
    assert [question.selected for question in task.questions] == ["p2", None, "p2", None, "gone"]
    assert [question.recorded for question in task.questions] == [False, True, True, False, False]
    assert (task.assumed, task.linked) == (2, False)
