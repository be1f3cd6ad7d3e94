"""The intake: reading fast changes no verdict, and nothing that a line holds stops it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile.accounts import Malformed
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.fast_records import FastRecords
from rop_otel.core.profile.intake import Entry, Intake
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.plain_rows import PlainRows
from rop_otel.core.profile.report import run_report
from rop_otel.core.profile.report_terms import Terms
from tests.core.profile.declared import INVERSE, changed, opened
from tests.core.profile.record_lines import SPOILS, lines

DECLARATIONS = {
    "any": opened(),
    "all": opened(rule="all"),
    "one": opened(cutoff=1),
    "soft": opened(mode="soft"),
    "open without population": opened(mode="open", population=None),
    "deep": opened(depth=4),
    "traced": opened(trace_field="gold", depth=5),
    "traced, all": opened(trace_field="gold", rule="all"),
    "traced, soft": opened(trace_field="gold", mode="soft", depth=3),
    "traced, mapped": opened(trace_field="golds[].id", output_field="hits[].id"),
    "traced, a final list": opened(trace_field="gold[]"),
    "traced, nested": opened(trace_field="more.d", selection_field="more.a", output_field="more.c"),
    "traced, in the selection": opened(trace_field="selected"),
    "traced, through the selection": opened(trace_field="selected.x"),
    "traced, around the selection": opened(trace_field="more", selection_field="more.a"),
    "traced, in the record ID": opened(trace_field="record_id"),
    "mapped": opened(output_field="hits[].id"),
    "final list": opened(output_field="ids[]"),
    "nested": opened(selection_field="more.a", record_field="more.b", output_field="more.c"),
    "one field twice": opened(selection_field="ids", output_field="ids"),
    "through a value": opened(selection_field="ids.x"),
    "odd names": opened(selection_field='a"b', output_field="c\\d"),
    "witness": opened(inverse=INVERSE),
    "invalid": changed(lambda document: document.update(extra=1)),
}
PLAIN = b'{"record_id":"r1","selected":"obj-a","ids":["a#0"]}'


def taken(declaration: Opened, block: bytes, *, fast: bool, keep: bool = True) -> tuple[Any, list[Entry]]:
    tally, kept = RunCounts(declaration, terms=Terms.of(declaration, at=(1,), near=5)), list[Entry]()
    intake = Intake(declaration, tally, keep=kept.append if keep else None, fast=fast)
    assert intake.block(block, file="f", line=1) == block.count(b"\n") + (not block.endswith(b"\n") and bool(block))
    report = run_report(declaration, tally.accounts(), terms=tally.terms).as_dict()
    return report, sorted(kept, key=lambda each: each[:3])


@pytest.mark.parametrize("name", DECLARATIONS)
@given(block=st.lists(lines(), max_size=8), end=st.booleans())
def test_the_fast_lane_changes_nothing(name: str, block: list[bytes], end: bool) -> None:
    """Report and records are the same as those of the checks asked line by line."""
    text = b"\n".join(block) + (b"\n" if end and block else b"")
    slow = taken(DECLARATIONS[name], text, fast=False)
    assert taken(DECLARATIONS[name], text, fast=True) == slow
    assert taken(DECLARATIONS[name], text, fast=True, keep=False)[0] == slow[0]


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_spoilt_line_is_the_same_in_the_fast_lane(spoil: Any) -> None:
    """Each way to spoil a line, tried every time: what the fast reader skips is still looked at."""
    block = spoil(PLAIN) + b"\n" + PLAIN + b"\n"
    assert taken(DECLARATIONS["any"], block, fast=True) == taken(DECLARATIONS["any"], block, fast=False)


@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.parametrize("fast", [True, False])
def test_a_spoilt_line_passes_nothing(spoil: Any, fast: bool) -> None:
    """A line that is spoilt, or only unusual, is malformed or judged as specified; the next line is not affected."""
    line = spoil(PLAIN)
    report, kept = taken(DECLARATIONS["any"], line + b"\n" + PLAIN.replace(b"r1", b"r3") + b"\n", fast=fast)
    assert kept[-1].record_id == "r3"
    malformed = [each["line"] for each in report["malformed_observations"]]
    assert malformed in ([], [1])
    assert report["observed"] == 2 - len(malformed)
    assert report["run_status"] != "RUN_PASS"


def test_the_lane_is_taken_where_paths_are_plain() -> None:
    """The comparison above is of two ways: plain paths are read fast, and the others are not."""
    lanes = {
        name
        for name, found in DECLARATIONS.items()
        if found.declaration is not None
        and FastRecords.compile(found.declaration, found.record_field, trace=found.declaration.trace_field) is not None
    }
    assert lanes == {
        "any", "all", "one", "soft", "open without population", "mapped", "final list", "nested", "deep", "traced",
        "traced, all", "traced, soft", "traced, mapped", "traced, a final list", "traced, nested"
    }  # fmt: skip


def test_the_lane_leaves_only_what_is_unusual() -> None:
    """A plain record, by whatever name it selects, does not reach the slow reading; one with alternatives does."""
    found = DECLARATIONS["any"]
    assert found.declaration is not None
    reader = FastRecords.compile(found.declaration, found.record_field)
    assert reader is not None
    alternatives = PLAIN.replace(b'"obj-a"', b'["obj-a"]')
    member = PLAIN.replace(b'"obj-a"', b'"a#1"')
    rows = reader.rows([PLAIN, alternatives, b"", member, PLAIN])
    taken = PlainRows(found.declaration, RunCounts(found)).take(rows, None)
    assert (taken.record_ids, taken.ranks, taken.left) == (["r1", "r1", "r1"], [1, 1, 1], [1, 2])


def test_a_witness_and_its_hash_are_read_where_their_paths_say() -> None:
    """A record that carries both, bound to it, passes; without its hash it does not."""
    found = DECLARATIONS["witness"].declaration
    assert found is not None
    assert found.witness is not None
    bound = found.witness.binding.sha256(record_id="r1", witness="w-1", selection="/wiki/A")
    line = PLAIN.replace(b"obj-a", b"w-1")
    _, kept = taken(
        DECLARATIONS["witness"], line[:-1] + b',"hash":"' + bound.encode() + b'"}\n' + line + b"\n", fast=True
    )
    assert [each.verdict for each in kept] == ["PASS", "SELECTOR_ERROR"]


def test_a_traced_target_is_read_where_its_path_says() -> None:
    """With a trace field the same records are judged the same, and compared."""
    declaration = DECLARATIONS["any"]
    tally = RunCounts(declaration, terms=Terms.of(declaration, trace="gold"))
    Intake(declaration, tally).block(PLAIN[:-1] + b',"gold":"obj-b"}\n', file="f", line=1)
    joint = tally.counts().joint
    assert joint is not None
    assert joint.at[3].different.selected_only == 1


def test_lines_are_numbered_across_blocks() -> None:
    """A malformed line is reported where it stands in its file."""
    tally = RunCounts(DECLARATIONS["any"])
    intake = Intake(DECLARATIONS["any"], tally)
    intake.block(PLAIN + b"\n\n", file="f", line=5)
    assert [(each.file, each.line, each.reason) for each in tally.malformed] == [("f", 6, "the line is blank")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b" \t\r", "the line is blank"),
        (b"\x0c", "no JSON: JSON is malformed: invalid character (byte 0)"),
        (b"X", "no JSON: JSON is malformed: invalid character (byte 0)"),
        (b"{", "no JSON: Input data was truncated"),
        (b"[1]", "not a JSON object"),
        (b"[" * 1_000_000, "nested too deeply"),
        (b'{"a":' + b"9" * 5000 + b',"b":' + b"[" * 100_000, "nested too deeply"),
        (b'{"a":' + b"9" * 5000 + b',"b":NaN}', "no JSON: NaN is no JSON number"),
        (b"{}", "the record ID at 'record_id' is missing"),
        (b'{"record_id":""}', "the record ID at 'record_id' is empty"),
        (b'{"record_id":7}', "the record ID at 'record_id' is not a string"),
    ],
)
def test_a_malformed_line_says_why(line: bytes, reason: str) -> None:
    """A line that is no observation is kept with its place and one sentence."""
    tally = RunCounts(DECLARATIONS["any"])
    Intake(DECLARATIONS["any"], tally).block(line + b"\n", file="f", line=1)
    assert tally.malformed == [Malformed(file="f", line=1, reason=reason)]


@pytest.mark.parametrize("name", ["any", "soft", "invalid"])
def test_a_record_parsed_elsewhere_is_judged_like_its_line(name: str) -> None:
    """A row of another format gives the entry, or the malformed observation, that its line gives."""
    kept: dict[str, list[Entry]] = {"line": [], "record": []}
    tallies = {way: RunCounts(DECLARATIONS[name]) for way in kept}
    for way, tally in tallies.items():
        intake = Intake(DECLARATIONS[name], tally, keep=kept[way].append, fast=False)
        for number, record in enumerate([json.loads(PLAIN), {"record_id": 7}], 5):
            if way == "record":
                intake.record(record, file="f", line=number)
            else:
                intake.line(json.dumps(record).encode(), file="f", line=number)
    assert kept["record"] == kept["line"]
    assert [(each.file, each.line) for each in kept["record"]] == [("f", 5)]
    assert tallies["record"].counts() == tallies["line"].counts()
    assert [each.line for each in tallies["record"].malformed] == [6]
