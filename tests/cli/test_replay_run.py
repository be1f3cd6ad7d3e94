"""``rop-otel replay --declaration`` from the outside."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.cli.test_replay import recorded, refused, run
from tests.replay.test_recorded_run import trip
from tests.runs.audit import sealed

PASSING = [span for number, name in ((1, "r1"), (11, "r2"), (21, "r3")) for span in trip(number, name, "a#0")]


@pytest.mark.parametrize(
    ("names", "ids", "code"),
    [
        (("r1", "r2", "r3"), "a#0", 0),
        (("r1", "r2", "r3"), "x", 1),
        (("r1", "r2"), "a#0", 3),
        (("r1", "r2", "r2"), "a#0", 4),
    ],
)
def test_exit_codes(tmp_path: Path, names: tuple[str, ...], ids: str, code: int) -> None:
    """They are those of evaluate, whatever the format, and the text ends with the run."""
    spans = [span for place, name in enumerate(names) for span in trip(1 + 10 * place, name, ids)]
    arguments = ("replay", recorded(tmp_path, spans), "--declaration", sealed(tmp_path))
    result = run(*arguments)
    assert (result.returncode, result.stderr) == (code, b"")
    assert b"RUN_" in result.stdout
    told = run(*arguments, "--format", "json")
    assert told.returncode == code
    assert json.loads(told.stdout)["run"]["declaration_id"] == "made-up"


def test_the_run_is_what_evaluate_says(tmp_path: Path) -> None:
    """The same records from a file give the same report, but for the file that it names."""
    declaration = sealed(tmp_path)
    lines = [{"record_id": name, "selected": "obj-a", "ids": ["a#0"]} for name in ("r1", "r2", "r3")]
    records = tmp_path / "records.jsonl"
    records.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    evaluated = run("evaluate", declaration, "--records", records, "--format", "json")
    spans = recorded(tmp_path, PASSING)
    replayed = run("replay", spans, "--declaration", declaration, "--format", "json")
    reports = json.loads(replayed.stdout)["run"], json.loads(evaluated.stdout)
    for report, file in zip(reports, (spans, records), strict=True):
        data = file.read_bytes()
        named = {"file": file.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        assert report.pop("inputs") == [named]
    assert json.dumps(reports[0]) == json.dumps(reports[1])


def test_an_error_in_a_finding_does_not_fail_a_run(tmp_path: Path) -> None:
    """With a declaration the run decides the exit code; a finding is told and no more."""
    spans = [span for span in PASSING if span.name != "none"]
    assert run("replay", recorded(tmp_path, spans), "--declaration", sealed(tmp_path, mode="soft")).returncode == 0


def test_refused(tmp_path: Path) -> None:
    """A declaration that is not there, and a resolver that is not its own, are refused in one line."""
    file, declaration = recorded(tmp_path, PASSING), sealed(tmp_path)
    assert "nowhere.json: cannot be read" in refused("replay", file, "--declaration", tmp_path / "nowhere.json")
    own, other = tmp_path / "resolver.json", tmp_path / "other.json"
    other.write_text('{"resolver_version": "1", "objects": {}}')
    assert "is not the resolver of" in refused("replay", file, "--declaration", declaration, "--resolver", other)
    assert run("replay", file, "--declaration", declaration, "--resolver", own).returncode == 0


@pytest.mark.parametrize(
    ("interfaces", "code"),
    [
        ((), 0),
        (("qa=ranker-api",), 0),
        (("qa=ranker-api@v1", "other=x"), 0),
        (("qa=ranker-api@v2",), 4),
        (("qa=search-api",), 4),
        (("other=ranker-api",), 4),
    ],
)
def test_handoffs_of_another_interface(tmp_path: Path, interfaces: tuple[str, ...], code: int) -> None:
    """Where it is said what handoffs stand for, one of another interface or version is no record of the run."""
    options = [part for each in interfaces for part in ("--interface", each)]
    arguments = ("replay", recorded(tmp_path, PASSING), "--declaration", sealed(tmp_path), "--format", "json")
    result = run(*arguments, *options)
    assert (result.returncode, result.stderr) == (code, b"")
    told = json.loads(result.stdout)
    verdicts = {each["verdict"] for each in told["run"]["records"]} | {each["verdict"] for each in told["handoffs"]}
    assert verdicts == ({"DECLARATION_INVALID"} if code else {"PASS"})


@pytest.mark.parametrize("interface", ["", "qa", "qa=", "=ranker-api", "qa=@v1", "qa=ranker-api@"])
def test_an_interface_that_is_none(tmp_path: Path, interface: str) -> None:
    """It is a usage error, as is one without a declaration."""
    file = recorded(tmp_path, PASSING)
    result = run("replay", file, "--declaration", sealed(tmp_path), "--interface", interface)
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"HANDOFF=NAME[@VERSION]" in result.stderr
    assert "and there is none" in refused("replay", file, "--interface", "qa=ranker-api")
