"""What a live report says of judged objects, and of the journal that it was made from."""

from __future__ import annotations

import hashlib
from pathlib import Path

import rop_otel as rop
from tests.runs.audit import answer, evaluated, sealed


def test_judged_objects_are_compared(tmp_path: Path) -> None:
    """Under a sealed trace field the judged objects of handoffs are compared, live as in the journal's evaluation."""
    declaration, journal = sealed(tmp_path, trace_field="gold", depth=4), tmp_path / "journal.jsonl"
    with rop.run("nightly", declaration=declaration, journal=journal) as run:
        answer("r1", "obj-a", ["x", "a#1", "b#0"], judged={"obj-b": 1, "obj-a": 0})
        answer("r2", "obj-a", ["a#1"], judged=["/wiki/A"])
        answer("r3", "obj-a", ["x"])
    report = run.close()
    assert [(entry.agreement, entry.trace_rank) for entry in report.entries] == [
        ("different", 3),
        ("same", 1),
        ("no_trace", None),
    ]
    assert report.to_bytes() == evaluated(declaration, journal)
    data = journal.read_bytes()
    named = {"file": "journal.jsonl", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    assert report.as_dict()["inputs"] == [named]


def test_only_a_whole_journal_is_an_input(tmp_path: Path) -> None:
    """A run without a journal, or with one that does not hold what the report does, names no input."""
    declaration = sealed(tmp_path)
    with rop.run("nightly", declaration=declaration) as run:
        answer("r1", "obj-a", ["a#0"])
    assert run.close().as_dict()["inputs"] == []
    with rop.run("nightly", declaration=declaration, journal=tmp_path / "j") as run:
        answer("r1", "obj-a", ["a#0"])
        (tmp_path / "j").write_bytes(b"")
    assert run.close().as_dict()["inputs"] == []
