"""The deletion study, with readers whose behaviour is known."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.study.frozen import freeze, json_lines, page, question, ranking
from tests.study.omitting import Omit, calls, contrast, freeze_rows, ids_of, report


def test_the_known_contrast(folder: Path, omit: Omit) -> None:
    """A reader that is right exactly where the selected passage is shown: 1 intact, 0 without it, 1 without another."""
    ended = omit()
    assert ended.code == 0
    means = {arm: account["exact"] for arm, account in report(folder)["arms"].items()}
    assert means == {"intact": 1.0, "trace_drop": 0.0, "sham_drop": 1.0}
    for first, second, difference in (
        ("intact", "trace_drop", 1),
        ("sham_drop", "trace_drop", 1),
        ("intact", "sham_drop", 0),
    ):
        found = contrast(folder, first, second)
        assert (found["difference"], found["interval"]) == (difference, [difference] * 2)
        assert (found["lowest"], found["highest"], found["items"]) == (difference, difference, 4)
    assert "Intact / Trace-drop" in ended.out
    assert "100.0 [100.0, 100.0]" in ended.out


def test_what_each_arm_shows(folder: Path, omit: Omit) -> None:
    """Without the selected passage, or the one nearest to it in length, every other one stays in its place."""
    omit("copies", "--repeats", 1)
    titles = [page_id.upper() for page_id in ids_of("q0")]
    shown = {row["arm"]: row["answer"].removeprefix("answer q0 ").split() for row in calls(folder) if row["id"] == "q0"}
    assert shown == {
        "intact": titles,
        "trace_drop": [each for each in titles if each != "Q0-U"],
        "sham_drop": [each for each in titles if each != "Q0-3"],
    }


@pytest.mark.parametrize(
    ("texts", "gold", "dropped"),
    [
        (("x" * 29, "x" * 27, "x" * 99), ["q-u"], "q-1"),  # the selected one has 28 characters
        (("x" * 27, "x" * 29, "x" * 99), ["q-u"], "q-1"),
        (("x" * 99, "x" * 29, "x" * 27), ["q-u"], "q-2"),
        (("The Answer Q, yes it is now.", "x" * 50, "x" * 60), ["q-u"], "q-2"),
        (("x" * 28, "x" * 50, "x" * 60), ["q-u", "q-1"], "q-2"),
        (("answer q", "answer q", "answer q"), ["q-u"], None),
    ],
)
def test_which_passage_is_dropped_instead(
    folder: Path, omit: Omit, texts: tuple[str, ...], gold: list[str], dropped: str | None
) -> None:
    """The nearest in length, the earlier of two, that neither holds the answer nor is traced; else there is no arm."""
    row = question("q", gold_ids=gold)
    others = [page(f"q-{number}", text) for number, text in enumerate(texts, 1)]
    pages = [page("q-u", "It is: answer q, of course .", title="Q-U"), *others]
    ids = [each["id"] for each in pages]
    freeze(folder / "dir", [row], {"title.bm25_body": [ranking(row, ids)]}, pages)
    (folder / "pages.jsonl").write_bytes(json_lines(pages))
    omit("copies", "--repeats", 1)
    shown = [row["answer"].split()[2:] for row in calls(folder) if row["arm"] == "sham_drop"]
    assert shown == ([[each.upper() for each in ids if each != dropped]] if dropped else [])
    assert report(folder)["accounting"]["without_sham"] == ([] if dropped else [["q", "default"]])


def test_rows_that_cannot_be_asked_are_accounted_for(folder: Path, omit: Omit) -> None:
    """Each planned row is an item, or is left out under the first reason that holds, by name."""
    rows = [
        question("q0"),
        question("q1", selected_id=None, gold_ids=[]),
        question("q2"),
        question("q3", answer=None),
        question("q4", answer="The"),
        question("q5", gold_ids=["q5-1"]),
        question("q6"),
        question("q7", gold_ids=[]),
        question("q0", selector="other"),
        question("q8", question=None),
    ]
    freeze_rows(folder, rows, {"q2": None, "q6": ["q6-1", "q6-2"]})
    ended = omit()
    assert ended.code == 0
    accounting = report(folder)["accounting"]
    assert {reason: int(count) for count, reason in re.findall(r"(-?\d+)  left out as (\w+)", ended.out)} == {
        reason: each["rows"] for reason, each in accounting["left_out"].items()
    }
    assert {reason: each["ids"] for reason, each in accounting["left_out"].items()} == {
        "no_question": [["q8", "default"]],
        "no_selection": [["q1", "default"]],
        "no_ranking": [["q2", "default"]],
        "no_answer": [["q3", "default"], ["q4", "default"]],
        "target_differs": [["q5", "default"]],
        "selected_not_shown": [["q6", "default"]],
    }
    assert (accounting["planned"], accounting["items"], accounting["questions"]) == (10, 3, 2)
    assert accounting["items"] + sum(each["rows"] for each in accounting["left_out"].values()) == accounting["planned"]


def test_nothing_that_can_be_asked(folder: Path, omit: Omit) -> None:
    """A study without a single item is refused, with the reasons."""
    freeze_rows(folder, [question("q0", answer=None), question("q1", selected_id=None)])
    assert "no planned row can be asked: 1 no_selection, 1 no_answer" in omit().refusal


def test_what_stays_in_the_other_passages_is_said(folder: Path, omit: Omit) -> None:
    """The report counts items whose answer, or whose very passage, is still shown after the selected one is gone."""
    row = question("q")
    pages = [page("q-u", "It is answer q."), page("q-1", "It is answer q."), page("q-2", "Other")]
    freeze(folder / "dir", [row], {"title.bm25_body": [ranking(row, ["q-u", "q-1", "q-2"])]}, pages)
    (folder / "pages.jsonl").write_bytes(json_lines(pages))
    omit()
    accounting = report(folder)["accounting"]
    assert (accounting["answer_in_another_passage"], accounting["same_text_in_another_passage"]) == (1, 1)


def test_questions_are_drawn_together(folder: Path, omit: Omit) -> None:
    """The interval resamples questions, so that many rows of one question make it no narrower."""
    rows = [question(f"q{number}") for number in range(8)]
    # Half of the questions are answered whatever is shown: their answer is that of the reader's "no idea".
    for row in rows[:4]:
        row["answer"] = "no idea"
    freeze_rows(folder, rows)
    omit("knows", "--repeats", 1)
    single = contrast(folder, "intact", "trace_drop")["interval"]
    for file in (folder / "out").iterdir():
        file.unlink()
    several = [row | {"selector": f"s{number}"} for row in rows for number in range(5)]
    freeze_rows(folder, several)
    omit("knows", "--repeats", 1)
    found = contrast(folder, "intact", "trace_drop")
    assert (found["items"], found["questions"]) == (40, 8)
    assert found["interval"] == single
    assert single[0] < found["difference"] < single[1]


def test_json(folder: Path, omit: Omit) -> None:
    """The report is printed as it is written."""
    assert json.loads(omit("knows", "--format", "json").out) == report(folder)


def test_the_extractive_reader_is_the_default(folder: Path, omit: Omit) -> None:
    """It quotes the sentence that answers, and the report says that it is no language model."""
    rows = [question("q0", question="Where does the Rhine rise?", answer="The Rhine rises in the Alps.")]
    pages = [page("q0-u", "The Rhine rises in the Alps. Ships go up to Basel."), page("q0-1", "A cow eats grass.")]
    freeze(folder / "dir", rows, {"title.bm25_body": [ranking(rows[0], ["q0-1", "q0-u"])]}, pages)
    (folder / "pages.jsonl").write_bytes(json_lines(pages))
    ended = omit(None)
    assert ended.code == 0
    assert "no language model" in ended.out
    arms = report(folder)["arms"]
    assert (arms["intact"]["f1"] > 0.8, arms["trace_drop"]["f1"] < 0.2) == (True, True)
    assert "[S" not in (folder / "out" / "calls.jsonl").read_text()


def test_a_reader_that_looks_for_the_answer_on_real_data(shared_data: Path, folder: Path, omit: Omit) -> None:
    """On real lists a reader that finds the answer in what it is shown is right as often as the report's counts say."""
    source = shared_data / "hybridqa" / "tiny"
    pages = [json.loads(line) for line in (source / "passages.jsonl").read_text().splitlines()]
    texts = {each["id"]: each["text"] for each in pages}
    rows, rankings = [], []
    for line in (source / "questions.jsonl").read_text().splitlines():
        fields = json.loads(line)
        kept = ("id", "question", "answer", "table_id", "gold_ids")
        row = question(fields["id"]) | {name: fields[name] for name in kept} | {"selected_id": fields["gold_ids"][0]}
        if row["selected_id"] in texts:
            order = sorted(texts, key=lambda key: hashlib.sha256(f"{fields['id']}{key}".encode()).digest())
            rows.append(row)
            rankings.append(ranking(row, [row["selected_id"], *order[:4]]))
    freeze(folder / "dir", rows, {"title.bm25_body": rankings}, pages)
    (folder / "pages.jsonl").write_bytes(json_lines(pages))
    references = {row["question"]: row["answer"] for row in rows}
    (folder / "known_readers.py").write_text(
        f"references = {references!r}\n"
        "def knows(question, passages):\n"
        "    answer = references[question]\n"
        "    return answer if any(answer.lower() in each.text.lower() for each in passages) else ''\n"
    )
    assert omit("knows", "--repeats", 1).code == 0
    found = report(folder)
    assert found["arms"]["intact"]["exact"] > 0.9
    kept = found["accounting"]["answer_in_another_passage"] / len(rows)
    assert found["arms"]["trace_drop"]["exact"] <= kept + 0.03
    assert contrast(folder, "intact", "sham_drop")["difference"] == 0
