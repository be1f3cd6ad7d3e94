"""Readers that fail, studies that are stopped and continued, and files that changed in between."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rop_otel.study.folder_lock import only_writer
from tests.study.frozen import freeze, question, ranking
from tests.study.omitting import READERS, Omit, calls, contents, contrast, freeze_rows, ids_of, report


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        ("raises", "KeyError: 'no such key'"),
        ("exits", "SystemExit: 3"),
        ("none", "the reader returned NoneType, not text"),
        ("number", "the reader returned int, not text"),
        ("surrogate", "the reader returned half of a surrogate pair, which is no text"),
        ("hangs", "no answer within 0.02 seconds"),
    ],
)
def test_a_reader_that_fails(folder: Path, omit: Omit, reader: str, reason: str) -> None:
    """A call that fails keeps its planned cell, scores zero, and is named with its reason."""
    freeze_rows(folder, [question("q0")])
    ended = omit(reader, "--repeats", 2, "--attempts", 3, "--seconds", "0.02")
    assert ended.code == 1
    for account in report(folder)["arms"].values():
        assert (account["scheduled"], account["requests"], account["valid"], account["failed"]) == (2, 6, 0, 2)
        assert (account["exact"], account["same_answer"], account["failures"]) == (0.0, 0, {reason: 2})
    found = contrast(folder, "intact", "trace_drop")
    assert (found["difference"], found["lowest"], found["highest"]) == (0, -1, 1)
    assert reason in ended.out


def test_failures_in_one_arm(folder: Path, omit: Omit) -> None:
    """Where only the arm without the passage fails, the most adverse reassignment takes the whole contrast away."""
    assert omit("without").code == 1
    found = contrast(folder, "intact", "trace_drop")
    assert (found["difference"], found["lowest"], found["highest"]) == (1, 0, 1)
    account = report(folder)["arms"]["trace_drop"]
    assert (account["scheduled"], account["failed"], account["majority_exact"]) == (12, 12, 0)


def test_retries_are_counted(folder: Path, omit: Omit) -> None:
    """A call that goes well at its second attempt is valid, and both requests are counted."""
    assert omit("second_time", "--repeats", 1).code == 0
    account = report(folder)["arms"]["intact"]
    assert (account["scheduled"], account["requests"], account["valid"], account["exact"]) == (4, 8, 4, 1.0)
    assert {row["requests"] for row in calls(folder)} == {2}


def test_a_second_run_asks_nothing(folder: Path, omit: Omit) -> None:
    """A finished study is written again to the byte without asking the reader."""
    omit()
    before = contents(folder)
    assert set(before) == {"plan.json", "calls.jsonl", "report.json"}
    (folder / "known_readers.py").write_text("def knows(question, passages):\n    raise AssertionError('was asked')\n")
    del sys.modules["known_readers"]
    assert omit().code == 0
    assert contents(folder) == before


def test_a_run_that_was_stopped_goes_on(folder: Path, omit: Omit) -> None:
    """Calls that were kept are not made again, a line that was cut off is, and the result is the same to the byte."""
    omit()
    before = contents(folder)
    lines = before["calls.jsonl"].splitlines(keepends=True)
    (folder / "out" / "report.json").unlink()
    (folder / "out" / "calls.jsonl").write_bytes(b"".join([lines[7], lines[3], lines[5][:40]]))
    asked = folder / "asked.txt"
    counting = f"with open({str(asked)!r}, 'a') as file:\n        file.write('x')"
    (folder / "known_readers.py").write_text(
        f"{READERS}\nonce = knows\ndef knows(q, p):\n    {counting}\n    return once(q, p)\n"
    )
    del sys.modules["known_readers"]
    assert omit().code == 0
    assert contents(folder) == before
    assert len(asked.read_text()) == len(lines) - 2


def test_two_processes_do_not_ask_into_one_folder(folder: Path, omit: Omit) -> None:
    """The second is refused in one sentence, and goes on once the first has ended."""
    with only_writer(folder / "out"):
        assert "another process writes to it; wait for it, or name another folder" in omit().refusal
        assert contents(folder) == {}
    assert omit().code == 0


def test_several_at_once_are_the_same(folder: Path, omit: Omit) -> None:
    """The order in which calls end changes nothing of what is written."""
    omit()
    before = contents(folder)
    for file in (folder / "out").iterdir():
        file.unlink()
    assert omit("knows", "--parallel", 8).code == 0
    assert contents(folder) == before


def test_failed_calls_are_made_again_on_request_only(folder: Path, omit: Omit) -> None:
    """A failed call is an answer of the study; asked again, its requests add up."""
    omit("raises")
    broken = folder / "known_readers.py"
    broken.write_text(READERS + "\nraises = knows\n")
    del sys.modules["known_readers"]
    assert omit("raises").code == 1
    assert omit("raises", "--retry-failed").code == 0
    account = report(folder)["arms"]["intact"]
    assert (account["requests"], account["valid"], account["exact"]) == (12 * 3, 12, 1.0)


@pytest.mark.parametrize(
    ("options", "differing"),
    [(("--repeats", 2), "repeats"), (("--at", 3), "at"), (("--attempts", 1), "attempts")],
)
def test_a_folder_of_another_study(folder: Path, omit: Omit, options: tuple[object, ...], differing: str) -> None:
    """Calls of another plan are not mixed with these."""
    omit()
    assert f"was begun with another {differing!r}" in omit("knows", *options).refusal
    assert "was begun with another 'answered_by'" in omit("copies").refusal


def test_calls_that_are_none_of_these(folder: Path, omit: Omit) -> None:
    """A changed line of the kept calls ends the study with its number."""
    omit()
    file = folder / "out" / "calls.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    for wrong, reason in (
        (lines[1].replace(b'"intact"', b'"other"'), "calls.jsonl:2: is no call of this study"),
        (lines[1].replace(b'"requests":1,', b""), "calls.jsonl:2: is no call of this study"),
        (lines[1].replace(b'"prompt_sha256":"', b'"prompt_sha256":"0'), "calls.jsonl:2: the reader was asked"),
        (b"{\n", "calls.jsonl:2: no JSON"),
        (b'{"id": ["q0"]}\n', "calls.jsonl:2: is no call of this study"),
    ):
        file.write_bytes(lines[0] + wrong + lines[2])
        assert reason in omit().refusal
    (folder / "out" / "plan.json").write_text("[]")
    assert "is no plan" in omit().refusal


def test_a_corpus_that_is_not_the_ranked_one(folder: Path, omit: Omit) -> None:
    """A changed text, a missing page, one that is there twice and a broken line are one sentence each."""
    pages = (folder / "pages.jsonl").read_bytes().splitlines(keepends=True)
    for content, reason in (
        ([pages[0].replace(b"course", b"curse"), *pages[1:]], "the text of 'q0-u' is not the one that was ranked"),
        (pages[:-1], "lacks 1 pages of the rankings, 'q3-4' first"),
        (
            [*pages, pages[0].replace(b"Q0-U", b"Another")],
            "pages.jsonl:21: the id 'q0-u' is there twice, with another title",
        ),
        ([*pages[:3], b'{"id": "q0-3"}\n'], "pages.jsonl:4: a page has to have"),
        ([*pages[:3], pages[3][:-9]], "pages.jsonl:4: no JSON"),
    ):
        (folder / "pages.jsonl").write_bytes(b"".join(content))
        assert reason in omit().refusal
    assert not (folder / "out" / "calls.jsonl").exists()


def test_rankings_that_changed(folder: Path, omit: Omit) -> None:
    """A file that is not the one of the manifest, and rows that are not those of the questions, are refused."""
    file = folder / "dir" / "rankings" / "title.bm25_body.jsonl"
    file.write_bytes(file.read_bytes()[:-1])
    assert "changed since its manifest was written" in omit().refusal
    rows = [question("q0"), question("q1")]
    freeze(folder / "dir", rows, {"title.bm25_body": [ranking(rows[0], ids_of("q0"))]}, [])
    assert "its rows are not the planned ones" in omit().refusal


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--reader", "known_readers"), "module:function"),
        (("--reader", "known_readers:"), "module:function"),
        (("--reader", "no_such_module_here:f"), "ModuleNotFoundError"),
        (("--reader", "known_readers:absent"), "AttributeError"),
        (("--reader", "known_readers:not_a_function"), "is no function but int"),
        (("--reader-url", "http://localhost:1/v1"), "--reader-url and --model go together"),
        (("--model", "m"), "--reader-url and --model go together"),
        (("--reader", "x:y", "--reader-url", "http://h/v1", "--model", "m"), "exclude each other"),
        (("--temperature", "1"), "give --reader-url too"),
        (("--parallel", "2"), "one question at a time"),
        (("--reader-url", "localhost:1", "--model", "m"), "has to be an address such as"),
        (("--reader-url", "http://", "--model", "m"), "has to be an address such as"),
        (("--reader-url", "http://[", "--model", "m"), "has to be an address such as"),
        (("--reader-url", "http://me:secret@h/v1", "--model", "m"), "has to be an address such as"),
    ],
)
def test_readers_that_are_none(folder: Path, omit: Omit, options: tuple[str, ...], reason: str) -> None:
    """What cannot be a reader is refused before anything is asked."""
    assert reason in omit(None, *options).refusal


def test_numpy_is_missing(folder: Path, omit: Omit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without numpy nothing is asked, and the sentence says how to get it."""
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert "install the extra study" in omit().refusal
    assert not (folder / "out").exists()


def test_more_passages_than_were_stored(folder: Path, omit: Omit) -> None:
    """What was not stored cannot be shown, and is no miss."""
    refusal = omit("knows", "--at", 21).refusal
    assert "21" in refusal
    assert "20" in refusal
