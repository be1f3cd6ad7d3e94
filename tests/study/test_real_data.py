"""Recorded rankings of real questions, against counts that were made without the product."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rop_otel.study.rule_transitions import transitions
from rop_otel.study.tables.every_table import build_tables, chosen
from tests.cli.sealed import report, run
from tests.study.flattened import flattened
from tests.study.real import NAMES, freeze_real
from tests.study.toy import context, rows_of

CUTOFFS = ("1", "5", "20")


@pytest.fixture
def frozen(shared_data: Path, tmp_path: Path) -> str:
    """Return a folder of both data sets."""
    return freeze_real(shared_data, tmp_path)


def by_name(rows: list[dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["selector"], row["form"], row["rule"]): row for row in rows}


def test_counts_are_those_of_the_design(frozen: str) -> None:
    """Misses, their partition and transitions of the 302 judged pages that resolve, as they were counted before."""
    rows = by_name(rows_of(frozen, 5))
    expected = {
        ("title", "bm25_title_body"): [72, 28, 14],
        ("title", "bm25_body"): [115, 50, 21],
        ("question", "bm25_title_body"): [275, 245, 214],
    }
    for name, counts in expected.items():
        row = rows["judged", *name]
        assert (row["n"], row["clusters"], [row["missing"][k] for k in CUTOFFS]) == (302, 302, counts)
        assert row["run_status"] == "RUN_FAIL"
    assert [round(each, 3) for each in rows["judged", "title", "bm25_body"]["interval"]["5"]] == pytest.approx(
        [0.126, 0.209], abs=0.01
    )
    part = by_name(rows_of(frozen, 19))["judged", "title", "bm25_body"]
    assert part["at"]["5"] == {"absent": 50, "near": 29, "nonmatch": 0, "unresolved": 21}
    moves = transitions(context(frozen), before="bm25_body", after="bm25_title_body")["transitions"][0]
    kinds = ("kept", "lost", "recovered", "missed_by_both")
    assert [moves["at"]["5"][kind] for kind in kinds] == [250, 2, 24, 26]
    accounts = {row["selector"]: row for row in rows_of(frozen, 4)}
    assert (accounts["judged"]["planned"], accounts["judged"]["unresolved"]) == (303, 1)
    assert (accounts["hybrider"]["planned"], accounts["hybrider"]["no_selection"]) == (491, 229)


def test_an_independent_script_counts_the_same(frozen: str) -> None:
    """A script that imports nothing of ours reads the same folder, and every count of ours is its count."""
    script = Path(__file__).with_name("recount.py")
    assert "rop_otel" not in script.read_text()
    theirs = json.loads(subprocess.check_output([sys.executable, "-I", str(script), frozen]))
    here = context(frozen, draws=0)
    ours = flattened(build_tables(here, chosen(()))["tables"], transitions(here, before=None, after=None))
    # Table 22 is of rules that stand under both forms.
    compared = {name for name in theirs if name in ours or not name.startswith("22 ")}
    assert ours == {name: theirs[name] for name in compared}
    assert {name.partition(" ")[0] for name in ours} == {"4", "5", "7", "19", "20", "22", "same", "transitions"}


def test_evaluate_counts_the_same_of_the_declared_runs(frozen: str, tmp_path: Path) -> None:
    """Every declared run, judged by the command, has the table's counts and status."""
    out = tmp_path / "declared"
    assert run("study", "declare", frozen, "--out", str(out))[0] == 0
    rows, parts = by_name(rows_of(frozen, 5)), by_name(rows_of(frozen, 19))
    for selector in ("judged", "hybrider"):
        for form, rule in NAMES:
            folder = out / f"{selector}.{form}.{rule}"
            records = str(folder / "records.jsonl")
            found = report(str(folder / "declaration.json"), "--records", records, "--at", "1", "--at", "20")
            row, part = rows[selector, form, rule], parts[selector, form, rule]
            assert (found["run_status"], found["query_form"]) == (row["run_status"], form)
            assert found["verdicts"]["FAIL"] == row["missing"]["5"]
            assert found["evaluable"] == row["n"]
            for cutoff in CUTOFFS:
                theirs = found["partition"]["at"][cutoff]
                assert theirs["past_cutoff"] + theirs["absent"] == row["missing"][cutoff]
                assert (theirs["past_cutoff"], theirs["nonmatch"]) == tuple(
                    part["at"][cutoff][kind] for kind in ("near", "nonmatch")
                )
