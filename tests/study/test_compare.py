"""Beside the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rop_otel.study.compare import compare_with_paper, lay_out_comparison
from rop_otel.study.paper import PUBLISHED, REASONS
from rop_otel.study.tables.every_table import TABLES, build_tables, chosen
from tests.study.test_tables import different, simple
from tests.study.toy import context, freeze, question, ranked


def compared(folder: str, *numbers: int) -> dict[str, Any]:
    """Return a folder's tables beside the paper's."""
    here = context(folder)
    return compare_with_paper(build_tables(here, chosen(numbers))["tables"], selector=here.whole.name)


def test_published_figures_are_shares_of_known_tables() -> None:
    """Joint outcomes of a rule and a cutoff are those of all records."""
    assert all(0 <= figure.low <= figure.high <= 1 for figure in PUBLISHED)
    assert {figure.table for figure in PUBLISHED} <= set(TABLES)
    for table in (8, 16, 17):
        sums: dict[tuple[str, str, int], float] = {}
        for figure in PUBLISHED:
            if figure.table == table:
                key = (figure.form, figure.rule, figure.at)
                sums[key] = sums.get(key, 0) + figure.low
        assert {round(each, 6) for each in sums.values()} == {1.0}


def test_published_figures_agree_with_each_other() -> None:
    """Different labels are U only and G only together; what is absent is partitioned, at either end of the range."""
    by_key = {(each.table, each.rule, each.measure, each.at): each for each in PUBLISHED if each.form == "title"}
    for (table, rule, measure, at), figure in by_key.items():
        if table == 18:
            parts = [by_key[17, rule, kind, at].low for kind in ("selected_only", "trace_only")]
            assert figure.low == pytest.approx(sum(parts)), (rule, measure, at)
        if table == 16:
            assert figure.low == by_key[17, rule, measure, at].low


def test_each_figure_has_ours_and_the_reasons(tmp_path: Path) -> None:
    """A rule that is not there is left out."""
    found = compared(different(tmp_path))
    rows = {(row["table"], row["form"], row["rule"], row["measure"], row["at"]): row for row in found["rows"]}
    row = rows[8, "title", "bm25_body", "both", 5]
    assert (row["paper"], row["ours"], row["n"]) == ([0.1277, 0.1277], 0.25, 4)
    assert "dense" in rows[14, "title", "dense", "returned", 5]["why"]
    assert all(set(row["why"]) <= set(found["reasons"]) <= set(REASONS) for row in found["rows"])
    assert not [row for row in found["rows"] if row["rule"] == "maxsim"]
    [grid] = lay_out_comparison(found)
    assert len(grid.rows) == len(found["rows"])


def test_the_papers_table_5_is_of_equal_objects(tmp_path: Path) -> None:
    """Where U = G is known, it stands beside those rows; where not, beside all, and that is said."""
    questions = [question("a", "u", ["u"]), question("b", "u", ["g"])]
    lines = ranked(questions, "title", "bm25_body", {"a": ["f"], "b": ["u"]})
    folder = tmp_path / "aligned"
    folder.mkdir()
    found = compared(freeze(folder, questions, {("title", "bm25_body"): lines}), 5)
    assert [(row["ours"], row["n"], "cohort" in row["why"]) for row in found["rows"]] == [(1.0, 1, False)]
    other = tmp_path / "other"
    other.mkdir()
    found = compared(simple(other), 5)
    assert [(row["n"], "cohort" in row["why"]) for row in found["rows"]] == [(6, True)]
