"""The command ``rop-otel replay`` from the outside."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rop_otel import semconv
from rop_otel.core.profile import Resolver
from rop_otel.spans import Span
from rop_otel.spans.otlp_writer import write
from tests.spans.trace import handoff, pipeline, span, stage

COMMAND = [sys.executable, "-c", "from rop_otel.cli.main import main; main()"]


def run(
    *arguments: str | Path, stdin: bytes = b"", environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        input=stdin,
        timeout=300,
        check=False,
        env=os.environ | (environ or {}),
    )


def recorded(folder: Path, spans: list[Span], name: str = "traces.jsonl") -> Path:
    stream = io.BytesIO()
    write(spans, stream)
    file = folder / name
    file.write_bytes(stream.getvalue())
    return file


def refused(*arguments: str | Path) -> str:
    """Return the one line with which a command is refused."""
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, b"")
    [line] = result.stderr.decode().splitlines()
    return line


PASSES = [handoff(1, "a"), stage(2, "packing", "a", parent=1)]


def test_text(tmp_path: Path) -> None:
    """Words by default; exit code 1 where a handoff FAILs, 0 where all is well."""
    failed = run("replay", recorded(tmp_path, pipeline()))
    assert (failed.returncode, failed.stderr) == (1, b"")
    assert b"FAIL, the selected object was lost at packing: packing left it out" in failed.stdout
    passed = run("replay", recorded(tmp_path, PASSES))
    assert (passed.returncode, passed.stderr) == (0, b"")
    assert b"1 handoff: 1 PASS" in passed.stdout


def test_json(tmp_path: Path) -> None:
    """JSON in UTF-8 whatever the terminal's encoding, and the same each time."""
    file = recorded(tmp_path, [handoff(1, "é"), stage(2, "packing", "é", parent=1)])
    outputs = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": seed}
        arguments = [*COMMAND, "replay", str(file), "--format", "json"]
        result = subprocess.run(arguments, capture_output=True, env=environment, timeout=300, check=False)
        assert (result.returncode, result.stderr) == (0, b"")
        outputs.append(result.stdout)
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"\n") == 1
    assert json.loads(outputs[0].decode())["handoffs"][0]["shown"]["ids"] == ["é"]


def test_several_files(tmp_path: Path) -> None:
    """A handoff may lie in several files, one per service."""
    spans = pipeline()
    files = [recorded(tmp_path, [span], f"{number}.json") for number, span in enumerate(spans)]
    whole = run("replay", recorded(tmp_path, spans), "--format", "json").stdout
    assert run("replay", *reversed(files), "--format", "json").stdout == whole


def test_a_resolver(tmp_path: Path) -> None:
    """A resolver is read as JSON, or as JSON Lines where its name says so."""
    file = recorded(tmp_path, [handoff(1, "page"), stage(2, "packing", "page#1", parent=1)])
    assert run("replay", file).returncode == 1
    document = tmp_path / "resolver.json"
    document.write_bytes(Resolver({"page": ["page#1"]}).to_bytes())
    assert run("replay", file, "--resolver", document).returncode == 0
    lines = tmp_path / "resolver.jsonl"
    lines.write_text('{"resolver_version": "1"}\n{"object_id": "page", "members": ["page#1"]}\n')
    assert run("replay", file, "--resolver", lines).returncode == 0


def test_refused_resolvers(tmp_path: Path) -> None:
    """A resolver that cannot be used is refused by the name of its file."""
    file = recorded(tmp_path, PASSES)
    broken = tmp_path / "resolver.json"
    broken.write_text('{"resolver_version": "1", "objects": {"page": {"members": []}}}')
    assert refused("replay", file, "--resolver", broken) == f"rop-otel: {broken}: object 'page' has no members"
    missing = tmp_path / "missing.json"
    expected = f"rop-otel: {missing}: cannot be read: No such file or directory"
    assert refused("replay", file, "--resolver", missing) == expected


def test_refused_files(tmp_path: Path) -> None:
    """A file that cannot be read is refused in one line, by file and line where there is one."""
    good = recorded(tmp_path, PASSES)
    for name, data, said in [
        ("half.jsonl", good.read_bytes() + good.read_bytes()[:-9], ":2: not JSON, or cut short: "),
        ("half.json.gz", gzip.compress(good.read_bytes())[:-9], ":1: the compressed data is cut short"),
        ("junk", os.urandom(64) + b"\xff", ":1: not "),
        ("new\nline", b"[]", "line:1: not an OTLP export request: Expected `object`, got `array`"),
    ]:
        file = tmp_path / name
        file.write_bytes(data)
        line = refused("replay", good, file)
        assert line.startswith("rop-otel: ")
        assert said in line
    assert refused("replay", tmp_path) == f"rop-otel: {tmp_path}: cannot be read: Is a directory"


@pytest.mark.parametrize("arguments", [["replay"], ["replay", "x", "--format", "xml"], ["replay", "--no"], ["nothing"]])
def test_usage(arguments: list[str]) -> None:
    """A command that makes no sense is refused with exit code 2 and a hint."""
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"Usage: rop-otel" in result.stderr


