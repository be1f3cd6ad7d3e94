"""Nothing that a file or an argument holds makes a terminal do anything, whatever the verb."""

from __future__ import annotations

import ast
import gzip
import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from rop_otel import semconv
from rop_otel.cli import terminal
from rop_otel.cli.main import main
from rop_otel.core.escapes import printable, printable_json
from rop_otel.spans.otlp_writer import write
from tests.conftest import ROOT
from tests.spans.trace import handoff, span, stage

COMMAND = [sys.executable, "-c", "from rop_otel.cli.main import main; main()"]
HOSTILE = (
    "\x1b[2J"  # clears the screen
    "\x1b]0;title\x07\x1b]8;;http://x\x1b\\"  # sets the title, begins a link
    "\x9b31m\x85"  # the same with one byte, and its line end
    "\u202egnp\u2066\u200f\u061c"  # turns the direction of writing
    "\r\x08\x7f\x00\x0b"
    "\u2028\u2029\ufeff\u00ad\U000e0041"
    "[bold]b[/] [link=http://x]l[/link] [/] :smile: \\[red]"
)
OTHER = HOSTILE + "2"


def is_clean(text: str) -> bool:
    """Return whether nothing in a text is more than a character or a line end."""
    return all(char.isprintable() or char == "\n" for char in text)


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """Run a verb in this process; return its exit code and what it printed on a terminal, which is clean."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    given = mock.patch.object(sys, "argv", ["rop-otel", *map(str, arguments)])
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]), given, pytest.raises(SystemExit) as ended:
        main()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    assert is_clean(out), ascii(out)
    assert is_clean(err), ascii(err)
    assert "Traceback" not in err, err
    return int(ended.value.code or 0), out, err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a declared run whose every name is hostile."""
    monkeypatch.chdir(tmp_path)
    name, other = (text.replace("\r", "").replace("\x00", "") for text in (HOSTILE, OTHER))
    Path("ids.txt").write_text(f"{name}\n{other}\nmissing{name}\n")
    resolver = {"resolver_version": name, "objects": {f"o{name}": {"members": [f"c{name}"]}}}
    Path("resolver.json").write_text(json.dumps(resolver))
    decided = {
        "--id": name,
        "--interface": f"i{name}",
        "--component": f"c{name}",
        "--authority": f"a{name}",
        "--revision": f"r{name}",
        "--selection": "selected",
        "--returned": "ids",
        "--cutoff": "1",
        "--resolver": "resolver.json",
        "--population": "ids.txt",
    }
    assert run("declare", "sealed", *(part for pair in decided.items() for part in pair))[0] == 0
    records: list[Any] = [
        {"record_id": name, "selected": f"o{name}", "ids": [f"c{name}", HOSTILE]},
        {"record_id": other, "selected": HOSTILE, "ids": [HOSTILE]},
        {"record_id": f"unexpected{HOSTILE}", "selected": [HOSTILE], "ids": {HOSTILE: HOSTILE}},
        {"record_id": [HOSTILE]},
    ]
    lines = "".join(json.dumps(record, ensure_ascii=number % 2 == 0) + "\n" for number, record in enumerate(records))
    Path(f"records{name.replace('/', '_')}.jsonl").write_text(lines)
    return tmp_path


DECLARED = "sealed/declaration.json"


def test_evaluate_and_merge(folder: Path) -> None:
    """Reports in words and as JSON are clean, on the terminal and in files, and JSON means what the records say."""
    name = HOSTILE.replace("\r", "").replace("\x00", "")
    arguments = ["evaluate", DECLARED, "--records", "records*.jsonl"]
    assert run(*arguments)[0] == 4
    code, printed, _ = run(*arguments, "--format", "json", "--report", "report.json", "--records-out", "out.jsonl")
    assert code == 4
    report = json.loads(printed)
    assert report["missing_record_ids"] == [f"missing{name}"]
    assert report["unexpected_record_ids"] == [f"unexpected{HOSTILE}"]
    assert report["declaration_id"] == name
    _, part, _ = run(*arguments, "--partial")
    Path("one.part").write_text(part)
    assert run("merge", "one.part", "--format", "json", "--no-records")[1] == printed
    assert run("merge", "one.part", "--partial")[1] == part
    for written in ("report.json", "out.jsonl"):
        assert is_clean(Path(written).read_text())


