"""The committed dashboards and rules."""

from __future__ import annotations

import json

from tests.grafana.committed import DIST, FOLDER, made


def test_committed_output_is_what_the_sources_make() -> None:
    """Every committed file is reproducible from its source: `python -m tests.grafana.committed` writes it anew."""
    assert {place: (FOLDER / place).read_text(encoding="utf-8") for place in made()} == made()


def test_nothing_else_is_committed() -> None:
    """No file is left of a dashboard or a rule that is made no more."""
    assert {str(path.relative_to(FOLDER)) for path in DIST.rglob("*") if path.is_file()} == made().keys() - {
        "runbook.md"
    }


def test_keys_are_sorted_and_files_are_marked() -> None:
    """Files differ only where something changed, and say that they are generated."""
    for place, text in made().items():
        assert "do not edit" in text, place
        if place.endswith(".json"):
            assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
