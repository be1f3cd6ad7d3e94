"""The help of every verb."""

from __future__ import annotations

import re
import sys
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from rop_otel.cli.main import app, main
from rop_otel.cli.terminal import Verbs

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


def test_brackets_stay() -> None:
    """A bracket in the help of a verb, of its options, or of a verb of a verb is none of a style."""

    def verb(_: Annotated[str, typer.Option("--kind", help="One of [vector], or [/b].")] = "") -> None:
        """Needs rop-otel[service], else [red] ends."""

    made, inner = typer.Typer(cls=Verbs), typer.Typer(help="The verbs of [study].")
    made.command()(verb)
    inner.command()(verb)
    made.add_typer(inner, name="study")
    for arguments, expected in (
        (["verb"], ["rop-otel[service]", "[red]", "[vector]", "[/b]"]),
        (["study", "verb"], ["rop-otel[service]", "[red]", "[vector]", "[/b]"]),
        (["study"], ["[study]"]),
    ):
        said = CliRunner().invoke(made, [*arguments, "--help"]).output
        assert [each for each in expected if each not in said] == []


def test_the_extra_of_the_monitor() -> None:
    """The help names the extra as it is installed."""
    assert "rop-otel[monitor]" in CliRunner().invoke(app, ["monitor", "--help"]).output
