"""Live runs whose declaration demands a witness."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import rop_otel as rop
from rop_otel.core.profile.sealing import DECLARATION_FILE
from rop_otel.errors import ConfigurationError
from rop_otel.evaluation.declaration_reader import read_declaration
from tests.core.profile.declared import INVERSE
from tests.runs.audit import answer, evaluated, sealed


def bound(declaration: Path, record_id: str, witness: str) -> str:
    """Return the hash that binds a witness to a record."""
    found = read_declaration(str(declaration)).declaration
    assert found is not None
    assert found.witness is not None
    return found.witness.binding.sha256(record_id=record_id, witness=witness, selection=INVERSE[witness])


def test_a_run_with_witnesses(tmp_path: Path) -> None:
    """A handoff's witness stands for its selection, and its journal is a file of records with witnesses."""
    declaration, journal = sealed(tmp_path, inverse=INVERSE), tmp_path / "nightly.jsonl"
    with rop.run("nightly", declaration=declaration, journal=journal) as run:
        own = bound(declaration, "r1", "w-1")
        verdicts = [
            answer("r1", ..., ["a#0"], witness="w-1", witness_sha256=own).verdict,
            answer("r2", ..., ["a#0"], witness="w-1", witness_sha256=own).verdict,
            answer("r3", "obj-a", ["a#0"]).verdict,
        ]
    assert verdicts == ["PASS", "SELECTOR_ERROR", "SELECTOR_ERROR"]
    report = run.close()
    assert [entry.verdict for entry in report.entries] == verdicts
    assert report.status == "RUN_UNVERIFIABLE"
    assert report.to_bytes() == evaluated(declaration, journal)


def test_a_witness_and_a_key_that_hides_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where IDs are hashed no witness can be decoded: one sentence says so, and no record passes."""
    declaration = sealed(tmp_path, inverse=INVERSE, population=("r1",))
    rop.configure(hash_key="k" * 16)
    with caplog.at_level(logging.WARNING), rop.run("nightly", declaration=declaration) as run:
        answer("r1", ..., ["a#0"], witness="w-1", witness_sha256=bound(declaration, "r1", "w-1"))
    assert run.close().status == "RUN_UNVERIFIABLE"
    assert caplog.text.count("demands witnesses, which cannot be decoded where a hash_key hides them") == 1
    rop.configure(hash_key="k" * 16, strict=True)
    with pytest.raises(ConfigurationError, match="demands witnesses"):
        rop.run("nightly", declaration=tmp_path / DECLARATION_FILE)
