"""The verbs of declared ROP runs, as a user types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema  # type: ignore[import-untyped] # it ships no types
import pytest
from typer.testing import CliRunner

from rop_otel.cli.main import app
from rop_otel.core.profile.schema import SCHEMAS
from rop_otel.errors import InputError, RopError
from tests.cli.sealed import DECISIONS, DECLARATION, RECORDS, TABLE, declared, report, run


def test_a_report_goes_where_it_is_asked_to(place: Path) -> None:
    """To a file as JSON, records inside, apart or left out; printed all the same."""
    declaration = declared()
    whole = report(declaration, "--records", "records.jsonl", "--report", "report.json")
    assert json.loads((place / "report.json").read_text()) == whole
    assert [record["record_id"] for record in whole["records"]] == ["run_alpha", "run_beta"]
    apart = report(declaration, "--records", "records.jsonl", "--records-out", "out.jsonl")
    assert [json.loads(line) for line in (place / "out.jsonl").read_text().splitlines()] == whole["records"]
    without = report(declaration, "--records", "records.jsonl", "--no-records")
    assert without == apart == {key: value for key, value in whole.items() if key != "records"}
    both = report(declaration, "--records", "records.jsonl", "--no-records", "--records-out", "both.jsonl")
    assert both == apart
    assert (place / "both.jsonl").read_bytes() == (place / "out.jsonl").read_bytes()


def test_records_of_parts_are_written_apart_where_they_are_merged(place: Path) -> None:
    """Not beside a part, which holds its own; nor where a part left them out, which would give a file without them."""
    evaluate = ["evaluate", declared(), "--records", "records.jsonl"]
    assert run(*evaluate, "--partial", "--records-out", "out.jsonl")[0] == 2
    run(*evaluate, "--partial", "--report", "with.part")
    run(*evaluate, "--partial", "--report", "without.part", "--no-records")
    assert run("merge", "with.part", "--partial", "--records-out", "out.jsonl")[0] == 2
    bare = CliRunner().invoke(app, ["merge", "without.part", "--records-out", "out.jsonl"])
    assert str(bare.exception) == "--records-out: a part holds no records, since --no-records left them out"
    assert not (place / "out.jsonl").exists()
    run(*evaluate, "--records-out", "one-pass.jsonl")
    run("merge", "with.part", "--no-records", "--records-out", "out.jsonl")
    assert (place / "out.jsonl").read_bytes() == (place / "one-pass.jsonl").read_bytes()


def test_the_schemas_describe_what_is_written(place: Path) -> None:
    """Declaration, resolver, report and records hold to the committed schemas, which are those that are printed."""
    declaration = declared()
    shapes = json.loads(run("schema")[1])
    assert {name: json.loads(run("schema", name)[1]) for name in SCHEMAS} == shapes
    whole = report(declaration, "--records", "records.jsonl", "--trace", "gold")
    run("declare", "soft", *DECISIONS, *TABLE, "--mode", "soft", "--trace", "gold", "--depth", "9", "--query-form", "q")
    soft = report("soft/declaration.json", "--records", "records.jsonl", "--near", "4")
    for name, value in (
        ("declaration", json.loads((place / declaration).read_text())),
        ("resolver", json.loads((place / "sealed" / "resolver.json").read_text())),
        ("declaration", json.loads((place / "soft" / "declaration.json").read_text())),
        ("run_report", whole),
        ("run_report", soft),
        ("record_report", whole["records"][0]),
    ):
        jsonschema.Draft202012Validator.check_schema(shapes[name])
        jsonschema.validate(value, shapes[name], cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_committed_schemas_are_current(name: str) -> None:
    """Each file is what is printed."""
    folder = Path(__file__).resolve().parents[2] / "docs" / "schemas"
    assert run("schema", name)[1] == (folder / f"{name}.json").read_text(encoding="utf-8")


def test_explain_says_which_check_decided(place: Path) -> None:
    """Selection, objects, each returned ID, the cutoff line, the verdict and its check."""
    exit_code, text = run("explain", declared(), "--records", "records.jsonl", "--record", "run_beta")
    assert exit_code == 0
    assert text.splitlines() == [
        "records.jsonl:2",
        "run_beta: FAIL",
        "  because 'obj-b' is returned at rank 4, past the cutoff of 3 (check: not_returned)",
        "  selected 'obj-b' → 'obj-b'",
        "  returned, rule 'any':",
        "       1  'x' → no object",
        "       2  'x' → no object",
        "       3  'x' → no object",
        "    ---- cutoff 3: the reader sees nothing below ----",
        "  *    4  'b#0' → 'obj-b'",
    ]
    shape = json.loads(
        run(
            "explain",
            "sealed/declaration.json",
            "--records",
            "records.jsonl",
            "--record",
            "run_beta",
            "--format",
            "json",
        )[1]
    )
    assert (shape[0]["check"], shape[0]["line"]) == ("not_returned", 2)


def test_explain_knows_missing_from_unknown(place: Path) -> None:
    """An expected record without an observation is missing; any other ID is a usage error."""
    declaration = declared()
    (place / "records.jsonl").write_text(json.dumps(RECORDS[0]) + "\n")
    assert "MISSING" in run("explain", declaration, "--records", "records.jsonl", "--record", "run_beta")[1]
    for form in ("text", "json"):
        other = ["explain", declaration, "--records", "records.jsonl", "--record", "other", "--format", form]
        assert "not expected either" in str(CliRunner().invoke(app, other).exception)


def test_merge_is_the_one_pass(place: Path) -> None:
    """Parts of parts, in any order, from another folder, with duplicates across shards."""
    declaration = declared()
    for number, record in enumerate([*RECORDS, RECORDS[0]]):
        (place / f"{number}.jsonl").write_text(json.dumps(record) + "\n")
        assert run(
            "evaluate", declaration, "--records", f"{number}.jsonl", "--partial", "--report", f"{number}.part"
        ) == (
            0,
            "",
        )
    assert run("merge", "2.part", "0.part", "--partial", "--report", "20.part") == (0, "")
    whole = run("evaluate", declaration, "--records", "0.jsonl", "1.jsonl", "2.jsonl", "--format", "json")
    assert whole[0] == 4
    assert run("merge", "1.part", "20.part", "--format", "json") == whole
    (place / "sealed").rename(place / "moved")
    moved = run("merge", "20.part", "1.part", "--declaration", "moved/declaration.json", "--format", "json")
    assert moved == whole


def test_a_part_that_was_cut_short_gives_no_report(place: Path) -> None:
    """Wherever a part ends too early, between two records too, merging is refused before anything is printed."""
    declaration = declared()
    run("evaluate", declaration, "--records", "records.jsonl", "--partial", "--report", "one.part")
    data = (place / "one.part").read_bytes()
    for size in range(0, len(data), 7):
        (place / "cut.part").write_bytes(data[:size])
        result = CliRunner().invoke(app, ["merge", "cut.part", "--format", "json"])
        assert isinstance(result.exception, InputError)
        assert result.stdout == ""
    for size in (data.rindex(b"\n", 0, -1) + 1, len(data) - 1):
        (place / "cut.part").write_bytes(data[:size])
        result = CliRunner().invoke(app, ["merge", "cut.part", "--format", "json"])
        assert str(result.exception) == "cut.part: holds 1 whole records and counts 2: it was cut short or changed"


@pytest.mark.parametrize("output", ["--report", "--records-out"])
def test_what_is_read_is_not_written_over(place: Path, output: str) -> None:
    """Records, parts and declaration stay as they are, by whatever name they are asked to be written over."""
    declaration = declared()
    run("evaluate", declaration, "--records", "records.jsonl", "--partial", "--report", "one.part")
    (place / "link").symlink_to("records.jsonl")
    evaluate = ["evaluate", declaration, "--records", "record*.jsonl"]
    for arguments, file in (
        (evaluate, "records.jsonl"),
        (evaluate, "./link"),
        (evaluate, declaration),
        (["merge", "one.part"], "one.part"),
        *([(["merge", "one.part", "--partial"], "one.part")] if output == "--report" else []),
        (["merge", "one.part", "--declaration", declaration], declaration),
        (["merge", "one.part"], declaration),
    ):
        before = (place / file).read_bytes()
        result = CliRunner().invoke(app, [*arguments, output, file])
        assert "would be written over" in str(result.exception)
        assert (place / file).read_bytes() == before


def test_one_file_is_not_written_twice(place: Path) -> None:
    """A report and records that are to go to one file are refused, and nothing is written."""
    arguments = ["evaluate", declared(), "--records", "records.jsonl", "--report", "out", "--records-out", "./out"]
    assert "is written here already" in str(CliRunner().invoke(app, arguments).exception)
    assert not (place / "out").exists()


def test_merge_refuses_what_does_not_belong_together(place: Path) -> None:
    """Another file, or a changed declaration, is a usage error."""
    declaration = declared()
    run("evaluate", declaration, "--records", "records.jsonl", "--partial", "--report", "one.part")
    assert "no partial report" in str(CliRunner().invoke(app, ["merge", "records.jsonl"]).exception)
    (place / declaration).write_text((place / declaration).read_text() + "\n")
    assert "is not the declaration" in str(CliRunner().invoke(app, ["merge", "one.part"]).exception)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["declare", "new", *DECISIONS, *TABLE, "--population", "ids.txt"], "--max-line-bytes"),
        (
            ["declare", "new", *DECISIONS, *TABLE, "--population", "records.jsonl", "--population-column", "record_id"],
            "--max-line-bytes",
        ),
        (
            ["declare", "new", *DECISIONS, "--resolver", "map.jsonl", *TABLE[2:], "--population", "ids.txt"],
            "--max-line-bytes",
        ),
        (["explain", DECLARATION, "--records", "records.jsonl", "--record", "run_beta"], "--max-line-bytes"),
        (["explain", DECLARATION, "--records", "records.jsonl", "--record", "run_beta"], "--max-file-bytes"),
        (["merge", "one.part"], "--max-file-bytes"),
    ],
)
def test_a_verb_takes_the_limit_that_its_error_names(place: Path, command: list[str], option: str) -> None:
    """Too low a limit is an error that names the option, and a higher one is obeyed."""
    run("evaluate", declared(), "--records", "records.jsonl", "--partial", "--report", "one.part")
    (place / "map.jsonl").write_text('{"chunk": "a#0", "object": "obj-a"}\n')
    refused = CliRunner().invoke(app, [*command, option, "5"])
    assert f"raise {option}" in str(refused.exception)
    assert "raise" not in str(CliRunner().invoke(app, [*command, option, "10000"]).exception)


def test_a_merge_has_the_limit_that_it_is_given(place: Path) -> None:
    """With the evaluation's limit it gives the evaluation's report; with a lower one the named file is too large."""
    with (place / "map.csv").open("a") as table:
        table.writelines(f"c#{number},obj-c\n" for number in range(1000))
    declaration = declared()
    low = ["--max-file-bytes", str((place / declaration).stat().st_size)]
    high = ["--max-file-bytes", str((place / "sealed" / "resolver.json").stat().st_size)]
    run("evaluate", declaration, "--records", "records.jsonl", *high, "--partial", "--report", "one.part")
    whole = run("evaluate", declaration, "--records", "records.jsonl", *high, "--format", "json")
    assert whole[0] == 1
    assert run("merge", "one.part", *high, "--format", "json") == whole
    exit_code, text = run("merge", "one.part", *low, "--format", "json")
    assert (exit_code, [fault["code"] for fault in json.loads(text)["declaration_errors"]]) == (4, ["file_too_large"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["none.json", "--records", "records.jsonl"],
        ["{declaration}", "--records", "none.jsonl"],
        ["{declaration}", "--records", "none-*.jsonl"],
        ["{declaration}", "--records", "sealed"],
        ["{declaration}", "--records", "records.jsonl", "--trace", "a[].b[]"],
        ["{declaration}", "--records", "records.jsonl", "--at", "0"],
        ["{declaration}", "--records", "records.jsonl", "--at", "4"],
        ["{declaration}", "--records", "records.jsonl", "--depth", "2"],
        ["{declaration}", "--records", "records.jsonl", "--near", "-1"],
        ["{declaration}", "--records", "records.jsonl", "--report", "no/such/folder"],
        ["{declaration}", "--records", "records.jsonl", "--max-line-bytes", "10"],
    ],
)
def test_a_usage_error_is_one_line(place: Path, arguments: list[str]) -> None:
    """Exit code 2, one line on standard error, no traceback, no report."""
    declaration = declared()
    given = [argument.format(declaration=declaration) for argument in arguments]
    command = [sys.executable, "-c", "from rop_otel.cli.main import main; main()", "evaluate", *given]
    found = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(Path(__file__).parents[2])}
    )
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert found.stderr.startswith("rop-otel: ")


@pytest.mark.parametrize("verb", [["evaluate"], ["explain", "--record", "run_alpha"]], ids=lambda verb: verb[0])
def test_parquet_without_its_library_is_one_sentence(
    place: Path, verb: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where pyarrow is missing, a Parquet file is refused with what to install."""
    declaration = declared()
    (place / "records.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = CliRunner().invoke(app, [*verb, declaration, "--records", "records.parquet"])
    assert isinstance(result.exception, RopError)
    assert "needs pyarrow" in str(result.exception)
