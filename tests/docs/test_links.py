"""Links between the documents lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.tables import ROOT

FOLDERS = ("docs", "examples", "instrumentation", "collector-config", "grafana")
DOCUMENTS = sorted({ROOT / "README.md", *(found for folder in FOLDERS for found in (ROOT / folder).rglob("*.md"))})
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
RESULTS = ROOT / "benchmarks" / "results.md"
"""Written by ``make bench``, and so not there before it was run."""


def anchors(document: Path) -> set[str]:
    """Return the anchors that headings get: lower case, hyphens for spaces, nothing else but letters and digits."""
    headings = HEADING.findall(document.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    """Each relative link names a file of the checkout, and a heading in it where it names one."""
    for target, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        file = (document.parent / target).resolve() if target else document
        assert file.exists() or file == RESULTS, target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"
