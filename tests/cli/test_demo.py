"""The command ``rop-otel demo`` from the outside, over a small corpus."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rop_otel.cli import demo_run
from rop_otel.cli.main import main
from rop_otel.core.handoff import ListFinding
from rop_otel.reference.assembly import load_tools
from rop_otel.reference.faults import FAULTS
from rop_otel.reference.models import default_encoder
from rop_otel.reference.tools import Tools
from tests.monitor.served import until

COMMAND = [sys.executable, "-c", "from rop_otel.cli.main import main; main()"]

PAGES = {
    "heron": "Herons are long-legged freshwater birds. They hunt fish by standing still.",
    "otter": "Otters are mammals of rivers and coasts. They keep a favourite stone in a pouch.",
    "beaver": "Beavers fell trees and build dams of branches and mud.",
    "lynx": "The lynx is a wild cat with tufted ears that hunts hares in snow.",
    "stork": "Storks nest on roofs and chimneys and clatter with their bills.",
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options for a corpus of five pages in two files, and three questions."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lines = [json.dumps({"id": f"/{name}", "title": name.title(), "text": text}) for name, text in PAGES.items()]
    (tmp_path / "a.jsonl").write_text("\n".join(lines[:3]))
    (tmp_path / "b.jsonl").write_text("\n".join(lines[3:]))
    questions = [
        {"id": "q1", "question": "Which animal builds dams?", "gold_ids": ["/beaver"]},
        {"id": "q2", "question": "Which cat hunts hares in snow?", "gold_ids": ["/lynx"], "selected_id": "/lynx"},
        {"id": "q3", "question": "Who keeps a stone?", "gold_ids": ["/otter"], "selected_id": None},
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, questions)))
    named = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    return ["--corpus", *named, "--questions", str(tmp_path / "q.jsonl")]


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["rop-otel", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, printed.out, printed.err


def test_a_corpus_of_ones_own(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Several files after one option, the funnel, the scores, and what was assumed about selections."""
    code, out, _ = run(monkeypatch, capsys, "demo", *files)
    assert code == 0
    assert "5 pages in 5 passages" in out
    assert not re.search(r"^rescue ", out, re.MULTILINE)
    assert "in 1 of 3 questions nothing says what was selected: the first judged object counts as selected" in out
    assert "3 handoffs: 2 PASS, 1 SELECTOR_ERROR" in out
    assert re.search(r"packing +2/2 +100\.0%", out)
    assert "demo --fault hidden_cut" in out


