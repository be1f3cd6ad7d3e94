"""Parts that cannot be true, or that hold the same, are not merged."""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rop_otel.cli.main import app
from rop_otel.errors import InputError
from tests.cli.sealed import RECORDS, declared, run

Numbers = dict[str, Any]
ASKED = "--trace gold --at 1 --depth 4".split()


def bitmap(bits: int) -> str:
    """Return record IDs of the population as a part has them."""
    return base64.b64encode(zlib.compress(bits.to_bytes((bits.bit_length() + 7) // 8, "little"))).decode()


def refused(*arguments: str) -> str:
    """Merge what cannot be merged; return why."""
    result = CliRunner().invoke(app, ["merge", *arguments])
    assert isinstance(result.exception, InputError), (result.exit_code, result.stdout, result.exception)
    assert result.stdout == ""
    return str(result.exception)


@pytest.fixture
def part(place: Path) -> Path:
    """Return a part of three observations: one that passes, one that fails, and one outside the population."""
    records = [*RECORDS, {**RECORDS[0], "record_id": "other"}]
    (place / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records) + "{\n")
    run("evaluate", declared(), "--records", "records.jsonl", "--partial", "--report", "one.part", *ASKED)
    assert run("merge", "one.part")[0] == 4
    return place / "one.part"


def change(part: Path, change: Callable[[Numbers], None], *, records: bool = True) -> None:
    """Change the numbers of a part, with its records or without them."""
    head, numbers, *lines = part.read_text().splitlines(keepends=True)
    shape = json.loads(numbers)
    change(shape)
    head = head if records else head.replace("true", "false")
    part.write_text(head + json.dumps(shape) + "\n" + "".join(lines if records else []))


def put(**fields: Any) -> Callable[[Numbers], None]:
    """Return what puts values into the numbers of a part."""
    return lambda numbers: numbers.update(fields)


def outcomes(agreement: str, cutoff: str = "3", **counts: int) -> Callable[[Numbers], None]:
    """Return what changes the joint outcomes of an agreement at a cutoff."""
    return lambda numbers: numbers["joint"]["at"][cutoff][agreement].update(counts)


def terms(**fields: Any) -> Callable[[Numbers], None]:
    """Return what changes the terms of a part."""
    return lambda numbers: numbers["terms"].update(fields)


UNTRUE: dict[str, tuple[Callable[[Numbers], None], str]] = {
    "observed more": (put(observed=4), "it counts 4 observations and 3 verdicts"),
    "observed none": (put(observed=0), "it counts 0 observations and 3 verdicts"),
    "far too many": (put(observed=10**30), "it counts too many observations and 3 verdicts"),
    "verdicts": (put(verdicts={"PASS": 3}), "its verdicts are not those of hard mode"),
    "judged": (put(judged={"PASS": 2}), "it counts 3 observations and 2 verdicts of hard mode"),
    "both": (
        put(verdicts={"PASS": 3}, judged={"PASS": 3}),
        "it counts 3 records that pass and 2 ranks within the cutoff",
    ),
    "no ranks": (put(ranks={}), "it counts 3 records that pass or fail and 0 ranks"),
    "ranks": (put(ranks={"1": 3}), "it counts 2 records that pass and 3 ranks within the cutoff"),
    "cutoffs": (terms(cutoffs=[3, 1]), "its cutoffs are not ascending, from 1 on"),
    "cutoff 0": (terms(cutoffs=[0, 3]), "its cutoffs are not ascending, from 1 on"),
    "other cutoffs": (terms(cutoffs=[1]), "the declared cutoff, 3, is none of its cutoffs"),
    "too deep": (terms(cutoffs=[1, 3, 9]), "--at 9: lists were stored no deeper than 4"),
    "shallow": (terms(depth=2), "--depth 2: it must be at least the declared cutoff, 3"),
    "no path": (terms(trace="a[].b[]"), "--trace: 'a[].b[]' maps over more than one list"),
    "untraced": (terms(trace=None), "it compares judged objects without a trace field, or has one and compares none"),
    "uncompared": (put(joint=None), "it compares judged objects without a trace field, or has one and compares none"),
    "nonmatch": (put(nonmatch=1), "it counts more lists shorter than the stored depth than can be"),
    "joint": (
        lambda numbers: numbers["joint"]["at"].pop("1"),
        "it compares judged objects at other cutoffs than its own",
    ),
    "agreement": (
        lambda numbers: numbers["joint"]["agreement"].update(same=1),
        "it compares judged objects on other records than pass or fail",
    ),
    "joints": (outcomes("different", neither=9), "its joint outcomes do not add up to its agreement"),
    "below zero": (
        outcomes("same", both=-1, neither=1),
        "its joint outcomes do not add up to its agreement",
    ),
    "joint ranks": (
        outcomes("different", "1", both=1, trace_only=1),
        "it compares judged objects on more records than have such ranks",
    ),
    "input": (
        lambda numbers: numbers["inputs"][0].update(sha256="0"),
        "'records.jsonl' has no such size and hash",
    ),
    "input size": (lambda numbers: numbers["inputs"][0].update(bytes=-1), "'records.jsonl' has no such size and hash"),
    "seen too few": (put(seen=bitmap(1)), "it counts 3 observations of 2 record IDs, none repeated"),
    "seen too many": (put(seen=bitmap(0b1111), unexpected=[]), "it counts 3 observations of 4 record IDs"),
    "beyond": (put(seen=bitmap(0b110)), "it has observed more record IDs than the population's 2"),
    "repeated": (put(repeated=bitmap(0b100)), "record IDs are observed more than once that are not observed"),
    "repeated too many": (put(repeated=bitmap(0b11)), "it counts 3 observations of 5 record IDs"),
    "repeated outside": (
        put(unexpected_repeated=["x"]),
        "record IDs are observed more than once that are not observed",
    ),
    "expected": (put(unexpected=["run_beta"]), "a record ID of the population is unexpected"),
    "malformed": (lambda numbers: numbers["malformed"][0].update(line=0), "line 0 of 'records.jsonl' is no line"),
}


@pytest.mark.parametrize(("untrue", "said"), UNTRUE.values(), ids=UNTRUE)
@pytest.mark.parametrize("records", [True, False])
def test_numbers_that_cannot_be_true(part: Path, untrue: Callable[[Numbers], None], said: str, records: bool) -> None:
    """A part whose numbers contradict each other or the declaration is refused by its name, with what is wrong."""
    shutil.copy(part, part.with_name("good.part"))
    change(part, untrue, records=records)
    found = refused("one.part")
    assert said in found or "holds 3 whole records" in found
    assert found.startswith("one.part: ")
    assert refused("good.part", "one.part") == found


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("observed", -1),
        ("observed", 1.5),
        ("observed", "3"),
        ("observed", None),
        ("verdicts", {"PASS": -1}),
        ("verdicts", {"MAYBE": 3}),
        ("ranks", {"-1": 3}),
        ("ranks", {"one": 3}),
        ("malformed", [{"file": "x"}]),
        ("seen", "!"),
        ("seen", bitmap(1)[:-4]),
        ("more", 1),
        ("unexpected", "other"),
        ("rop_partial", "rop-partial/v1"),
        ("nonmatch", -1),
        ("joint", {"agreement": {"who": 1}, "at": {}}),
        ("inputs", [{"file": "x"}]),
    ],
)
def test_numbers_that_are_none(part: Path, field: str, value: Any) -> None:
    """A value of another type, below zero or unknown makes it no part."""
    change(part, put(**{field: value}))
    assert refused("one.part").startswith("one.part: no partial report: ")


