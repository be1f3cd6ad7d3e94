"""The command ``rop-otel study rank`` from the outside, over a small corpus."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from rop_otel.cli.main import main
from rop_otel.reference.rules.bm25_rule import Bm25Rule
from rop_otel.study import freezing

TEXTS = {
    "heron": "Herons are long-legged freshwater birds. They hunt fish by standing still.",
    "otter": "Otters are mammals of rivers and coasts. They keep a favourite stone in a pouch.",
    "beaver": "Beavers fell trees and build dams of branches and mud.",
    "lynx": "The lynx is a wild cat with tufted ears that hunts hares in snow.",
    "stork": "Storks nest on roofs and chimneys and clatter with their bills.",
}
PAGES = [{"id": f"/{name}", "title": name.title(), "text": text} for name, text in TEXTS.items()]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "question": "Which animal builds dams?", "gold_ids": ["/gone", "/beaver"], "answer": "beaver"},
    {"id": "q1", "selector": "other", "question": "Which animal builds dams?", "selected_id": "/otter"},
    {"id": "q2", "question": "Which cat hunts hares?", "selected_id": "/lynx", "rewrite": "cat hares", "notes": [1]},
    {"id": "q3", "question": "Who keeps a stone?", "selected_id": None, "gold_ids": ["/otter"]},
    {"id": "q4", "question": "?!", "selected_id": "/gone"},
    {"id": "q5", "question": None, "selected_id": "/stork", "selected_cell": "a stork", "linked_from_table": True},
]
RULES = ["key", "title", "bm25_title", "bm25_title_body", "bm25_body", "reserved:bm25_body"]
FORMS = ["question", "title", "cell", "rewrite"]

Call = Callable[..., tuple[int, str, str]]


def write(file: Path, rows: list[Any]) -> str:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Ranks into a folder; options given twice take the later value."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def rank(*arguments: str, pages: Any = None, questions: Any = None, out: str = "out") -> tuple[int, str, str]:
        files = [write(tmp_path / "a.jsonl", PAGES[:2]), write(tmp_path / "b.jsonl", PAGES[2:])]
        files = files if pages is None else [write(tmp_path / "pages.jsonl", pages)]
        asked = write(tmp_path / "questions.jsonl", QUESTIONS if questions is None else questions)
        command = ["study", "rank", "--corpus", *files, "--questions", asked, "--out", out, *arguments]
        monkeypatch.setattr(sys, "argv", ["rop-otel", *command])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return rank


def lexical(*more: str) -> tuple[str, ...]:
    return ("--rule", *RULES, *more, "--form", *FORMS)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def lines(folder: str, form: str, rule: str) -> dict[tuple[str, str], dict[str, Any]]:
    text = Path(folder, "rankings", f"{form}.{rule}.jsonl").read_text()
    return {(row["id"], row["selector"]): row for row in map(json.loads, text.splitlines())}


def reasons(folder: str, form: str, rule: str) -> dict[str, str]:
    rows = lines(folder, form, rule).values()
    return {f"{row['id']}/{row['selector']}": row["reason"] for row in rows if row["ids"] is None}


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


def test_part_of_another_study_is_refused(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped run is taken up only with the same inputs, forms, rules and depth."""
    with monkeypatch.context() as patched:
        patched.setattr(Bm25Rule, "search", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        call(*lexical())
    code, _, err = call(*lexical(), "--depth", "7")
    assert code == 2
    assert "out/manifest.json.part: it is of other rankings than these (depth differ); name another folder" in err


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"questions": QUESTIONS[:4]}, "it is of other rankings than these (inputs, notes, planned differ)"),
        ({"pages": PAGES}, "it is of other rankings than these (inputs differ)"),
    ],
)
def test_other_inputs_are_refused(call: Call, changed: dict[str, Any], message: str) -> None:
    """A folder holds one study: other inputs do not overwrite it."""
    call(*lexical())
    before = contents(Path("out"))
    code, _, err = call(*lexical(), **changed)
    assert code == 2
    assert message in err
    assert contents(Path("out")) == before