def test_judged_losses_joint_outcomes_and_worth(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A judged page that is not in the corpus is lost; both targets are compared; each source says what it brought."""
    question = {"id": "q9", "question": "Which bird clatters?", "selected_id": "/stork", "gold_ids": ["/no", "/stork"]}
    (tmp_path / "q.jsonl").write_text(json.dumps(question))
    code, out, _ = run(monkeypatch, capsys, "demo", *files)
    assert code == 0
    assert "The reader was shown the selected object and a judged one for 1, only the selected one for 0," in out
    assert re.search(r"^– +never_retrieved +– +1 +q9: /no\b", out, re.MULTILINE)
    assert re.search(r"^lexical +\d+ +\d+ +[\d.]+%", out, re.MULTILINE)


def test_nothing_is_lost_only_where_that_is_known(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the prompt holds no passage, nothing is said to have arrived, and nothing to have been lost."""
    code, out, _ = run(monkeypatch, capsys, "demo", *files, "--fault", "empty_prompt")
    assert code == 0
    assert "context_not_in_prompt at packing in 3 of 3 handoffs" in out
    assert "What was lost is not known: no handoff is PASS or FAIL." in out
    assert "No selected object was lost" not in out


def test_exported_spans_are_judged_alike(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The printed replay command, copied into a shell, gives the verdicts of the live run."""
    code, out, _ = run(monkeypatch, capsys, "demo", *files, "--export", str(tmp_path / "my spans.jsonl"))
    assert code == 0
    [printed] = re.findall(r"^  rop-otel (replay .*)$", out, flags=re.MULTILINE)
    code, out, _ = run(monkeypatch, capsys, *shlex.split(printed))
    assert "3 handoffs: 2 PASS, 1 SELECTOR_ERROR" in out
    assert code == 0


def test_an_export_is_whole_though_nobody_reads_on(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the pipe behind ``demo`` is closed half-way, the exported spans can still be judged alike."""

    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    spans = tmp_path / "spans.jsonl"
    with monkeypatch.context() as patched:
        patched.setattr(demo_run, "print_summary", closed)
        run(patched, capsys, "demo", *files, "--export", str(spans))
    code, out, _ = run(monkeypatch, capsys, "replay", str(spans), "--resolver", f"{spans}.resolver.json")
    assert "3 handoffs: 2 PASS, 1 SELECTOR_ERROR" in out
    assert code == 0


def test_an_injected_fault_is_reported(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A caught fault is said and exit code 0; one that changes nothing in this corpus is said so and exit code 2."""
    code, out, _ = run(monkeypatch, capsys, "demo", *files, "--fault", "missing_reranker", "--query", "title")
    assert code == 0
    assert "fallback_used at rerank in 3 of 3 handoffs" in out
    for nothing_to_act_on in ("foreign_chunk", "rescue_restarts_labels"):
        code, out, _ = run(monkeypatch, capsys, "demo", *files, "--fault", nothing_to_act_on, "--limit", "1")
        assert code == 2
        assert "it changed nothing here" in out
        assert "Not caught" not in out
    code, out, _ = run(monkeypatch, capsys, "demo", *files, "--fault", "hidden_cut")
    assert "demo --fault hidden_cut" not in out


def test_a_fault_that_acts_and_is_missed_fails(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a fault changed something and its finding did not come, that is said and exit code 1."""
    missed = replace(FAULTS["missing_reranker"], finding=ListFinding.SCOPE_LEAK)
    monkeypatch.setattr(demo_run, "find_fault", lambda name: missed)
    code, out, _ = run(monkeypatch, capsys, "demo", *files, "--fault", "missing_reranker")
    assert code == 1
    assert "Not caught no finding scope_leak at rerank" in out


def test_a_selection_that_the_corpus_lacks_is_named(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A selected object that is no page is RESOLUTION_ERROR, with the question and the ID beside the verdicts."""
    question = {"id": "q9", "question": "Which bird clatters?", "selected_id": "/no[t]-there"}
    (tmp_path / "q.jsonl").write_text(json.dumps(question))
    _, out, _ = run(monkeypatch, capsys, "demo", *files)
    assert "1 handoff: 1 RESOLUTION_ERROR" in out
    assert "Not in the corpus: q9 selects '/no[t]-there'." in out


def test_faults_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """``--fault list`` names each with what catches it; an unknown name is refused with the names."""
    code, out, _ = run(monkeypatch, capsys, "demo", "--fault", "list")
    assert code == 0
    assert all(name in out for name in FAULTS)
    code, _, err = run(monkeypatch, capsys, "demo", "--fault", "nope")
    assert code == 2
    assert "unknown fault 'nope'; there are prefix_cut" in err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--corpus", "a.jsonl"], "--corpus and --questions go together"),
        (["--corpus", "none.jsonl", "--questions", "q.jsonl"], "none.jsonl: cannot be read: No such file or directory"),
        (["--corpus", "bad.jsonl", "--questions", "q.jsonl"], "bad.jsonl:1: 'title' is missing"),
        (["--port", "9464"], "--port says where to serve: give --serve too"),
        (["--page-port", "9465"], "--page-port says where to serve: give --serve too"),
        *(
            (
                [option, "cls"],
                "--pooling, --query-prefix and --passage-prefix say how to use --encoder: give it too",
            )
            for option in ("--pooling", "--query-prefix", "--passage-prefix")
        ),
        (["--max-pieces", "64"], "--max-pieces says how to use --encoder or --cross-encoder: give one of them too"),
        (["--encoder", "none"], "'none' holds no ONNX file with a tokenizer.json beside it"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What cannot be used gives one line with file and place, exit code 2 and no traceback."""
    (tmp_path / "bad.jsonl").write_text('{"id": "p"}\n')
    monkeypatch.chdir(tmp_path)
    code, out, err = run(monkeypatch, capsys, "demo", *arguments)
    assert (code, out) == (2, "")
    assert err == f"rop-otel: {reason}\n"


def test_models_of_ones_own_are_used_as_told(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pooling, prefixes and length reach the encoder, and the length the cross-encoder; else each has its defaults."""
    loaded: list[Tools] = []

    def load(*arguments: Any, **options: Any) -> Tools:
        loaded.append(load_tools(*arguments, **options))
        return loaded[-1]

    monkeypatch.setattr(demo_run, "load_tools", load)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "model.onnx").symlink_to(default_encoder().model)
    (mine / "tokenizer.json").symlink_to(default_encoder().tokenizer)
    named = ["demo", *files, "--encoder", str(mine), "--cross-encoder", str(mine)]
    told = ["--pooling", "cls", "--query-prefix", "query: ", "--passage-prefix", "passage: ", "--max-pieces", "64"]
    for options in ([], told):
        code, out, _ = run(monkeypatch, capsys, *named, *options)
        assert code == 0
        assert "mine (" in out
    plain, changed = loaded
    used = [tools.encoder.files for tools in loaded]
    assert [(files.pooling, files.query_prefix, files.passage_prefix, files.max_pieces) for files in used] == [
        ("mean", "", "", 128),
        ("cls", "query: ", "passage: ", 64),
    ]
    assert [tools.cross_encoder and tools.cross_encoder.files.max_pieces for tools in loaded] == [256, 64]
    assert not np.allclose(plain.index.store.vectors, changed.index.store.vectors, atol=1e-3)


@pytest.mark.parametrize("option", ["--export", "--port", "--page-port"])
def test_what_cannot_be_used_is_known_before_anything_slow(
    option: str, files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that cannot be written and a port that is taken are refused before the index is made."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        free = {"--port": "0", "--page-port": "0"}
        given = ["--export", "no/spans.jsonl"]
        if option != "--export":
            given = ["--serve", *(part for pair in {**free, option: port}.items() for part in pair)]
        code, out, err = run(monkeypatch, capsys, "demo", *files, *given)
    assert code == 2
    assert "Vectors" not in out
    if option == "--export":
        assert err == "rop-otel: no/spans.jsonl: cannot be written: No such file or directory\n"
    elif option == "--page-port":
        assert "choose another one with --page-port" in err
    else:
        assert err == f"rop-otel: /metrics cannot be served on port {port}; choose another one with --port\n"


def _stored(page: str) -> int:
    with urllib.request.urlopen(f"{page}api/summary", timeout=300) as response:
        return int(json.load(response)["handoffs"])


def test_serving_goes_on_until_interrupted(files: list[str], tmp_path: Path) -> None:
    """With ``--serve`` the printed addresses answer: counts, and the page with its handoffs; Ctrl-C ends it quietly."""
    # Whoever runs the tests in the background of a shell has them ignore Ctrl-C, and with them what they start.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    process = subprocess.Popen(
        [*COMMAND[:2], heeding + COMMAND[2], "demo", *files, "--serve", "--port", "0", "--page-port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        cwd=Path(__file__).parents[2],
    )
    try:
        assert process.stdout is not None
        address = next(
            found[0] for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+/metrics", line))
        )
        with urllib.request.urlopen(address, timeout=300) as response:
            assert b'rop_verdict="PASS"' in response.read()
        page = next(found[0] for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+/", line)))
        with urllib.request.urlopen(page, timeout=300) as response:
            assert b"assets/page.js" in response.read()
        until(lambda: _stored(page) > 0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0
        assert "Stopped." in out
        assert "Traceback" not in err
    finally:
        process.kill()
        process.communicate()
