"""Folders that cannot be trusted: each is one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rop_otel.errors import InputError
from rop_otel.study.frozen_study import read_study
from tests.study.toy import context, freeze, question, ranked, rows_of

QUESTIONS = [question("a", "u"), question("b", "v")]
LINES = ranked(QUESTIONS, "title", "x", {"a": ["u"], "b": ["u", "v"]})
FILES = ["questions.jsonl", "pages.jsonl", "corpus.json", "rankings/title.x.jsonl"]


def made(folder: Path) -> Path:
    freeze(folder, QUESTIONS, {("title", "x"): LINES})
    return folder


def read_everything(folder: Path) -> None:
    """Read what the tables read."""
    found = context(str(folder))
    for name in found.study.rankings:
        found.judged(name)
    found.study.corpus()


def grow(place: Path) -> None:
    place.write_bytes(place.read_bytes() + b"\n")


def turn(place: Path) -> None:
    data = place.read_bytes()
    place.write_bytes(data[:5] + bytes([data[5] ^ 1]) + data[6:])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("change", "words"),
    [(grow, "it holds"), (turn, "another one"), (Path.unlink, "is missing")],
    ids=["grown", "turned", "removed"],
)
def test_a_changed_or_missing_file_is_named(
    tmp_path: Path, name: str, change: Callable[[Path], None], words: str
) -> None:
    """No byte of it is used, whichever file it is."""
    folder = made(tmp_path)
    change(folder / name)
    with pytest.raises(InputError, match=words) as caught:
        read_everything(folder)
    assert str(folder / name) in str(caught.value)
    assert "rop-otel study rank" in str(caught.value)


def manifest(folder: Path, **changes: Any) -> Path:
    """Write the manifest anew."""
    place = folder / "manifest.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **changes}))
    return folder


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": 2}, "only 1 is known"),
        ({"depth": 0}, "depth 0"),
        ({"depth": "deep"}, "cannot be read"),
        ({"planned": 3}, "2 rows where 3 are planned"),
        ({"rules": ["y"]}, "holds no rankings"),
        ({"outputs": []}, "lists no pages.jsonl"),
        ({"outputs": [{"name": "../x", "bytes": 0, "sha256": ""}]}, "within the folder"),
        ({"outputs": [{"name": "/x", "bytes": 0, "sha256": ""}]}, "within the folder"),
    ],
)
def test_an_odd_manifest_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """What it says cannot be, or is not what is there."""
    with pytest.raises(InputError, match=words):
        read_study(str(manifest(made(tmp_path), **changes)))


def test_a_folder_without_a_manifest_is_not_complete(tmp_path: Path) -> None:
    """Neither is an empty one, nor one that is none."""
    with pytest.raises(InputError, match=r"holds no manifest\.json"):
        read_study(str(tmp_path))
    with pytest.raises(InputError, match="no folder"):
        read_study(str(tmp_path / "nothing"))
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        read_study(str(tmp_path))


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        ([question("a", "u"), question("a", "u")], "two rows of id 'a' and selector 'default'"),
        ([question("a", "u", resolves=False)], "'resolves' is false"),
        ([question("", "u")], "not empty"),
        ([{**question("a", "u"), "id": 7}], "no question"),
        ([{**question("a", "u"), "gold_ids": "g"}], "no question"),
        ([], "no row is planned"),
    ],
)
def test_questions_that_contradict_are_refused(tmp_path: Path, questions: list[dict[str, Any]], words: str) -> None:
    """The file and the line are named."""
    folder = freeze(tmp_path, questions, {("title", "x"): []}, pages=["u"])
    with pytest.raises(InputError, match=words):
        read_study(folder)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({**LINES[0], "rule": "y"}, "in the file of 'title' and 'x'"),
        ({**LINES[0], "selector": "nobody"}, "no row is planned for selector 'nobody'"),
        ({"id": "a", "ids": []}, "cannot be read"),
    ],
)
def test_a_line_that_belongs_elsewhere_is_refused(tmp_path: Path, line: dict[str, Any], words: str) -> None:
    """It is no row of this ranking."""
    folder = freeze(tmp_path, QUESTIONS, {("title", "x"): [LINES[0], line]}, pages=["u", "v"])
    with pytest.raises(InputError, match=words):
        rows_of(folder, 5)


def test_ids_that_are_no_list_of_strings_are_unverifiable(tmp_path: Path) -> None:
    """As for any record: one bad element makes the list malformed."""
    lines = [{**LINES[0], "ids": ["u", None]}, LINES[1]]
    folder = freeze(tmp_path, QUESTIONS, {("title", "x"): lines}, pages=["u", "v"])
    [row] = rows_of(folder, 5)
    assert (row["n"], row["missing"]["5"], row["unverifiable"], row["run_status"]) == (2, 0, 1, "RUN_UNVERIFIABLE")


def test_names_with_a_colon_are_files_with_a_plus(tmp_path: Path) -> None:
    """As rules with a reserved slot have them."""
    lines = ranked(QUESTIONS, "title", "reserved:x", {"a": ["u"], "b": ["v"]})
    folder = freeze(tmp_path, QUESTIONS, {("title", "reserved:x"): lines})
    assert (tmp_path / "rankings" / "title.reserved+x.jsonl").exists()
    assert [row["rule"] for row in rows_of(folder, 5)] == ["reserved:x"]
