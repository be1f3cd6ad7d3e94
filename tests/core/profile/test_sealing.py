"""Sealing: the exact files that a set of decisions makes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from rop_otel.core.profile.canonical import canonical_sha256
from rop_otel.core.profile.sealing import DECLARATION_FILE, seal
from tests.core.profile.declared import DECISIONS, RESOLVER

POPULATION = "r1\nr2\né\n".encode()
INVERSE = b'{"w-1":"obj-a"}'


def test_a_sealed_folder() -> None:
    """The files as they were given, and a declaration, last, whose every field is a decision, a count or a hash."""
    decided = replace(
        DECISIONS,
        declaration_id="Prüfung",
        witness_hash_field="hash",
        optional={"prompt": "Find é.", "corpus_uri": "file:corpus", "composite_corpus_key": "wiki"},
    )
    found = seal(
        decided,
        resolver=RESOLVER,
        resolver_file=("mine.json", RESOLVER.to_bytes()),
        population=POPULATION,
        inverse_map=INVERSE,
    )
    assert list(found) == ["mine.json", "inverse.json", "population.txt", DECLARATION_FILE]
    assert list(found.values())[:3] == [RESOLVER.to_bytes(), INVERSE, POPULATION]
    sheet = {
        "interface": {
            "name": "ranker-api",
            "version": "v1",
            "specification": "docs/ranker.md",
            "requires_selected_return": True,
        },
        "component": "ranker",
        "policy": {
            "authority": "search-team",
            "producer": "ranker-service",
            "revision": "2026-11-01",
            "mode": "hard",
        },
        "target": {
            "form": "witness",
            "field": "selected",
            "hash_field": "hash",
            "inverse_map": {"path": "inverse.json", "bytes": 15, "sha256": hashlib.sha256(INVERSE).hexdigest()},
        },
        "output": {"component": "ranker", "field": "ids", "cutoff": 3, "rule": "any"},
        "resolver": {
            "version": "corpus-7",
            "path": "mine.json",
            "bytes": len(RESOLVER.to_bytes()),
            "sha256": RESOLVER.sha256,
            "corpus_uri": "file:corpus",
            "composite_corpus_key": "wiki",
        },
        "population": {
            "field": "record_id",
            "path": "population.txt",
            "bytes": 9,
            "sha256": hashlib.sha256(POPULATION).hexdigest(),
            "count": 3,
            "fixed_before_output": True,
        },
        "prompt": "Find é.",
    }
    declaration = {
        "rop_version": "rop/v1",
        "declaration_id": "Prüfung",
        "interface": {"name": "ranker-api", "version": "v1"},
        "component": "ranker",
        "mode": "hard",
        "policy_revision": "2026-11-01",
        "sheet": sheet,
        "sheet_sha256": canonical_sha256(sheet),
    }
    assert found[DECLARATION_FILE].decode() == json.dumps(declaration, indent=2, ensure_ascii=False) + "\n"


def test_nothing_stands_in_for_what_is_not_declared() -> None:
    """Without population, witness and prompt the sheet has no such fields, and no files are made for them."""
    found = seal(
        replace(DECISIONS, mode="open"), resolver=RESOLVER, resolver_file=("resolver.json", b"{}"), population=None
    )
    sheet = json.loads(found[DECLARATION_FILE])["sheet"]
    assert list(found) == ["resolver.json", DECLARATION_FILE]
    assert list(sheet) == ["interface", "component", "policy", "target", "output", "resolver"]
    assert sheet["target"] == {"form": "selected_key", "field": "selected"}
    assert list(sheet["resolver"]) == ["version", "path", "bytes", "sha256"]


@pytest.mark.parametrize(("field", "inverse"), [(None, INVERSE), ("hash", None)])
def test_a_witness_takes_both_its_field_and_its_map(field: str | None, inverse: bytes | None) -> None:
    """With one of the two alone the target is a selected key."""
    found = seal(
        replace(DECISIONS, witness_hash_field=field),
        resolver=RESOLVER,
        resolver_file=("resolver.json", b"{}"),
        population=POPULATION,
        inverse_map=inverse,
    )
    assert "inverse.json" not in found
    assert json.loads(found[DECLARATION_FILE])["sheet"]["target"]["form"] == "selected_key"
