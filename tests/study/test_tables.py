"""The tables over folders that were made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from rop_otel.errors import ConfigurationError
from rop_otel.study.study_report import tables_report
from rop_otel.study.tables.every_table import TABLES, build_tables, chosen
from tests.study.toy import context, freeze, question, ranked, rows_of

FILLER = [f"f{number}" for number in range(30)]


def at(rank: int, page: str = "u", *, length: int = 20) -> list[str]:
    """Return a list in which a page has a rank."""
    return [*FILLER[: rank - 1], page, *FILLER[rank - 1 :]][:length]


def simple(folder: Path) -> str:
    """Freeze six rows: ranks 1, 5, 6, 20 of U, one absent from a full list and one from a short one."""
    questions = [question(name, "u") for name in "abcdef"]
    lists = {"a": at(1), "b": at(5), "c": at(6), "d": at(20), "e": FILLER[:20], "f": FILLER[:3]}
    return freeze(folder, questions, {("title", "bm25_body"): ranked(questions, "title", "bm25_body", lists)})


def test_losses_are_counted_at_every_cutoff(tmp_path: Path) -> None:
    """A rank at the cutoff is within it, and one behind it is not."""
    [row] = rows_of(simple(tmp_path), 5)
    assert (row["selector"], row["form"], row["rule"]) == ("default", "title", "bm25_body")
    assert row["n"] == 6
    assert row["missing"] == {"1": 5, "5": 4, "20": 2}
    assert row["clusters"] == 6
    assert row["run_status"] == "RUN_FAIL"
    assert row["unverifiable"] == 0
    low, high = row["interval"]["5"]
    assert 0 <= low <= row["rate"]["5"] <= high <= 1


def test_misses_are_partitioned_by_what_the_list_shows(tmp_path: Path) -> None:
    """A rank behind the cutoff is near, a short list without the object a nonmatch, a full one leaves it open."""
    [row] = rows_of(simple(tmp_path), 19)
    assert row["at"]["5"] == {"absent": 4, "near": 2, "nonmatch": 1, "unresolved": 1}
    assert row["at"]["20"] == {"absent": 2, "near": 0, "nonmatch": 1, "unresolved": 1}


def test_every_miss_has_its_ranks_by_every_rule(tmp_path: Path) -> None:
    """Records of one object whose ranks agree stand in one row; what no list shows has no rank."""
    questions = [question("a", "u"), question("b", "u"), question("c", "v"), question("d", "w")]
    rankings = {
        ("title", "x"): ranked(questions, "title", "x", {"a": at(7), "b": at(7), "c": at(1, "v"), "d": at(1, "w")}),
        ("title", "y"): ranked(
            questions, "title", "y", {"a": FILLER[:20], "b": FILLER[:20], "c": "rule_failed: E", "d": ["u"]}
        ),
    }
    row, other = rows_of(freeze(tmp_path, questions, rankings), 7)
    assert row["selected_id"] == "u"
    assert row["title"] == "Title u"
    assert (row["rows"], row["ranks"], row["missed_by"]) == (2, {"x": 7, "y": None}, ["x", "y"])
    assert [record["id"] for record in row["records"]] == ["a", "b"]
    assert (other["title"], other["ranks"], other["nonmatch"]) == ("Title w", {"x": 1, "y": None}, ["y"])


def test_nothing_selected_is_accounted_for_and_no_smaller_run(tmp_path: Path) -> None:
    """A row without U, and one whose U is no page, stand in the accounting and make the run unverifiable."""
    questions = [question("a", "u"), question("b", None), question("c", "gone")]
    lists = {"a": at(1), "b": "no_selection", "c": "unresolved_selection"}
    pages = ["u", *FILLER]
    folder = freeze(tmp_path, questions, {("title", "x"): ranked(questions, "title", "x", lists)}, pages=pages)
    [row] = rows_of(folder, 5)
    assert (row["n"], row["planned"], row["missing"]["5"], row["unverifiable"]) == (1, 3, 0, 0)
    assert row["run_status"] == "RUN_UNVERIFIABLE"
    [account] = rows_of(folder, 4)
    standings = {key: account[key] for key in ("planned", "no_selection", "unresolved", "no_trace")}
    assert standings == {"planned": 3, "no_selection": 1, "unresolved": 1, "no_trace": 1}
    [run] = build_tables(context(folder), chosen([4]))["tables"]["4"]["runs"]
    assert run["verdicts"] == {"PASS": 1, "SELECTOR_ERROR": 1, "RESOLUTION_ERROR": 1}
    assert run["not_run"] == {"no_selection": 1, "unresolved_selection": 1}


@pytest.mark.parametrize(
    ("lost", "verdict"),
    [(None, "MISSING"), ("rule_failed: ValueError", "UNVERIFIABLE"), ("empty_query", "UNVERIFIABLE")],
)
def test_a_lost_row_makes_the_run_unverifiable_and_not_smaller(tmp_path: Path, lost: str | None, verdict: str) -> None:
    """The row stays among the planned ones, and the interval covers that it was found as well as that it was missed."""
    questions = [question(name, "u") for name in "abcd"]
    lists = {"a": at(1), "b": at(1), "c": at(1)} | ({"d": lost} if lost else {})
    folder = freeze(tmp_path, questions, {("title", "x"): ranked(questions, "title", "x", lists)})
    [row] = rows_of(folder, 5)
    assert (row["n"], row["missing"]["5"], row["unverifiable"]) == (4, 0, 1)
    assert row["run_status"] == "RUN_UNVERIFIABLE"
    low, high = row["interval"]["5"]
    assert low == 0
    assert high > 0.25
    [run] = build_tables(context(folder), chosen([4]))["tables"]["4"]["runs"]
    assert run["verdicts"] == {"PASS": 3, verdict: 1}
    shown = tables_report(context(folder), chosen([5, 14]), kind="text")
    assert ".000–.250 [.000, " in shown
    assert ".750–1.000 [" in shown


@pytest.mark.parametrize("again", [at(1), at(9)])
def test_a_row_that_is_ranked_twice_invalidates_the_run(tmp_path: Path, again: list[str]) -> None:
    """Neither list counts: nothing says which is the one that was returned."""
    questions = [question("a", "u"), question("b", "u")]
    lines = ranked(questions, "title", "x", {"a": at(1), "b": at(1)})
    twice = [*lines, {**lines[0], "ids": again}]
    [row] = rows_of(freeze(tmp_path, questions, {("title", "x"): twice}), 5)
    assert (row["n"], row["missing"]["5"], row["unverifiable"], row["run_status"]) == (2, 0, 1, "RUN_INVALID")


def test_a_row_that_was_not_planned_invalidates_the_run(tmp_path: Path) -> None:
    """It is counted nowhere but in the accounting."""
    questions = [question("a", "u")]
    lines = ranked([*questions, question("z", "u")], "title", "x", {"a": at(1), "z": at(1)})
    folder = freeze(tmp_path, questions, {("title", "x"): lines})
    assert rows_of(folder, 5)[0]["run_status"] == "RUN_INVALID"
    [run] = build_tables(context(folder), chosen([4]))["tables"]["4"]["runs"]
    assert run["unexpected"] == 1


def test_repeated_ids_use_up_ranks(tmp_path: Path) -> None:
    """The first occurrence counts, behind whatever stands before it."""
    questions = [question("a", "u")]
    lists = {"a": ["f0", "f0", "f1", "f1", "f2", "u", "u"]}
    folder = freeze(tmp_path, questions, {("title", "x"): ranked(questions, "title", "x", lists)})
    assert rows_of(folder, 5)[0]["missing"] == {"1": 1, "5": 1, "20": 0}


def different(folder: Path) -> str:
    """Freeze four rows of two selectors whose U and G differ, a row with U = G, and one without G."""
    questions = [
        question("a", "u", ["g"], linked_from_table=True),
        question("b", "u", ["g"], linked_from_table=False),
        question("c", "u", ["g", "h"], linked_from_table=True),
        question("d", "u", ["g"], linked_from_table=True),
        question("same", "u", ["h", "u"], linked_from_table=True),
        question("none", "u", linked_from_table=True),
    ]
    body = {"a": ["u", "g"], "b": ["u"], "c": ["h"], "d": ["f0"], "same": ["h"], "none": ["u"]}
    dense = {"a": ["g"], "b": ["f0", "g"], "c": ["u"], "d": ["f0"], "same": ["u"], "none": ["u"]}
    rankings = {
        (form, rule): ranked(questions, form, rule, lists)
        for form in ("title", "question")
        for rule, lists in (("bm25_body", body), ("dense", dense))
    }
    return freeze(folder, questions, rankings)


def test_joint_outcomes_are_of_the_rows_whose_objects_differ(tmp_path: Path) -> None:
    """Both, U only, G only and neither partition them; one of several judged objects is enough."""
    first = rows_of(different(tmp_path), 8)[0]
    assert (first["form"], first["rule"], first["n"], first["of"]) == ("title", "bm25_body", 4, 5)
    assert first["at"]["5"] == {"both": 1, "selected_only": 1, "trace_only": 1, "neither": 1}
    assert first["at"]["1"] == {"both": 0, "selected_only": 2, "trace_only": 1, "neither": 1}
    assert first["different"] == {"1": 3, "5": 2, "20": 2}
    assert first["own_table"]["n"] == 3
    assert first["own_table"]["at"]["5"] == {"both": 1, "selected_only": 0, "trace_only": 1, "neither": 1}


def test_joint_outcomes_are_those_of_the_run_report(tmp_path: Path) -> None:
    """The rows of a table add up to what ``evaluate`` reports of the same run."""
    found = context(different(tmp_path))
    for name in found.study.rankings:
        report = found.judged(name).reports["default"]
        [row] = [row for row in rows_of(found.study.files.folder, 8) if (row["form"], row["rule"]) == name]
        assert report.joint is not None
        assert {cutoff: at["different"] for cutoff, at in report.joint["at"].items()} == row["at"]
        [part] = [row for row in rows_of(found.study.files.folder, 19) if (row["form"], row["rule"]) == name]
        assert report.partition is not None
        for cutoff, shape in report.partition["at"].items():
            assert (shape["past_cutoff"], shape["nonmatch"]) == (
                part["at"][cutoff]["near"],
                part["at"][cutoff]["nonmatch"],
            )
            assert shape["absent"] == part["at"][cutoff]["nonmatch"] + part["at"][cutoff]["unresolved"]


def test_the_smaller_joint_tables_repeat_the_large_one(tmp_path: Path) -> None:
    """Tables 16, 17 and 18 hold the title query of table 8."""
    folder = different(tmp_path)
    titled = [row for row in rows_of(folder, 8) if row["form"] == "title"]
    assert [row["at"] for row in rows_of(folder, 16)] == [row["at"] for row in titled]
    assert [row["at"] for row in rows_of(folder, 17)] == [row["at"] for row in titled]
    assert [row["different"] for row in rows_of(folder, 18)] == [row["different"] for row in titled]


def test_an_example_has_its_labels_turned_round(tmp_path: Path) -> None:
    """One rule returns G alone and the other U alone, by the same query."""
    [row] = rows_of(different(tmp_path), 15)
    assert (row["id"], row["query"]) == ("b", "title of b")
    assert row["ranks"] == [
        {"rule": "dense", "rank": None, "trace_rank": 2, "result": "trace_only"},
        {"rule": "bm25_body", "rank": 1, "trace_rank": None, "result": "selected_only"},
    ]


def test_recall_of_the_judged_object_is_over_all_planned_rows(tmp_path: Path) -> None:
    """A row without a selection counts as a miss where a query is made of one, and is ranked by its question."""
    questions = [question("a", "u", ["g"]), question("b", None, ["g"]), question("c", "u", ["g"]), question("d", "u")]
    rankings = {
        ("title", "x"): ranked(
            questions, "title", "x", {"a": ["g"], "b": "no_selection", "c": "rule_failed: E", "d": ["g"]}
        ),
        ("question", "x"): ranked(questions, "question", "x", {"a": ["g"], "b": ["g"], "c": ["f0"], "d": ["g"]}),
    }
    title, asked = rows_of(freeze(tmp_path, questions, rankings), 20)
    assert (title["n"], title["returned"]["5"], title["without_query"], title["unverifiable"]) == (3, 1, 1, 1)
    assert (asked["n"], asked["returned"]["5"], asked["without_query"], asked["unverifiable"]) == (3, 2, 0, 0)


def test_question_and_title_are_compared_row_by_row(tmp_path: Path) -> None:
    """The difference is over the rows with U = G."""
    questions = [question(name, "u", ["u"]) for name in "abcd"]
    rankings = {
        ("title", "x"): ranked(questions, "title", "x", {"a": ["u"], "b": ["u"], "c": ["u"], "d": ["f0"]}),
        ("question", "x"): ranked(questions, "question", "x", {"a": ["u"], "b": ["f0"], "c": ["f0"], "d": ["u"]}),
    }
    [row] = rows_of(freeze(tmp_path, questions, rankings), 22)
    assert row["returned"] == {
        "question": {"1": 2, "5": 2, "20": 2},
        "title": {"1": 3, "5": 3, "20": 3},
    }
    assert row["difference"]["5"] == 0.25
    low, high = row["interval"]["5"]
    assert low <= 0.25 <= high


def two_selectors(folder: Path) -> str:
    """Freeze two selectors over the same three questions."""
    questions = [question(name, "u", ["u"], selector=selector) for selector in ("one", "two") for name in "abc"]
    lines = [
        *ranked(questions, "title", "x", {"a": ["u"], "b": ["f0"], "c": ["f0"]}, selector="one"),
        *ranked(questions, "title", "x", {"a": ["u"], "b": ["u"], "c": ["f0"]}, selector="two"),
    ]
    return freeze(folder, questions, {("title", "x"): lines})


def test_selectors_stand_apart_and_together(tmp_path: Path) -> None:
    """The rows of all selectors are drawn by question, which is wider than by row where they agree."""
    folder = two_selectors(tmp_path)
    rows = rows_of(folder, 5, row_level=True)
    assert [(row["selector"], row["n"], row["clusters"], row["missing"]["5"]) for row in rows] == [
        ("one", 3, 3, 2),
        ("two", 3, 3, 1),
        ("all", 6, 3, 3),
    ]
    assert rows[0]["interval"] == rows[0]["row_interval"]
    assert rows[2]["interval"] != rows[2]["row_interval"]
    assert [row["missing"]["5"]["x"] for row in rows_of(folder, 6)] == [2, 1, 3]


def test_a_selector_may_not_have_the_name_of_all(tmp_path: Path) -> None:
    """With one of that name among several, nothing could say which rows a line is of."""
    questions = [question("a", "u", selector="all"), question("a", "u", selector="other")]
    folder = freeze(tmp_path, questions, {("title", "x"): ranked(questions, "title", "x", {"a": ["u"]})})
    with pytest.raises(ConfigurationError, match="'all'"):
        rows_of(folder, 5)


def test_one_question_says_nothing_of_how_questions_differ(tmp_path: Path) -> None:
    """A single cluster has no interval."""
    questions = [question("a", "u")]
    folder = freeze(tmp_path, questions, {("title", "x"): ranked(questions, "title", "x", {"a": ["u"]})})
    assert rows_of(folder, 5)[0]["interval"] == {"1": None, "5": None, "20": None}


def test_nothing_selected_at_all_gives_empty_tables(tmp_path: Path) -> None:
    """Every table can be made of rows without any U or G, in every view."""
    questions = [question("a", None), question("b", None)]
    lists = {"a": "no_selection", "b": "no_selection"}
    folder = freeze(tmp_path, questions, {("title", "x"): ranked(questions, "title", "x", lists)})
    found = build_tables(context(folder), chosen([]))["tables"]
    assert set(found) == {str(number) for number in TABLES}
    assert found["5"]["rows"][0]["n"] == 0
    assert found["5"]["rows"][0]["run_status"] == "RUN_UNVERIFIABLE"
    for number, table in TABLES.items():
        assert table.lay_out(found[str(number)]) is not None


def test_title_check_is_what_the_corpus_says(tmp_path: Path) -> None:
    """Table 13 was counted when the rankings were frozen."""
    questions = [question("a", "u")]
    checked = {
        "of": 100,
        "rules": {
            "title": {"omitted": {"1": 0, "5": 0}, "empty": 0},
            "bm25_title": {"omitted": {"1": 9, "5": 4}, "empty": 2},
        },
    }
    lines = ranked(questions, "title", "x", {"a": ["u"]})
    folder = freeze(tmp_path, questions, {("title", "x"): lines}, corpus={"title_check": checked, "collision_count": 0})
    assert rows_of(folder, 13) == [
        {"rule": "title", "n": 100, "missing": {"1": 0, "5": 0}, "empty_queries": 0},
        {"rule": "bm25_title", "n": 100, "missing": {"1": 9, "5": 4}, "empty_queries": 2},
    ]


def test_rates_are_those_of_the_returns(tmp_path: Path) -> None:
    """Table 14 counts what table 5 does not miss."""
    folder = simple(tmp_path)
    [row], [lost] = rows_of(folder, 14), rows_of(folder, 5)
    assert {k: row["n"] - count for k, count in row["returned"].items()} == lost["missing"]


@pytest.mark.parametrize(
    ("number", "words"), [(3, "there are 4, 5, 6, 7, 8, 13, 14, 15, 16, 17, 18, 19, 20, 22"), (9, "study omit")]
)
def test_an_unknown_table_is_named_with_those_that_are_known(number: int, words: str) -> None:
    """One sentence says which numbers there are."""
    with pytest.raises(ConfigurationError, match=words):
        chosen([5, number])


@pytest.mark.parametrize(("cutoff", "words"), [(0, "at least 1"), (21, "no deeper than 20"), (-1, "at least 1")])
def test_a_cutoff_needs_stored_lists(tmp_path: Path, cutoff: int, words: str) -> None:
    """What was not stored is not a miss."""
    with pytest.raises(ConfigurationError, match=words):
        context(simple(tmp_path), at=[cutoff])


def test_the_declared_cutoff_is_the_readers_where_it_is_asked_for(tmp_path: Path) -> None:
    """Without it, it is the first."""
    folder = simple(tmp_path)
    assert context(folder, at=[20, 5, 1, 5]).cutoffs == (1, 5, 20)
    assert context(folder, at=[20, 5]).reader == 5
    assert context(folder, at=[20, 10]).reader == 10


def test_intervals_over_rows_are_those_over_questions_where_each_has_one(tmp_path: Path) -> None:
    """To the last digit, whatever the order of the questions: there is nothing to tell them apart by."""
    questions = [question(f"q{number * 7 % 23}", "u") for number in range(23)]
    lists = {row["id"]: at(place % 9 + 1) for place, row in enumerate(questions)}
    folder = freeze(tmp_path, questions, {("title", "x"): ranked(questions, "title", "x", lists)})
    [row] = rows_of(folder, 5, row_level=True)
    assert row["row_interval"] == row["interval"]


def test_selectors_together_have_the_worst_status(tmp_path: Path) -> None:
    """As one run over all their rows would."""
    questions = [question("a", "u", selector=selector) for selector in ("one", "two")]
    lines = [*ranked(questions, "title", "x", {"a": ["u"]}, selector="one")]
    lines += ranked(questions, "title", "x", {"a": ["f0"]}, selector="two")
    folder = freeze(tmp_path, questions, {("title", "x"): lines})
    assert [row["run_status"] for row in rows_of(folder, 5)] == ["RUN_PASS", "RUN_FAIL", "RUN_FAIL"]
