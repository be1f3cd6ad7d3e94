"""The help of the verbs that import, draw, export and delete."""

from __future__ import annotations

import re

import pytest

from tests.study.commands import Command


@pytest.mark.parametrize("verb", ["import", "export", "cohort", "omit"])
def test_help_reads_well(verb: str, monkeypatch: pytest.MonkeyPatch, study: Command) -> None:
    """No word of a help text is taken for markup and lost, and flags ask for no value."""
    monkeypatch.setenv("COLUMNS", "200")
    ended = study(verb, "--help")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert not [line for line in lines if re.search(r"\w \.( |$)", line)]
    assert not [line for line in lines if "bool" in line.lower() and "--help" not in line]
