"""Every Python block of the documents and every example runs, and prints what the document says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SAME_DOCUMENTATION
from tests.docs.blocks import UnrunnableBlockError, outputs, script

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted({ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")})
OF_THE_STANDARD_LIBRARY = ("haystack-qa", "langchain-qa", "llama-index-qa", "study")
"""Examples and documents whose output is that of this Python's documentation."""

OF_A_MODEL = re.compile(r"^ .*\b(dense|maxsim|rrf|rrf_rerank)\b.*$", re.MULTILINE)
NUMBER = re.compile(r"[\d.]+(e-\d+)?")

EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*") if path.is_dir() and path.name != "__pycache__")
SECONDS = 600
PATIENT = {"UVICORN_TIMEOUT_WORKER_HEALTHCHECK": str(SECONDS)}
"""A worker that takes more than five seconds to start, on a busy machine, is killed otherwise."""
NESTED = """# Title
```python
x = 1

y = 2
```

- item

  ```python
  if x:
      y = 3
  ```
```bash
ls
```
```
output
```
"""


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def run(program: Path, *, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program as a user would: in a folder of its own, with no monitoring set in the environment."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "ROP_OTEL_"))}
    command = [sys.executable, "-W", "error", str(program)]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment | PATIENT | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_document_runs(document: Path, tmp_path: Path) -> None:
    """The blocks of a document run one after another, as a reader would type them, and print what stands there."""
    text = document.read_text(encoding="utf-8")
    program = tmp_path / f"read_{document.stem}.py"  # not "haystack.py", which would be the module of that name
    program.write_text(script(text), encoding="utf-8")
    finished = run(program, folder=tmp_path)
    assert finished.returncode == 0, f"{name(document)}, lines as in the file:\n{finished.stderr}"
    if SAME_DOCUMENTATION or document.stem not in OF_THE_STANDARD_LIBRARY:
        assert alike(finished.stdout) == alike(outputs(text))


def alike(output: str) -> str:
    """Return an output without the figures of rules that ask a model, which the processor's arithmetic decides."""
    return OF_A_MODEL.sub(lambda line: " ".join(NUMBER.sub("#", line[0]).split()), output)


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_example_prints_what_it_promises(example: Path, tmp_path: Path) -> None:
    """An example explains itself, runs, and prints its expected output."""
    assert (example / "README.md").is_file()
    finished = run(example / "main.py", folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    if SAME_DOCUMENTATION or example.name not in OF_THE_STANDARD_LIBRARY:
        assert finished.stdout == (example / "expected.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("info", ["py", "python3", "python no-run", "python title='x'", "pycon"])
def test_no_block_hides(info: str) -> None:
    """A block cannot be marked as Python in a way that leaves it out."""
    with pytest.raises(UnrunnableBlockError, match="line 2"):
        script(f"Text\n```{info}\n1 / 0\n```\n")


def test_blocks_keep_their_lines() -> None:
    """Nested blocks are dedented, other languages are left out, and every line stays where it is."""
    lines = script(NESTED).split("\n")
    assert {number: line for number, line in enumerate(lines, 1) if line} == {
        3: "x = 1",
        5: "y = 2",
        11: "if x:",
        12: "    y = 3",
    }


def test_a_block_left_open_is_seen() -> None:
    """A fence that is never closed would swallow the rest of the document."""
    with pytest.raises(UnrunnableBlockError, match="never closed"):
        script("```python\nx = 1\n")


def test_a_failing_block_is_seen(tmp_path: Path) -> None:
    """A failing block gives a failing program, whose traceback names the document's own line."""
    program = tmp_path / "doc.py"
    program.write_text(script("Text\n\n```python\n1 / 0\n```\n"), encoding="utf-8")
    finished = run(program, folder=tmp_path)
    assert finished.returncode == 1
    assert 'doc.py", line 4' in finished.stderr