def test_changed_ranking_is_refused(call: Call) -> None:
    """A file that changed since its manifest is named, and not used."""
    call(*lexical())
    file = Path("out/rankings/title.key.jsonl")
    file.write_bytes(file.read_bytes().replace(b"/lynx", b"/otter"))
    code, _, err = call(*lexical())
    assert (code, err) == (
        2,
        "rop-otel: out/rankings/title.key.jsonl: it changed since the manifest was written; rank into another folder\n",
    )


LONG = [{"id": "/long", "title": "Long", "text": "x" * 500}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"questions": [QUESTIONS[0], QUESTIONS[0]]}, "questions.jsonl:2: the id 'q1' is there twice for the selector"),
        ({"questions": [{"question": "Who?"}]}, "questions.jsonl:1: 'id' is missing"),
        (
            {"questions": [{"id": "q", "question": 7}]},
            "questions.jsonl:1: 'question' has to be a string or null, not 7",
        ),
        ({"questions": [{"id": "q", "selected_id": ["/lynx"]}]}, "'selected_id' has to be a string or null"),
        ({"questions": [{"id": "q", "gold_ids": "/lynx"}]}, "'gold_ids' has to be a list of strings, not '/lynx'"),
        ({"questions": [{"id": "q", "question": "\ud800"}]}, "half of a surrogate pair"),
        ({"questions": [[1]]}, "questions.jsonl:1: a JSON object is expected, not list"),
        ({"questions": []}, "questions.jsonl: no question in it"),
        (
            {"pages": [PAGES[0], {**PAGES[0], "text": "Another."}]},
            "pages.jsonl:2: the id '/heron' is there twice, with another title or text",
        ),
        ({"pages": [{"id": "/a", "title": "A"}]}, "pages.jsonl:1: 'text' has to be a string, not None"),
        ({"pages": [{"id": "/a", "title": " ", "text": ""}]}, "pages.jsonl:1: 'title' has to be a non-empty string"),
        ({"pages": []}, "pages.jsonl: no page in it"),
        ({"out": "."}, "is in the folder to write to; name another folder with --out"),
    ],
)
def test_bad_input_is_one_sentence(call: Call, given: dict[str, Any], message: str) -> None:
    """What cannot be used is one line with the file and the line, exit code 2, and nothing is written."""
    code, out, err = call(*lexical(), **given)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not Path("out").exists()


@pytest.mark.parametrize("cut", [lambda data: data[:-30], lambda data: data[: len(data) // 2]])
@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_truncated_download_is_refused(call: Call, cut: Any, pack: Any) -> None:
    """A corpus that was cut short, packed or not, is no smaller corpus."""
    data = b"".join(json.dumps(page).encode() + b"\n" for page in PAGES)
    Path("cut.jsonl").write_bytes(cut(pack(data)))
    code, _, err = call(*lexical(), "--corpus", "cut.jsonl")
    assert (code, err.count("\n")) == (2, 1)
    assert "cut.jsonl" in err
    assert not Path("out").exists()


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


HOLDING = """
import sys
from pathlib import Path
from rop_otel.study.folder_lock import only_writer
with only_writer(Path("out")):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_do_not_rank_into_one_folder(call: Call) -> None:
    """The second is refused in one sentence; when the first is killed, nothing of its lock is left."""
    with subprocess.Popen([sys.executable, "-c", HOLDING], stdin=PIPE, stdout=PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        assert call(*lexical()) == (
            2,
            "",
            "rop-otel: out: another process writes to it; wait for it, or name another folder\n",
        )
        assert contents(Path("out")) == {}
        first.kill()
    assert call(*lexical())[0] == 0


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rule", "bm25"], "unknown rule 'bm25'; there are key, title, bm25_title,"),
        (["--rule", "key", "--form", "titel"], "unknown query form 'titel'; there are question, title, cell,"),
        (["--rule", "key=json:dumps"], "the name 'key' is taken"),
        (["--rule", "mine=json:absent"], "'json:absent' cannot be imported: AttributeError"),
        (["--rule", "key", "--encoder", "nowhere"], "'nowhere' holds no ONNX file"),
        (["--rule", "key", "--pooling", "cls"], "say how to use --encoder: give it too"),
    ],
)
def test_option_that_cannot_be_used_is_one_sentence(call: Call, options: list[str], message: str) -> None:
    """An option that names nothing is one line and exit code 2."""
    code, out, err = call(*options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
