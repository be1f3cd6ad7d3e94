"""What holds of any rankings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rop_otel.study.rule_transitions import transitions
from rop_otel.study.tables.every_table import build_tables, chosen
from tests.study.toy import context, freeze, question, ranked

PAGES = [f"p{number}" for number in range(6)]
CUTOFFS = [1, 2, 3, 4]
LISTS = st.one_of(
    st.lists(st.sampled_from(PAGES), max_size=4),
    st.sampled_from(["rule_failed: E", "empty_query", "gone"]),
)
ROW = st.tuples(
    st.sampled_from([None, "elsewhere", *PAGES]),
    st.lists(st.sampled_from(["elsewhere", *PAGES]), max_size=2),
    st.sampled_from(["one", "two"]),
    LISTS,
    LISTS,
)


def judged(folder: str, rows: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return every table, and the transitions, of rows of any kind; one whose list is "gone" has no line."""
    questions = [
        question(f"q{number // 2}", selected, gold, selector=f"{selector}{number % 2}")
        for number, (selected, gold, selector, _, _) in enumerate(rows)
    ]
    rankings = {}
    for place, rule in ((3, "x"), (4, "y")):
        lines = []
        for row, given_row in zip(questions, rows, strict=True):
            if given_row[place] != "gone":
                lines += ranked([row], "title", rule, {row["id"]: given_row[place]})
        rankings["title", rule] = lines
    freeze(Path(folder), questions, rankings, depth=4, pages=PAGES)
    here = context(folder, at=CUTOFFS, draws=20)
    return build_tables(here, chosen([]))["tables"], transitions(here, before="x", after="y")


@settings(max_examples=40)
@given(st.lists(ROW, min_size=1, max_size=8))
def test_nothing_is_counted_twice_or_left_out(rows: Sequence[Any]) -> None:
    """Parts add up to the rows that they are of, misses fall with the cutoff, and what is kept or lost was found."""
    with TemporaryDirectory() as folder:
        tables, moves = judged(folder, rows)
    for row in tables["4"]["rows"]:
        kinds = [count for key, count in row.items() if key not in ("selector", "planned")]
        assert sum(kinds) == row["planned"]
    for run in tables["4"]["runs"]:
        assert sum(run["verdicts"].values()) == run["planned"]
    found = {}
    for lost, returned, part in zip(tables["5"]["rows"], tables["14"]["rows"], tables["19"]["rows"], strict=True):
        missing = [lost["missing"][str(cutoff)] for cutoff in CUTOFFS]
        assert missing == sorted(missing, reverse=True)
        for cutoff in map(str, CUTOFFS):
            assert lost["missing"][cutoff] + returned["returned"][cutoff] + lost["unverifiable"] == lost["n"]
            at = part["at"][cutoff]
            assert at["near"] + at["nonmatch"] + at["unresolved"] == at["absent"] == lost["missing"][cutoff]
            found[lost["selector"], lost["rule"], cutoff] = returned["returned"][cutoff]
    for row in tables["8"]["rows"]:
        for at in row["at"].values():
            assert sum(at.values()) + row["unverifiable"] == row["n"]
    for row in moves["transitions"]:
        for cutoff, at in row["at"].items():
            assert (
                sum(at[kind] for kind in ("kept", "recovered", "lost", "missed_by_both")) + at["unverifiable"]
                == row["n"]
            )
            if not at["unverifiable"]:
                assert at["kept"] + at["lost"] == found[row["selector"], "x", cutoff]
                assert at["kept"] + at["recovered"] == found[row["selector"], "y", cutoff]