def test_a_process_of_its_own(folder: Path) -> None:
    """What a real command prints is what the tests see here."""
    for arguments in (["evaluate", DECLARED, "--records", "records*.jsonl"], ["replay", HOSTILE.replace("\x00", "")]):
        found = subprocess.run([*COMMAND, *arguments], capture_output=True, timeout=300, check=False)
        assert (found.returncode, found.stdout.decode(), found.stderr.decode()) == run(*arguments)


def test_explain(folder: Path) -> None:
    """Each record is explained in clean words and clean JSON."""
    name = HOSTILE.replace("\r", "").replace("\x00", "")
    for record in (name, name + "2", f"missing{name}", f"unexpected{name}", f"nowhere{name}"):
        for form in ("text", "json"):
            run("explain", DECLARED, "--records", "records*.jsonl", "--record", record, "--format", form)
    _, printed, _ = run("explain", DECLARED, "--records", "records*.jsonl", "--record", name, "--format", "json")
    assert [each["id"] for each in json.loads(printed)[0]["returned"]] == [f"c{name}", HOSTILE]


def spoil(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Return what puts a value in a place of a document."""

    def put(document: dict[str, Any]) -> None:
        *names, last = path.split(".")
        for each in names:
            document = document[each]
        document[last] = value

    return put


@pytest.mark.parametrize(
    "change",
    [
        spoil("mode", HOSTILE),
        spoil("sheet.policy.mode", HOSTILE),
        spoil("sheet.resolver.path", HOSTILE),
        spoil("sheet.population.path", f"../{HOSTILE}"),
        spoil("sheet.output.field", f"[{HOSTILE}]"),
        spoil("sheet.sha256", HOSTILE),
        spoil(f"sheet.{HOSTILE.replace('.', '')}", {HOSTILE: HOSTILE}),
        spoil("rop_version", HOSTILE),
        spoil("declaration_id", {HOSTILE: HOSTILE}),
    ],
)
def test_a_declaration_that_is_invalid(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Faults show what the declaration holds without doing what it says."""
    document = json.loads(Path(DECLARED).read_text())
    change(document)
    Path(DECLARED).write_text(json.dumps(document))
    for form in ("text", "json"):
        assert run("evaluate", DECLARED, "--records", "records*.jsonl", "--format", form)[0] == 4


def hostile_spans() -> bytes:
    """Return spans with a hostile text in every place."""
    told = {
        semconv.HANDOFF_NAME: HOSTILE,
        semconv.HANDOFF_ID: HOSTILE,
        semconv.RECORD_ID: OTHER,
        semconv.RULE: HOSTILE,
        semconv.RESOLVER_SHA256: HOSTILE,
        semconv.RUN_ID: HOSTILE,
        semconv.EXPECTED_STAGES: [HOSTILE],
        semconv.JUDGED_IDS: [HOSTILE, OTHER],
    }
    packed = {
        semconv.CONTEXT_LABELS: [HOSTILE],
        semconv.STAGE_NAME: HOSTILE,
        semconv.STAGE_IMPLEMENTATION: HOSTILE,
        semconv.QUERY_FORM: HOSTILE,
    }
    cited = {semconv.STAGE: "reader", semconv.ANSWER_CITATIONS: [HOSTILE, OTHER]}
    foreign = {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.id": HOSTILE}
    spans = [
        handoff(1, "sel" + HOSTILE, given=told),
        handoff(2, "sel" + HOSTILE, given=told),
        stage(3, HOSTILE, HOSTILE, OTHER, parent=1),
        stage(4, "packing", OTHER, parent=1, given=packed),
        span(5, parent=1, attributes=cited),
        span(6, attributes={semconv.STAGE: HOSTILE, semconv.HANDOFF_ID: OTHER}),
        handoff(10, "x" + HOSTILE, given={semconv.RULE: "any"}),
        stage(11, "vector" + HOSTILE, "x" + HOSTILE, "y", parent=10),
        stage(12, "packing", "y", "y", parent=10),
        span(20, attributes=foreign),
    ]
    stream = io.BytesIO()
    write(spans, stream)
    return stream.getvalue()


def test_replay(folder: Path) -> None:
    """Verdicts, losses, findings and remarks are clean in words, and as JSON mean what the spans say."""
    Path(f"spans{HOSTILE[:4]}.jsonl").write_bytes(hostile_spans())
    [file] = Path().glob("spans*")
    for more in ((), ("--declaration", DECLARED), ("--resolver", "resolver.json")):
        run("replay", file, *more)
        _, printed, _ = run("replay", file, *more, "--format", "json")
        handoffs = json.loads(printed)["handoffs"]
        assert handoffs[0]["handoff_id"] == HOSTILE
    _, text, _ = run("replay", file)
    assert ":smile:" in text
    assert "[bold]b[/]" in text


def broken_inputs() -> dict[str, bytes]:
    """Return files that are refused with a message that holds what they hold."""
    key = json.dumps(HOSTILE, ensure_ascii=False).encode()
    return {
        "key": b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":%s,"attributes":[{"key":"rop.stage"}]}]}]}]}'
        % key,
        "twice": b"{%s:1,%s:2}" % (key, key),
        "no JSON": HOSTILE.encode(),
        "version": b'{"resolver_version":%s,"objects":{%s:{"members":[%s]},"b":{"members":[%s]}}}'
        % (key, key, key, key),
        "unknown": b'{"resolver_version":"1","objects":{},%s:1}' % key,
        "packed": gzip.compress(HOSTILE.encode()),
        "csv": b"chunk,%s\n" % HOSTILE.replace("\r", "").encode(),
    }


@pytest.mark.parametrize("data", broken_inputs().values(), ids=broken_inputs())
def test_refusals(folder: Path, data: bytes) -> None:
    """Every verb refuses a broken file in one clean line, however file and contents are called."""
    for name in (f"bad{HOSTILE[:4]}\u202e\n[bold].json", "bad.jsonl", "bad.csv"):
        Path(name).write_bytes(data)
        table = ["--chunk-column", HOSTILE[:5], "--object-column", "o", "--resolver-version", HOSTILE[:5]]
        decided = "--interface i --component c --selection s --returned r --cutoff 1 --authority a --mode soft".split()
        for arguments in (
            ["replay", name],
            ["replay", "ids.txt", "--resolver", name],
            ["merge", name],
            ["declare", f"new{HOSTILE[:4]}", *decided, "--resolver", name],
            ["declare", "new", *decided, "--resolver", name, *table],
            [
                "declare",
                "new",
                *decided,
                "--resolver",
                "resolver.json",
                "--population",
                name,
                "--population-column",
                "a",
            ],
        ):
            code, out, err = run(*arguments)
            assert (code, out, err.count("\n")) == (2, "", 1), (arguments, out, err)


@pytest.mark.parametrize(
    "arguments",
    [
        [HOSTILE],
        [f"--{HOSTILE}"],
        ["replay", f"--{HOSTILE}"],
        ["replay", "x", "--format", HOSTILE],
        ["replay", HOSTILE],
        ["evaluate", HOSTILE, "--records", HOSTILE],
        ["evaluate", "x", "--records", "x", "--at", HOSTILE],
        ["evaluate", DECLARED, "--records", f"{HOSTILE}*"],
        ["evaluate", DECLARED, "--records", "ids.txt", "--trace", f"[{HOSTILE}"],
        ["evaluate", DECLARED, "--records", "ids.txt", "--report", f"no/{HOSTILE}"],
        ["explain", DECLARED, HOSTILE],
        ["merge", HOSTILE],
        ["schema", HOSTILE],
        ["rules", f"no/such/{HOSTILE}", "--handoff", HOSTILE],
        ["rules", "new", "--label", HOSTILE],
        ["rules", "new", "--config", HOSTILE],
        ["dashboards", "new", "--path", HOSTILE],
        ["dashboards", f"new{HOSTILE.replace('/', '')}"],
        ["rules", f"new{HOSTILE.replace('/', '')}"],
        ["demo", "--fault", HOSTILE],
        ["demo", "--corpus", HOSTILE, "--questions", HOSTILE],
        ["demo", "--encoder", HOSTILE],
    ],
)
def test_arguments(folder: Path, arguments: list[str]) -> None:
    """What is typed, or pasted, comes back clean."""
    run(*(argument.replace("\x00", "") for argument in arguments))


def test_bytes_that_are_no_text(folder: Path) -> None:
    """A file's name that is no UTF-8 is shown with escapes, in words and in JSON."""
    name = os.fsdecode(b"records-\xff\x1b.jsonl")
    Path(name).write_text("{}\n")
    code, printed, _ = run("evaluate", DECLARED, "--records", name, "--format", "json")
    assert code == 4
    assert json.loads(printed)["malformed_observations"][0]["file"] == name
    assert "records-\\udcff\\x1b.jsonl" in run("evaluate", DECLARED, "--records", name)[1]
    assert "\\udcff" in run("replay", os.fsdecode(b"\xff"))[2]


def test_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting of the environment that cannot be used is shown clean."""
    monkeypatch.setenv("ROP_OTEL_FOREIGN_HANDOFF", f"({HOSTILE}".replace("\x00", ""))
    run("replay", "ids.txt")


def test_a_fault_of_ours_is_shown_clean(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A traceback and a log line hold what a file held, as escapes."""
    from rop_otel.cli import main as command

    def broken(**_: object) -> None:
        raise LookupError(HOSTILE)

    monkeypatch.setattr(command, "app", broken)
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert is_clean(said)
    assert said.startswith("Traceback")
    assert "LookupError" in said
    formatter = logging.lastResort.formatter if logging.lastResort else None
    assert formatter is not None
    assert is_clean(formatter.format(logging.makeLogRecord({"msg": HOSTILE})))


def test_all_that_is_printed_goes_one_way() -> None:
    """No verb prints by itself."""
    for file in sorted((ROOT / "rop_otel" / "cli").glob("*.py")):
        if file.stem in ("terminal", "console"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "Console"), f"{file}:{node.lineno}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
                assert node.attr not in ("stdout", "stderr"), f"{file}:{node.lineno}"


def test_a_console_escapes_what_no_verb_did(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is printed on a console with styles, in tables too, is clean but for the styles."""
    from rich.table import Table

    console = terminal.create_console(color_system=None)
    table = Table("a")
    table.add_row(HOSTILE.replace("[/]", ""))
    console.print(table)
    console.print(HOSTILE, markup=False)
    console.print(HOSTILE.replace("[/]", ""))
    assert is_clean(capsys.readouterr().out)


@pytest.mark.parametrize("text", [HOSTILE, "é 日本 \U0001f600", "\ud800", 'a"\\\n', ""])
def test_escaped_json_means_the_same(text: str) -> None:
    """Every character comes back from JSON as it was, and in words is printable."""
    for ascii_only in (False, True):
        for indent in (None, 2):
            written = printable_json(json.dumps({text: [text]}, ensure_ascii=ascii_only, indent=indent))
            assert is_clean(written)
            assert json.loads(written) == {text: [text]}
    assert printable(text).isprintable()
