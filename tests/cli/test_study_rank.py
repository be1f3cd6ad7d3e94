"""The command ``rop-otel study rank`` from the outside, over a small corpus."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rop_otel.reference.rules.bm25_rule import Bm25Rule
from rop_otel.study import freezing
from tests.cli.small_study import FORMS, PAGES, QUESTIONS, RULES, TEXTS, Call, contents, lexical, lines, reasons


def test_every_planned_row_has_a_line(call: Call) -> None:
    """Each form and rule has a file with a line for each record in order: a list, or the reason why there is none."""
    code, out, _ = call(*lexical())
    assert (code, out) == (0, "24 rankings of 6 planned rows over 5 pages are frozen in out\n")
    files = sorted(file.name for file in Path("out/rankings").iterdir())
    assert files == sorted(f"{form}.{rule.replace(':', '+')}.jsonl" for form in FORMS for rule in RULES)
    planned = [(row["id"], row.get("selector", "default")) for row in QUESTIONS]
    for form in FORMS:
        for rule in RULES:
            rows = lines("out", form, rule.replace(":", "+"))
            assert list(rows) == planned
            for row in rows.values():
                assert (row["ids"] is None) == (row["query"] is None) == ("reason" in row)
                assert row["ids"] is None or len(row["ids"]) == len(row["scores"])
                assert (row["form"], row["rule"]) == (form, rule)
    found = lines("out", "title", "bm25_body")["q2", "default"]
    assert (found["query"], found["ids"]) == ("Lynx", ["/lynx"])
    assert lines("out", "title", "key")["q1", "other"]["ids"] == ["/otter"]
    assert lines("out", "question", "reserved+bm25_body")["q1", "other"]["ids"] == ["/otter", "/beaver"]


def test_reasons_name_what_could_not_be_run(call: Call) -> None:
    """No selection, a selection that is no page, an empty query and a record without a question each have a name."""
    assert call(*lexical())[0] == 0
    assert reasons("out", "question", "bm25_body") == {"q4/default": "empty_query", "q5/default": "no_question"}
    assert reasons("out", "title", "bm25_body") == {
        "q3/default": "no_selection",
        "q4/default": "unresolved_selection",
    }
    assert reasons("out", "question", "key") == {
        "q3/default": "no_selection",
        "q4/default": "unresolved_selection",
        "q5/default": "no_question",
    }
    assert reasons("out", "cell", "bm25_body") == {
        "q1/default": "no_cell",
        "q1/other": "no_cell",
        "q2/default": "no_cell",
        "q3/default": "no_selection",
        "q4/default": "no_cell",
    }
    assert set(reasons("out", "rewrite", "bm25_body").values()) == {"no_rewrite"}


def test_questions_are_frozen_with_what_is_known(call: Call) -> None:
    """What was selected and judged, and whether those are pages; without a selection the judged page counts."""
    call(*lexical())
    rows = [json.loads(line) for line in Path("out/questions.jsonl").read_text().splitlines()]
    assert rows[0] == {
        "id": "q1",
        "selector": "default",
        "question": "Which animal builds dams?",
        "selected_id": "/beaver",
        "resolves": True,
        "gold_ids": ["/gone", "/beaver"],
        "gold_resolves": [False, True],
        "answer": "beaver",
        "table_id": None,
    }
    assert [(row["selected_id"], row["resolves"]) for row in rows[3:5]] == [(None, False), ("/gone", False)]
    assert rows[5]["question"] is None
    assert (rows[5]["selected_cell"], rows[5]["linked_from_table"]) == ("a stork", True)
    assert "notes" not in rows[2]
    assert json.loads(Path("out/manifest.json").read_text())["notes"] == [
        "in 1 of 6 rows nothing says what was selected: the first judged page that the corpus has counts as selected"
    ]


def test_manifest_holds_every_file(call: Call) -> None:
    """The manifest names each input and output with its hash, names no folder, and is written last."""
    call(*lexical())
    manifest = json.loads(Path("out/manifest.json").read_text())
    held = contents(Path("out"))
    assert {one["name"] for one in manifest["outputs"]} == held.keys() - {"manifest.json"}
    for one in manifest["outputs"]:
        data = held[one["name"]]
        assert (one["bytes"], one["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert [one["name"] for one in manifest["inputs"]] == ["a.jsonl", "b.jsonl", "questions.jsonl"]
    for one in manifest["inputs"]:
        assert one["sha256"] == hashlib.sha256(Path(one["name"]).read_bytes()).hexdigest()
    assert (manifest["planned"], manifest["forms"], manifest["rules"]) == (6, FORMS, RULES)
    assert str(Path.cwd()) not in Path("out/manifest.json").read_text()
    pages = [json.loads(line) for line in Path("out/pages.jsonl").read_text().splitlines()]
    assert [page["id"] for page in pages] == ["/beaver", "/lynx", "/otter", "/stork"]  # no list has the heron
    assert pages[0]["text_sha256"] == hashlib.sha256(TEXTS["beaver"].encode()).hexdigest()


def test_another_run_gives_the_same_bytes(call: Call) -> None:
    """Whatever the folder is called, and with models too; called again there, everything is found done."""
    rules = (*lexical("dense", "maxsim", "rrf", "rrf_rerank"), "--depth", "3")
    assert call(*rules)[0] == call(*rules, out="deeper/again")[0] == 0
    first = contents(Path("out"))
    assert first == contents(Path("deeper/again"))
    assert call(*rules)[1] == "40 rankings of 6 planned rows over 5 pages were frozen already in out\n"
    assert first == contents(Path("out"))
    assert set(json.loads(first["manifest.json"])["models"]) == {"encoder"}


@pytest.mark.parametrize("stop", range(12))
@pytest.mark.parametrize("torn", ["", '{"id":"q1","sel'])
def test_stopped_run_goes_on(call: Call, monkeypatch: pytest.MonkeyPatch, stop: int, torn: str) -> None:
    """Stopped anywhere, and even with half a line written, the next run completes the same bytes and ranks the rest."""
    monkeypatch.setattr(freezing, "_BATCH", 2)
    call(*lexical(), out="whole")
    searched, calls = Bm25Rule.search, 0

    def interrupted(self: Bm25Rule, text: str, depth: int) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1 + 3 * stop:
            raise KeyboardInterrupt
        return searched(self, text, depth)

    with monkeypatch.context() as patched:
        patched.setattr(Bm25Rule, "search", interrupted)
        code, _, _ = call(*lexical())
    assert code != 0
    assert not Path("out/manifest.json").exists()
    for part in Path("out/rankings").glob("*.part"):
        part.write_bytes(part.read_bytes() + torn.encode())
    assert call(*lexical())[0] == 0
    assert contents(Path("out")) == contents(Path("whole"))


def test_files_may_share_pages(call: Call) -> None:
    """A page that is there twice, the same, counts once, and the manifest says how many lines repeat one."""
    assert (
        call(*lexical(), pages=[*PAGES, *PAGES[:2]])[1]
        == "24 rankings of 6 planned rows over 5 pages are frozen in out\n"
    )
    assert json.loads(Path("out/manifest.json").read_text())["notes"][1] == (
        "lines of the corpus that repeat an earlier page: 2; each page counts once"
    )
    ranked = contents(Path("out"))
    call(*lexical(), out="once")
    assert {name: data for name, data in contents(Path("once")).items() if name != "manifest.json"} == {
        name: data for name, data in ranked.items() if name != "manifest.json"
    }


def test_forms_that_ask_for_the_same_share_a_search(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is searched once by each rule, whichever form it comes from; each form's file has its lists."""
    searched, texts = Bm25Rule.search, []

    def counted(self: Bm25Rule, text: str, depth: int) -> Any:
        texts.append((self.name, text))
        return searched(self, text, depth)

    monkeypatch.setattr(Bm25Rule, "search", counted)
    rows = [{"id": "q", "question": "Lynx", "rewrite": "Lynx", "selected_id": "/lynx"}]
    rules = ("--rule", "bm25_body", "bm25_title_body", "reserved:bm25_body")
    assert call(*rules, "--form", "question", "title", "rewrite", questions=rows)[0] == 0
    assert texts == [("bm25_body", "Lynx"), ("bm25_title_body", "Lynx")]
    found = [lines("out", form, "bm25_body")["q", "default"] for form in ("question", "title", "rewrite")]
    assert [row["form"] for row in found] == ["question", "title", "rewrite"]
    assert [row["ids"] for row in found] == [["/lynx"]] * 3


