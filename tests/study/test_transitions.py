"""From one rule to another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rop_otel.errors import ConfigurationError
from rop_otel.study.rule_transitions import lay_out, mcnemar, transitions
from tests.study.toy import context, freeze, question, ranked

QUESTIONS = [
    question("a", "u", ["u"], kind="new"),
    question("b", "u", ["g"], kind="old"),
    question("c", "u", kind="old"),
    question("d", "u"),
    question("e", None),
]
FIRST = {"a": ["u"], "b": ["u"], "c": ["f"], "d": ["f"], "e": "no_selection"}
SECOND = {"a": ["u"], "b": ["f"], "c": ["u"], "d": ["f"], "e": "no_selection"}


def made(folder: Path) -> str:
    rankings = {
        ("title", "x"): ranked(QUESTIONS, "title", "x", FIRST),
        ("title", "y"): ranked(QUESTIONS, "title", "y", SECOND),
        ("title", "z"): ranked(QUESTIONS, "title", "z", {**SECOND, "d": "rule_failed: E"}),
        ("question", "x"): ranked(QUESTIONS, "question", "x", FIRST),
    }
    return freeze(folder, QUESTIONS, rankings, pages=["u", "g", "f"])


def found(folder: Path, **options: Any) -> list[dict[str, Any]]:
    asked = {"before": None, "after": None, **options}
    rows: list[dict[str, Any]] = transitions(context(made(folder), at=[5]), **asked)["transitions"]
    return rows


def test_every_row_is_kept_recovered_lost_or_missed(tmp_path: Path) -> None:
    """Of the rows with a selection in the corpus."""
    [row] = found(tmp_path, before="x", after="y")
    assert (row["selector"], row["form"], row["n"]) == ("default", "title", 4)
    counts = {kind: row["at"]["5"][kind] for kind in ("kept", "recovered", "lost", "missed_by_both", "unverifiable")}
    assert counts == {"kept": 1, "recovered": 1, "lost": 1, "missed_by_both": 1, "unverifiable": 0}
    assert (row["at"]["5"]["difference"], row["at"]["5"]["p"]) == (0.0, 1.0)


def test_a_lost_row_is_none_of_them(tmp_path: Path) -> None:
    """It stays in the number of rows, and the interval covers both ends."""
    [row] = found(tmp_path, before="x", after="z")
    at, interval = row["at"]["5"], row["interval"]["5"]
    [certain] = found(tmp_path, before="x", after="y")
    assert interval[0] <= certain["interval"]["5"][0]
    assert interval[1] > certain["interval"]["5"][1]
    assert (row["n"], at["kept"] + at["recovered"] + at["lost"] + at["missed_by_both"], at["unverifiable"]) == (4, 3, 1)


@pytest.mark.parametrize(
    ("options", "pairs"),
    [
        ({}, ["x y", "x z", "y z"]),
        ({"before": "y"}, ["y x", "y z"]),
        ({"after": "x"}, ["y x", "z x"]),
    ],
)
def test_rules_that_are_left_out_stand_for_each(tmp_path: Path, options: dict[str, str], pairs: list[str]) -> None:
    """Pairs are within a query form; one with a single rule has none."""
    assert [f"{row['from']} {row['to']}" for row in found(tmp_path, **options)] == pairs


@pytest.mark.parametrize(
    ("field", "groups"),
    [
        ("kind", {None: 4, '"new"': 0, "new": 1, "old": 2, "null": 1}),
        ("standing", {None: 4, "same": 1, "different": 1, "no_trace": 2}),
    ],
)
def test_groups_partition_the_rows(tmp_path: Path, field: str, groups: dict[str | None, int]) -> None:
    """By any field of a question, and by how U stands to G; a row without the field is in the group null."""
    rows = found(tmp_path, before="x", after="y", group=field)
    assert {row["group"]: row["n"] for row in rows} == {key: n for key, n in groups.items() if n}
    whole, *parts = [row["at"]["5"] for row in rows]
    for kind in ("kept", "recovered", "lost", "missed_by_both"):
        assert sum(part[kind] for part in parts) == whole[kind]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"before": "w"}, "--from 'w': it is not among x, y, z"),
        ({"after": "w"}, "--to 'w'"),
        ({"form": "cell"}, "--form 'cell': it is not among question, title"),
        ({"form": "question", "before": "y"}, "--from 'y': it is not among x"),
        ({"before": "x", "after": "x"}, "nothing changes"),
        ({"group": "colour"}, "--group 'colour'"),
    ],
)
def test_what_is_not_there_is_named(tmp_path: Path, options: dict[str, str], words: str) -> None:
    """With what is."""
    with pytest.raises(ConfigurationError, match=words):
        found(tmp_path, **options)


def test_mcnemar_is_the_exact_binomial() -> None:
    """Two-sided: 5 of 6 changes one way have a p of 14/64."""
    assert mcnemar(5, 1) == mcnemar(1, 5) == pytest.approx(14 / 64)
    assert mcnemar(0, 0) == 1


def test_a_grid_names_the_group(tmp_path: Path) -> None:
    """Its column stands only where rows are grouped."""
    here = context(made(tmp_path), at=[5])
    plain = transitions(here, before="x", after="y")
    grouped = transitions(here, before="x", after="y", group="kind")
    assert "kind" not in lay_out(plain)[0].header
    [grid] = lay_out(grouped)
    assert "kind" in grid.header
    assert all(len(row) == len(grid.header) for row in grid.rows)
