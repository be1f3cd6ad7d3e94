"""An ID of a megabyte: a person reads its beginning and how long it is, and JSON has all of it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rop_otel import semconv
from rop_otel.core.escapes import LONGEST_READ
from rop_otel.spans.otlp_writer import write
from tests.cli.sealed import DECISIONS, run
from tests.cli.test_hostile_files import in_process
from tests.spans.trace import handoff, span, stage
from tests.study.toy import freeze, question, ranked

LONG = "x" * 2**20
SPACED = "an ID, or two; " * 2**16
"""One that looks like many words."""

Verb = Callable[[Path, str], tuple[str, ...]]


def recorded(folder: Path, named: str) -> str:
    """Write spans in which whatever has a name is called so, and return the file."""
    stream = io.BytesIO()
    given = {semconv.RECORD_ID: named, semconv.JUDGED_IDS: [named], semconv.JUDGED_GRADES: [1.0]}
    lost = {semconv.HANDOFF_NAME: named, **given}
    write(
        [
            handoff(1, named, given={**lost, semconv.HANDOFF_ID: named}),
            stage(2, "vector", named, f"{named}2", parent=1, given={semconv.STAGE_NAME: named}),
            stage(3, "packing", f"{named}2", named + "3", parent=1),
            handoff(10, given={semconv.HANDOFF_NAME: named, semconv.HANDOFF_ID: f"{named}4"}),
            stage(11, "vector", named, "b", parent=10),
            stage(12, "packing", "b", parent=10),
            span(30, attributes={semconv.STAGE: "vector", semconv.HANDOFF_ID: f"{named}5"}),
        ],
        stream,
    )
    file = folder / "spans.json"
    file.write_bytes(stream.getvalue())
    return str(file)


def declared(folder: Path, named: str) -> tuple[str, str]:
    """Declare a run of two records, one of which is observed, and return the declaration and the records."""
    (folder / "ids.txt").write_text(f"{named}0\n{named}1\n")
    objects = {named: {"members": [f"{named}a"]}}
    (folder / "resolver.json").write_text(json.dumps({"resolver_version": "1", "objects": objects}))
    record = {"record_id": f"{named}0", "selector": {"key": named}, "results": [{"id": f"{named}a"}, {"id": named}]}
    more = [{**record, "record_id": f"{named}2"}, {**record, "record_id": f"{named}2"}]
    (folder / "records.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (record, *more)))
    code, said = run("declare", "sealed", *DECISIONS, "--resolver", "resolver.json", "--population", "ids.txt")
    assert code == 0, said[:1000]
    return "sealed/declaration.json", "records.jsonl"


def replayed(folder: Path, named: str) -> tuple[str, ...]:
    return "replay", recorded(folder, named)


def listed(folder: Path, named: str) -> tuple[str, ...]:
    return "replay", recorded(folder, named), "--lists"


def checked(folder: Path, named: str) -> tuple[str, ...]:
    return "doctor", recorded(folder, named)


def evaluated(folder: Path, named: str) -> tuple[str, ...]:
    declaration, records = declared(folder, named)
    return "evaluate", declaration, "--records", records


def explained(folder: Path, named: str) -> tuple[str, ...]:
    declaration, records = declared(folder, named)
    return "explain", declaration, "--records", records, "--record", f"{named}0"


def missing(folder: Path, named: str) -> tuple[str, ...]:
    declaration, records = declared(folder, named)
    return "explain", declaration, "--records", records, "--record", f"{named}1"


def tabled(folder: Path, named: str) -> tuple[str, ...]:
    questions = [question(each, named, [named], selector=named) for each in ("a", "b", named)]
    lists = {"a": [named, "f0"], "b": ["f0"], named: ["f0", named]}
    study = freeze(folder / "study", questions, {("title", "bm25"): ranked(questions, "title", "bm25", lists)})
    return "study", "tables", study, "--intervals", "50"


@pytest.mark.parametrize("named", [LONG, SPACED], ids=["one word", "many words"])
@pytest.mark.parametrize("verb", [replayed, listed, checked, evaluated, explained, missing, tabled])
def test_a_long_id_is_cut_for_people_and_whole_in_json(verb: Verb, named: str, place: Path) -> None:
    """Each line of the text can be read, and says how long what it cuts is."""
    arguments = verb(place, named)
    _, text = run(*arguments)
    assert max(map(len, text.splitlines())) < 20 * LONGEST_READ
    flat = "".join(text.split())  # a line may be wrapped anywhere
    assert f"{''.join(named[:LONGEST_READ].split())}…(" in flat
    assert "characters)" in flat
    if verb is not missing:  # it has nothing to give as JSON
        _, document = run(*arguments, "--format", "json")
        assert json.dumps(named)[1:-1] in document
        json.loads(document)


@pytest.mark.parametrize("named", [LONG, SPACED], ids=["one word", "many words"])
def test_an_error_is_cut_too(
    named: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line with which a verb refuses something can be read, whatever it names."""
    declaration, records = declared(place, "x")
    code, said = in_process(monkeypatch, capsys, "explain", declaration, "--records", records, "--record", named)
    assert (code, said.count("\n")) == (2, 1)
    assert len(said) < 20 * LONGEST_READ
    assert " characters), and it is not expected either" in said