def test_colliding_titles_are_named(call: Call) -> None:
    """Titles that more than one page has are listed; the exact rule returns every page of such a title."""
    twins = [
        *PAGES,
        {"id": "/Lynx", "title": "Lynx", "text": "A constellation."},
        {"id": "/z", "title": "lynx", "text": ""},
    ]
    assert call(*lexical(), pages=twins)[0] == 0
    corpus = json.loads(Path("out/corpus.json").read_text())
    assert (corpus["passages"], corpus["titles"], corpus["collisions"]) == (7, 6, ["Lynx"])
    assert (corpus["collision_count"], corpus["casefolded_collision_count"]) == (1, 1)
    assert corpus["title_check"] == {
        "of": 7,
        "rules": {
            "title": {"omitted": {"1": 1, "5": 0, "20": 0}, "empty": 0},
            "bm25_title": {"omitted": {"1": 2, "5": 0, "20": 0}, "empty": 0},
        },
    }
    assert lines("out", "title", "title")["q2", "default"]["ids"] == ["/Lynx", "/lynx"]
    assert (
        "titles that belong to more than one page: 1; the rule title returns all pages"
        in Path("out/manifest.json").read_text()
    )


OWN = """
def first(query, depth):
    if "dams" in query:
        raise LookupError(query)
    return ["/lynx", "/otter"] * (2 if "stone" in query else 1)

def shout(record):
    return record["question"].upper() if record.get("rewrite") else None
"""


def test_own_rule_and_form(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of one's own are found in the current folder; a row in which one fails is lost with its reason."""
    Path("own_study_functions.py").write_text(OWN)
    monkeypatch.setattr(sys, "path", [*sys.path])
    own = "own_study_functions"
    assert call("--rule", f"mine={own}:first", "key", "--form", "question", f"loud={own}:shout")[0] == 0
    assert reasons("out", "question", "mine") == {
        "q1/default": "rule_failed: LookupError",
        "q1/other": "rule_failed: LookupError",
        "q3/default": "wrong_number",
        "q5/default": "no_question",
    }
    found = lines("out", "loud", "mine")["q2", "default"]
    assert (found["query"], found["ids"], found["scores"]) == ("WHICH CAT HUNTS HARES?", ["/lynx", "/otter"], [1, 0.5])
    manifest = json.loads(Path("out/manifest.json").read_text())
    digest = hashlib.sha256(OWN.encode()).hexdigest()
    assert manifest["functions"] == {"rule mine": digest, "form loud": digest}
    assert (manifest["rules"], manifest["forms"]) == (["mine", "key"], ["question", "loud"])