SWAPS = {
    "verdict": (1, "PASS", "FAIL", "contradicts itself: a record has the verdict 'FAIL' and the rank 2"),
    "rank": (2, "4", "3", "contradicts itself: a record has the verdict 'FAIL' and the rank 3"),
    "unranked": (1, "2", "null", "contradicts itself: a record has the verdict 'PASS' and the rank None"),
    "other rank": (1, "2,", "1,", "contradicts itself: its records have other ranks than it counts"),
    "unknown": (1, "PASS", "WHO", "contradicts itself: a record has the verdict 'WHO' and the rank 2"),
    "order": (1, "run_alpha", "zulu", "contradicts itself: records are not in order"),
    "twice": (2, "run_beta", "run_alpha", "contradicts itself: its records have other record IDs than it accounts for"),
    "unobserved": (1, "run_alpha", "run_a", "contradicts itself: its records have other record IDs"),
    "agreement": (1, "different", "same", "contradicts itself: its records have other judged objects than it counts"),
    "no agreement": (1, '"different",1', "null,1", "a record has the agreement None and the trace rank 1"),
    "odd agreement": (1, "different", "other", "a record has the agreement 'other' and the trace rank 1"),
    "trace rank": (1, '"different",1', '"different",3', "its records have other judged objects than it counts"),
    "trace rank 0": (
        1,
        '"different",1',
        '"different",0',
        "a record has the agreement 'different' and the trace rank 0",
    ),
    "ranked without a trace": (2, '"no_trace",null', '"no_trace",1', "the agreement 'no_trace' and the trace rank 1"),
    "verdicts": (1, '"PASS",2', '"FAIL",null', "contradicts itself: its records have other verdicts"),
}


