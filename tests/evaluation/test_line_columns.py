"""Lines as columns: the same records and report as the checks give line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Entry, Intake
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.report import run_report
from rop_otel.core.profile.report_terms import Terms
from rop_otel.evaluation import record_files
from rop_otel.evaluation.line_columns import LineColumns
from rop_otel.evaluation.record_files import EvaluationOptions, evaluate_files, report_of
from tests.core.profile.declared import INVERSE, changed, opened
from tests.core.profile.record_lines import SPOILS, lines

DECLARATIONS = {
    "any": opened(),
    "all": opened(rule="all"),
    "one": opened(cutoff=1),
    "soft": opened(mode="soft"),
    "open without population": opened(mode="open", population=None),
    "final list": opened(output_field="ids[]"),
    "deep": opened(depth=4),
    "nested": opened(selection_field="more.a", record_field="more.b", output_field="more.c"),
}
OTHERS = {
    "mapped": opened(output_field="hits[].id"),
    "traced": opened(trace_field="gold"),
    "one field twice": opened(selection_field="ids", output_field="ids"),
    "odd names": opened(selection_field='a"b', output_field="c\\d"),
    "witness": opened(inverse=INVERSE),
    "invalid": changed(lambda document: document.update(extra=1)),
}
PLAIN = b'{"record_id":"r1","selected":"obj-a","ids":["a#0"]}'
LISTS = [
    b"[]",
    b"[ ]",
    b'["a#0"]',
    b'["x","a#0"]',
    b'["x", "a#0"]',
    b'["x" ,"a#0"]',
    b'["x",  "a#0"]',
    b'["x",1,"a#0"]',
    b'[",",1,"a#0"]',
    b'[",","a#0"]',
    b'["","a#0"]',
    b'["x",["a#0"]]',
    b'[["x"],"a#0"]',
    b'["x","a#0",null]',
    b'[{"x":"a#0"}]',
    b'{"x":"a#0"}',
    b"{}",
    b'"a#0"',
    b"[1,2]",
    b"null",
    b'["x",null]',
    b'["x",{}]',
    b'["a#0" ]',
    b'[ "a#0"]',
    b'["\\u0061#0"]',
    b'["x\\"","a#0"]',
    '["é#0","a#0"]'.encode(),
]
KEYS = [b'"obj-a"', b'""', b'["obj-a"]', b"[]", b"7", b"null", b'{"a":"obj-a"}', b'"nobody"', b'"obj-\\u0061"']


def taken(declaration: Opened, block: bytes, *, columns: bool, keep: bool = True) -> tuple[Any, list[Entry]]:
    tally, kept = RunCounts(declaration, terms=Terms.of(declaration, at=(1,), near=5)), list[Entry]()
    intake = Intake(declaration, tally, keep=kept.append if keep else None, fast=False)
    reader = LineColumns.compile(declaration, intake, tally) if columns else intake
    assert reader is not None
    assert reader.block(block, file="f", line=1) == block.count(b"\n") + (bool(block) and not block.endswith(b"\n"))
    report = run_report(declaration, tally.accounts(), terms=tally.terms).as_dict()
    return report, sorted(kept, key=lambda each: each[:3])


def same(declaration: Opened, block: bytes) -> None:
    slow = taken(declaration, block, columns=False)
    assert taken(declaration, block, columns=True) == slow
    assert taken(declaration, block, columns=True, keep=False)[0] == slow[0]


@pytest.mark.parametrize("name", DECLARATIONS)
@given(block=st.lists(lines(), max_size=8), end=st.booleans())
def test_columns_change_nothing(name: str, block: list[bytes], end: bool) -> None:
    """Report and records are the same as those of the checks asked line by line."""
    same(DECLARATIONS[name], b"\n".join(block) + (b"\n" if end and block else b""))


@pytest.mark.parametrize("returned", LISTS)
@pytest.mark.parametrize("name", ["any", "all"])
def test_only_flat_lists_of_strings_are_columns(name: str, returned: bytes) -> None:
    """Whatever stands where the list should be, between records that are plain, and last."""
    odd = PLAIN.replace(b'["a#0"]', returned).replace(b"r1", b"r2")
    for block in ([PLAIN, odd, PLAIN], [odd], [PLAIN, odd], [odd, odd, PLAIN]):
        same(DECLARATIONS[name], b"\n".join(block) + b"\n")


@pytest.mark.parametrize("key", KEYS)
def test_only_strings_are_selected_keys(key: bytes) -> None:
    """Whatever stands where the selected key should be."""
    odd = PLAIN.replace(b'"obj-a"', key)
    same(DECLARATIONS["any"], b"\n".join([PLAIN, odd, PLAIN]) + b"\n")


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_spoilt_line_is_the_same(spoil: Any) -> None:
    """Each way to spoil a line, tried every time."""
    same(DECLARATIONS["any"], PLAIN + b"\n" + spoil(PLAIN) + b"\n" + PLAIN + b"\n")


@pytest.mark.parametrize(
    "block",
    [
        PLAIN + b" " + PLAIN + b"\n" + PLAIN[:-1] + b"\n}\n",
        PLAIN + PLAIN + b"\n" + PLAIN[:-1] + b',"x":{}\n}\n',
        PLAIN + PLAIN + b"\n" + PLAIN[:-1] + b',"x":[{}\n,{}]}\n',
        b"\n" + PLAIN + PLAIN + b"\n",
        PLAIN + b"\n\n" + PLAIN + PLAIN + b"\n",
        PLAIN + b"\r\n" + PLAIN + b"\n",
        PLAIN,
        b"\n",
        b"",
    ],
)
def test_a_line_is_one_record(block: bytes) -> None:
    """Two records on a line, or one over two, are malformed, also where they add up to the number of lines."""
    same(DECLARATIONS["any"], block)


@pytest.mark.parametrize("name", OTHERS)
def test_other_paths_have_no_columns(name: str) -> None:
    """A mapped path, a trace set, a witness or an invalid declaration is left to the intake."""
    tally = RunCounts(OTHERS[name])
    assert LineColumns.compile(OTHERS[name], Intake(OTHERS[name], tally), tally) is None


@pytest.mark.parametrize("size", [0, 10**9])
def test_a_file_is_read_as_columns_where_it_is_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """The way in that a file takes says nothing about its report."""
    (tmp_path / "r.jsonl").write_bytes(b"\n".join([PLAIN, PLAIN.replace(b"r1", b"r2"), b"", PLAIN]))
    monkeypatch.setattr(record_files, "_WORTH_COLUMNS", size)
    blocks: list[bytes] = []

    def block(self: LineColumns, data: bytes, *, file: str, line: int) -> int:
        blocks.append(data)
        return seen(self, data, file=file, line=line)

    seen = LineColumns.block
    monkeypatch.setattr(LineColumns, "block", block)
    reports = [
        report_of(
            DECLARATIONS["any"], evaluate_files(DECLARATIONS["any"], [str(tmp_path / "r.jsonl")], options=options)
        )
        for options in (EvaluationOptions(), EvaluationOptions(fast=False))
    ]
    assert reports[0].as_dict() == reports[1].as_dict()
    assert bool(blocks) == (size == 0)
