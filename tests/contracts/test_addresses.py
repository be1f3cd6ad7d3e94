"""No committed file knows a package index or a machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.sources import ROOT, committed_files

ADDRESS = re.compile(
    r"""(?<![\w-])--?(?:extra-)?index-url\b | (?<![\w-])--find-links\b | \bpypi\.org\b | \bpythonhosted\b
    | (?<![\w.*}])/(?:home|root|work|opt)/\w | \bfile:///\w""",
    re.VERBOSE,
)
PIN = re.compile(r"[a-z0-9.-]+(\[[a-z,]+\])?==\S+( ; [^\\]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")


def addresses(path: Path) -> Iterator[str]:
    """Yield every line that names an index or a machine's own folder; files that are no text have none."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if ADDRESS.search(line):
            yield f"{path.relative_to(ROOT)}:{number} {line.strip()[:120]}"


def test_no_committed_file_names_an_address() -> None:
    """Index addresses and local paths stay out of the repository."""
    ours = Path(__file__)
    assert [line for path in committed_files() if path != ours for line in addresses(path)] == []


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://x/simple",
        "--extra-index-url x",
        "-e file:///tmp/x",
        "see pypi.org/p",
        "x = '/home/ann/x'",
        "--find-links /w",
    ],
)
def test_an_address_is_seen(line: str) -> None:
    """Each form of address is found."""
    assert ADDRESS.search(line)


@pytest.mark.parametrize("line", ["--no-emit-index-url", "../shared/data", ".work/x", "https://opentelemetry.io/docs/"])
def test_other_text_is_no_address(line: str) -> None:
    """Options about addresses, relative folders and documentation links are let through."""
    assert not ADDRESS.search(line)


@pytest.mark.parametrize("name", ["base", "demo", "dev", "mutants"])
def test_requirements_are_pins_with_hashes(name: str) -> None:
    """A requirements file holds exact versions and their hashes, nothing else."""
    lines = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    pins = sum(not line.startswith(" ") for line in lines)
    assert pins > 20


def test_requirements_nest() -> None:
    """The demo installs what the base installs and more, the tests what the demo does, in the same versions."""
    base, demo, dev = (
        {
            line.split()[0]  # without the platforms, of which the tests may need more
            for line in (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
            if "==" in line
        }
        for name in ("base", "demo", "dev")
    )
    assert base < demo < dev