@pytest.mark.parametrize(("number", "old", "new", "said"), SWAPS.values(), ids=SWAPS)
def test_records_that_the_numbers_do_not_count(part: Path, number: int, old: str, new: str, said: str) -> None:
    """A part whose records say otherwise than its numbers is refused, by the line where there is one."""
    lines = part.read_text().splitlines(keepends=True)
    assert old in lines[2 + number]
    lines[2 + number] = lines[2 + number].replace(old, new, 1)
    part.write_text("".join(lines))
    assert said in refused("one.part")
    assert refused("one.part").startswith("one.part:")


def test_a_part_given_twice(part: Path) -> None:
    """By one name, by another, and as a copy, with records or without, the same shard counts once."""
    shutil.copy(part, part.with_name("copy.part"))
    part.with_name("link.part").symlink_to(part)
    assert refused("one.part", "one.part") == "one.part: is given twice, the first time as one.part"
    assert refused("one.part", "link.part") == "link.part: is given twice, the first time as one.part"
    assert refused("one.part", "copy.part") == "copy.part: holds the same as one.part: a shard is given twice"
    for name in ("one.part", "copy.part"):
        change(part.with_name(name), lambda _: None, records=False)
    assert refused("one.part", "copy.part") == "copy.part: holds the same as one.part: a shard is given twice"


def test_shards_that_overlap(place: Path) -> None:
    """One line of one record file is one observation, however the parts were combined before."""
    declaration = declared()
    lines = [json.dumps(record) + "\n" for record in RECORDS]
    (place / "records.jsonl").write_text(lines[0])
    run("evaluate", declaration, "--records", "records.jsonl", "--partial", "--report", "first.part")
    (place / "records.jsonl").write_text("".join(lines))
    run("evaluate", declaration, "--records", "records.jsonl", "--partial", "--report", "all.part")
    said = "all.part: holds the record 'run_alpha' of records.jsonl:1, as first.part does: shards overlap"
    assert refused("first.part", "all.part") == said
    (place / "more.jsonl").write_text(lines[1])
    run("evaluate", declaration, "--records", "more.jsonl", "--partial", "--report", "more.part")
    assert run("merge", "first.part", "more.part", "--partial", "--report", "both.part")[0] == 0
    assert "as first.part does" in refused("first.part", "both.part")
    assert run("merge", "all.part", "more.part")[0] == 4  # which is a run with a record observed twice


def test_shards_without_records_may_be_alike(place: Path) -> None:
    """Where no population is accounted for, two shards may come to the same numbers."""
    decided = "--interface i --component c --selection selector.key --returned results[].id --cutoff 3".split()
    more = "--authority a --mode soft --resolver map.csv --chunk-column chunk --object-column object".split()
    assert run("declare", "soft", *decided, *more, "--resolver-version", "7")[0] == 0
    for name in ("one", "two"):
        (place / f"{name}.jsonl").write_text(json.dumps({**RECORDS[0], "record_id": name}) + "\n")
        evaluate = ["evaluate", "soft/declaration.json", "--records", f"{name}.jsonl", "--partial"]
        run(*evaluate, "--no-records", "--report", f"{name}.part")
    code, text = run("merge", "one.part", "two.part", "--format", "json")
    assert (code, json.loads(text)["observed"]) == (0, 2)
    change(place / "one.part", put(seen=bitmap(1)), records=False)
    assert "accounts for a population, which the declaration does not have" in refused("one.part")


def test_another_declaration(part: Path) -> None:
    """Of parts made with different declarations the one that does not belong is named."""
    (part.parent / "sealed" / "declaration.json").rename(part.parent / "old.json")
    shutil.copytree(part.parent / "sealed", part.parent / "first")
    (part.parent / "old.json").rename(part.parent / "first" / "declaration.json")
    shutil.rmtree(part.parent / "sealed")
    (part.parent / "ids.txt").write_text("run_alpha\nrun_beta\nrun_gamma\n")
    run("evaluate", declared(), "--records", "records.jsonl", "--partial", "--report", "two.part", *ASKED)
    first = ["--declaration", "first/declaration.json"]
    said = "two.part: 'first/declaration.json' is not the declaration that it was made with"
    assert refused("one.part", "two.part", *first) == said


@pytest.mark.parametrize("field", ["seen", "repeated"])
def test_a_bitmap_is_no_longer_than_the_population(part: Path, field: str) -> None:
    """What grows beyond a bit for each record ID is refused before it is unpacked."""
    bomb = base64.b64encode(zlib.compress(bytes(1 << 26))).decode()
    change(part, put(**{field: bomb}))
    assert refused("one.part") == "one.part: no partial report: a bitmap is cut short or too large"
