"""What is declared, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rop_otel.cli.main import app, main
from tests.cli.sealed import DECISIONS, DECLARATION, TABLE, declared, report, run

ABSENT = "0 absent (0 of them from a list shorter than the depth)"


def test_declare_then_evaluate(place: Path) -> None:
    """A list, a table and the decisions are all it takes; the report ends with where to look."""
    exit_code, text = run(
        *("evaluate", declared(), "--records", "records.jsonl", "--trace", "gold", "--at", "1", "2", "4"),
        *("--depth", "4", "--near", "4"),
    )
    assert exit_code == 1
    assert text.startswith("RUN_FAIL  fixture-ranker-api\n2 expected, 2 observed\n")
    assert text.split("pass (decides nothing)\n")[1].split("\n\n")[0].splitlines() == [
        "where the selected object is, of 2 evaluable records (lists stored to depth 4, not sealed):",
        f"  @1  0 within the cutoff (0.0000), 2 past it (2 of them up to rank 4), {ABSENT}",
        f"  @2  1 within the cutoff (0.5000), 1 past it (1 of them up to rank 4), {ABSENT}",
        f"  @3  1 within the cutoff (0.5000), 1 past it (1 of them up to rank 4), {ABSENT}",
        f"  @4  2 within the cutoff (1.0000), 0 past it (0 of them up to rank 4), {ABSENT}",
        "selected and judged objects (gold, not sealed), of 2 evaluable records:",
        "  0 the same, 1 different, 1 without judged objects, 0 with judged keys that the resolver does not know",
        "  @1  of 1 different: 0 show both, 0 the selected only, 1 a judged only, 0 neither",
        "  @2  of 1 different: 1 show both, 0 the selected only, 0 a judged only, 0 neither",
        "  @3  of 1 different: 1 show both, 0 the selected only, 0 a judged only, 0 neither",
        "  @4  of 1 different: 1 show both, 0 the selected only, 0 a judged only, 0 neither",
    ]
    assert text.endswith("Where to look\n  retrieval: usable lists that omit their object within the cutoff: 1\n")


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        (["--population", "records.jsonl", "--population-column", "record_id"], "complete"),
        (["--population", "ids.txt", "--mode", "soft"], "complete"),
        (["--mode", "open"], "without"),
    ],
)
def test_populations_come_from_lists_and_record_files(place: Path, arguments: list[str], shape: str) -> None:
    """A column of a record file is a population too; outside hard mode there need not be one."""
    assert run("declare", "sealed", *DECISIONS, *TABLE, *arguments)[0] == 0
    assert (place / "sealed" / "population.txt").exists() == (shape == "complete")
    assert report("sealed/declaration.json", "--records", "records.jsonl")["declaration_errors"] == []


def test_every_option_is_sealed(place: Path) -> None:
    """Whatever is given stands in the declaration, a witness too: no option is left out."""
    (place / "inverse.json").write_text('{"w": "obj-a"}')
    options = (
        "--id decl --interface-version v2 --specification spec --mode soft --witness-hash h --inverse-map inverse.json"
        " --rule all --record-field rid --producer maker --revision 9 --prompt p --corpus-uri uri"
        " --composite-corpus-key key --population ids.txt --depth 20 --trace gold.ids --query-form retrieval_fact"
    ).split()
    assert run("declare", "sealed", *DECISIONS, *TABLE, *options)[0] == 0
    document = json.loads((place / DECLARATION).read_text())
    sheet = document["sheet"]
    assert (document["declaration_id"], document["mode"], document["policy_revision"]) == ("decl", "soft", "9")
    assert sheet["interface"].items() >= {"version": "v2", "specification": "spec"}.items()
    assert (sheet["policy"]["authority"], sheet["policy"]["producer"]) == ("search-team", "maker")
    assert sheet["target"].items() >= {"form": "witness", "field": "selector.key", "hash_field": "h"}.items()
    assert sheet["output"] == {"component": "ranker", "field": "results[].id", "cutoff": 3, "rule": "all", "depth": 20}
    assert (sheet["trace"], sheet["query_form"]) == ({"field": "gold.ids"}, "retrieval_fact")
    assert (sheet["population"]["field"], sheet["prompt"]) == ("rid", "p")
    assert sheet["resolver"].items() >= {"corpus_uri": "uri", "composite_corpus_key": "key"}.items()


def test_a_resolver_of_ours_is_sealed_as_it_is(place: Path) -> None:
    """Its bytes are not touched, as JSON and as JSON Lines."""
    lines = '{"resolver_version": "7"}\n{"object_id": "obj-a", "members": ["a#1"]}\n'
    (place / "mine.jsonl").write_text(lines)
    assert run("declare", "sealed", *DECISIONS, "--resolver", "mine.jsonl", "--population", "ids.txt")[0] == 0
    assert (place / "sealed" / "resolver.jsonl").read_text() == lines


@pytest.mark.parametrize(
    "arguments",
    [
        [*TABLE],
        [*TABLE[:2], "--population", "ids.txt"],
        [*TABLE[:-2], "--population", "ids.txt"],
        [*TABLE, "--population", "none.txt"],
        [*TABLE, "--population", "map.csv", "--population-column", "x"],
        [*TABLE, "--population", "ids.txt", "--returned", "a[].b[]"],
        [*TABLE, "--population", "ids.txt", "--witness-hash", "h"],
        [*TABLE, "--mode", "soft", "--population-column", "x"],
        [*TABLE, "--mode", "soft", "--record-field", "x"],
        ["--resolver", "none.json", "--population", "ids.txt"],
        [*TABLE, "--chunk-column", "no", "--population", "ids.txt"],
    ],
)
def test_what_cannot_be_declared_is_a_usage_error(
    place: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written, and one line says why."""
    monkeypatch.setattr(sys, "argv", ["rop-otel", "declare", "sealed", *DECISIONS, *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not (place / "sealed").exists()


@pytest.mark.parametrize("theirs", [b"q2\nq1\n", b"something else"])
def test_a_file_that_is_there_is_not_overwritten(place: Path, theirs: bytes) -> None:
    """A list or another file of the user's that has a sealed file's name stays as it is, and nothing is sealed."""
    (place / "population.txt").write_bytes(theirs)
    result = CliRunner().invoke(app, ["declare", ".", *DECISIONS, *TABLE, "--population", "population.txt"])
    assert "is there already, with other contents" in str(result.exception)
    assert (place / "population.txt").read_bytes() == theirs
    assert not (place / "declaration.json").exists()


def test_a_sealed_declaration_is_not_overwritten(place: Path) -> None:
    """Declaring again into the same folder is refused."""
    declared()
    result = CliRunner().invoke(app, ["declare", "sealed", *DECISIONS, *TABLE, "--population", "ids.txt"])
    assert "is not changed" in str(result.exception)


@pytest.mark.parametrize(
    "arguments",
    [
        [*TABLE, "--population", "list"],
        [*TABLE, "--population", "list", "--population-column", "record_id"],
        ["--resolver", "list", *TABLE[2:], "--population", "ids.txt"],
        ["--resolver", "list", "--population", "ids.txt"],
    ],
)
def test_parquet_is_not_declared_from(place: Path, arguments: list[str]) -> None:
    """Whatever its name, the error says that it is Parquet and what to write instead."""
    (place / "list").write_bytes(b"PAR1\x15\x04PAR1")
    refused = CliRunner().invoke(app, ["declare", "sealed", *DECISIONS, *arguments])
    assert str(refused.exception).startswith("list: is Parquet, which is not read here: write ")
