"""The help of every verb."""

from __future__ import annotations

import re
import sys

import pytest

from rop_otel.cli.main import app, main

VERBS = [command.callback.__name__ for command in app.registered_commands if command.callback is not None]


@pytest.mark.parametrize("verb", VERBS)
def test_help_reads_well(verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No word of a help text is taken for markup and lost, and flags ask for no value."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["rop-otel", verb, "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert not [line for line in lines if re.search(r"\w \.( |$)", line)]
    assert not [line for line in lines if "bool" in line.lower() and "--help" not in line]
