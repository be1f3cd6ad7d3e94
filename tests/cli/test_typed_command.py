"""Commands that the demo prints, copied into the shell that it was called from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = f"""#!{sys.executable}
import sys
from rop_otel.cli.typed_command import typed_command
print(typed_command() if sys.argv[1] == "demo" else "ran")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout with a program in its virtual environment and in a folder with a space, and the user's own folder."""
    for place in (".venv/bin", "my tools/bin"):
        program = tmp_path / "checkout" / place / "rop-otel"
        program.parent.mkdir(parents=True)
        program.write_text(PROGRAM)
        program.chmod(0o755)
    (tmp_path / "home").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "stands", "printed"),
    [
        (".venv/bin/rop-otel", "checkout", ".venv/bin/rop-otel"),
        ("./rop-otel", "checkout/.venv/bin", "./rop-otel"),
        ("../checkout/.venv/bin/rop-otel", "home", "../checkout/.venv/bin/rop-otel"),
        ("{folder}/checkout/.venv/bin/rop-otel", "home", "{folder}/checkout/.venv/bin/rop-otel"),
        ("'{folder}/checkout/my tools/bin/rop-otel'", "home", "'{folder}/checkout/my tools/bin/rop-otel'"),
        ("PATH={folder}/checkout/.venv/bin:$PATH; rop-otel", "home", "rop-otel"),
    ],
)
def test_a_printed_command_runs_where_the_user_stands(folder: Path, typed: str, stands: str, printed: str) -> None:
    """It is what the user typed, and the shell finds the same program by it."""
    environment = os.environ | {"PATH": os.defpath}

    def shell(line: str) -> str:
        command = ["sh", "-c", line.format(folder=folder)]
        return subprocess.check_output(command, text=True, env=environment, cwd=folder / stands)

    assert shell(f"{typed} demo").strip() == printed.format(folder=folder)
    assert shell(f"{typed.rpartition(';')[0] or ':'}; {printed} again").strip() == "ran"