def test_no_handoffs(tmp_path: Path) -> None:
    """An empty file is no error, and the text says that there was nothing."""
    file = tmp_path / "empty.jsonl"
    file.touch()
    result = run("replay", file)
    assert (result.returncode, result.stdout) == (0, b"No handoffs: no span carries a handoff's name.\n")
    assert json.loads(run("replay", file, "--format", "json").stdout)["handoffs"] == []


def test_a_pipe(tmp_path: Path) -> None:
    """Spans can come through a pipe, packed or not."""
    data = gzip.compress(recorded(tmp_path, PASSES).read_bytes())
    assert b"1 PASS" in run("replay", "/dev/stdin", stdin=data).stdout


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    """Output that nobody reads any more ends the command without a word."""
    file = recorded(tmp_path, [span for first in range(0, 100_000, 100) for span in pipeline(first + 1)])
    with subprocess.Popen([*COMMAND, "replay", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=300) == 1


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_disk(tmp_path: Path, form: str) -> None:
    """Output that the system refuses is said in one line."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        arguments = [*COMMAND, "replay", str(recorded(tmp_path, PASSES)), "--format", form]
        result = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, timeout=300, check=False)
    assert (result.returncode, result.stderr.count(b"\n")) == (2, 1)
    assert b"No space left on device" in result.stderr


def test_ten_thousand_stages(tmp_path: Path) -> None:
    """Ten thousand stages in one handoff, each below the last, take time that grows with their number alone."""

    def processor_seconds(count: int) -> float:
        stages = [stage(2 + place, "step", "a", "b", parent=1 + place) for place in range(count)]
        expected = {semconv.EXPECTED_STAGES: ["step"]}
        file = recorded(tmp_path, [handoff(1, "c", given=expected), *stages])
        start = os.times().children_user
        result = run("replay", file, "--format", "json")
        assert result.returncode == 1
        [found] = json.loads(result.stdout)["handoffs"]
        assert found["drop_cause"] == "never_retrieved"
        return os.times().children_user - start

    assert processor_seconds(10_000) < 10 * processor_seconds(1000)


def test_version_and_help() -> None:
    """The version is the package's; help names every verb."""
    assert run("--version").stdout.strip().count(b".") == 2
    assert b"replay" in run("--help").stdout
    assert b"--resolver" in run("replay", "--help").stdout


def test_text_that_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    """IDs in any script are printed under an ASCII locale too."""
    file = recorded(
        tmp_path, [handoff(1, "a", given={semconv.HANDOFF_NAME: "日本"}), stage(2, "日本", "b", "b", parent=1)]
    )
    result = run("replay", file, environ={"PYTHONIOENCODING": "ascii"})
    assert result.returncode in (0, 1)
    assert b"Traceback" not in result.stderr
    assert b"\\u65e5" in result.stdout


def test_broken_spans_of_others_are_left_out(tmp_path: Path) -> None:
    """A span of somebody else with impossible times or types costs nothing but itself, and the text counts it."""
    spans = [handoff(1, "a"), span(5, parent=1), stage(2, "packing", "a", parent=5), span(6, trace="cd" * 16)]
    whole = json.loads(recorded(tmp_path, spans).read_bytes())
    before = run("replay", recorded(tmp_path, spans), "--format", "json")
    [_, between, _, alone] = whole["resourceSpans"][0]["scopeSpans"][0]["spans"]
    between["endTimeUnixNano"] = str(2**64 - 1)
    alone["attributes"] = {"http.method": "GET"}
    file = tmp_path / "broken.jsonl"
    file.write_text(json.dumps(whole))
    after = run("replay", file, "--format", "json")
    assert (after.returncode, after.stdout) == (before.returncode, before.stdout)
    assert b"1 PASS" in run("replay", file).stdout
    assert b"2 spans of others left out: what they hold is not what OTLP allows." in run("replay", file).stdout


def test_a_broken_stage_is_said(tmp_path: Path) -> None:
    """A stage of ours whose list cannot be read is judged so, and one whose ID cannot be read refuses the file."""
    whole = json.loads(recorded(tmp_path, PASSES).read_bytes())
    [_, packing] = whole["resourceSpans"][0]["scopeSpans"][0]["spans"]
    [ids] = [each for each in packing["attributes"] if each["key"] == semconv.RETURNED_IDS]
    ids["value"] = {"arrayValue": {"values": ["a"]}}
    file = tmp_path / "broken.jsonl"
    file.write_text(json.dumps(whole))
    [found] = json.loads(run("replay", file, "--format", "json").stdout)["handoffs"]
    assert (found["verdict"], [each["code"] for each in found["findings"]]) == ("UNVERIFIABLE", ["ids_unreadable"])
    packing["spanId"] = 7
    file.write_text(json.dumps(whole))
    assert refused("replay", file).startswith(f"rop-otel: {file}:1: not an OTLP export request: ")
