"""What ``rop-otel study rank`` refuses, each in one sentence with exit code 2."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from rop_otel.reference.rules.bm25_rule import Bm25Rule
from tests.cli.small_study import PAGES, QUESTIONS, Call, contents, lexical


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
