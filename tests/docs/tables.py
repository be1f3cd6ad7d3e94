"""Markdown tables, and single cells of them, as the tests of the documents read them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"`([^`]+)`")


def read(name: str) -> str:
    """Return a document of the checkout."""
    return (ROOT / name).read_text(encoding="utf-8")


def table(markdown: str, first: str) -> list[list[str]]:
    r"""Return the rows of the only table whose first column is headed by this word, cell by cell.

    >>> table("| x | y |\n| --- | --- |\n| a | `b` |\n", "x")
    [['a', '`b`']]

    Raises:
        LookupError: There is no such table, or there are several.
    """
    lines = markdown.splitlines()
    heads = [place for place, line in enumerate(lines) if line.startswith("|") and _cells(line)[0] == first]
    if len(heads) != 1:
        raise LookupError(f"{len(heads)} tables begin with {first!r}")
    rows = []
    for line in lines[heads[0] + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(_cells(line))
    return rows


def code(cell: str) -> str:
    """Return what stands in a cell as code; the whole cell where nothing does.

    >>> code("`a`"), code("–")
    ('a', '–')
    """
    found = CODE.search(cell)
    return found[1] if found else cell


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]
