"""Examples with a monitor: what their documents show, and what they say without its extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
WITHOUT = """
import runpy, subprocess, sys
start = subprocess.Popen.__init__
def started(self, command, *more, **given):
    given.setdefault("env", None)
    verb = "import sys; sys.modules['uvicorn'] = None; from rop_otel.cli.main import main; main()"
    start(self, [sys.executable, "-c", verb, *command[1:]] if "monitor" in command else command, *more, **given)
subprocess.Popen.__init__ = started
sys.path.insert(0, {folder!r})
runpy.run_path({program!r}, run_name="__main__")
"""


@pytest.mark.parametrize("program", ["three-services/main.py", "fastapi-rag/three_services.py"])
def test_it_ends_and_says_what_to_install(program: str) -> None:
    """The monitor ends at once, so that the example does, too, rather than wait for it."""
    file = EXAMPLES / program
    script = WITHOUT.format(folder=str(file.parent), program=str(file))
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "uvicorn is missing: install the extra monitor of rop-otel" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("document", ["README.md", "examples/three-services/README.md"])
def test_documents_show_what_the_example_prints(document: str) -> None:
    """Whoever types the command sees what stands below it."""
    expected = (EXAMPLES / "three-services" / "expected.txt").read_text(encoding="utf-8")
    text = (EXAMPLES.parent / document).read_text(encoding="utf-8")
    assert f"$ .venv/bin/python examples/three-services/main.py\n{expected}```" in text
