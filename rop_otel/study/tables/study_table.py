"""What a table is: a number, a title, how its JSON is made, and how that is laid out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rop_otel.study.tables.table_context import Context

Shape = Mapping[str, Any]
"""A table as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rows of cells, ready to be shown.

    Args:
        header: The columns' names.
        rows: As many cells each.
        caption: What the grid holds beyond the table's title; may be empty.
        notes: Sentences below it.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the paper.

    Args:
        number: Its number there.
        title: What it holds.
        build: Makes its JSON.
        lay_out: Makes grids of its JSON.
    """

    number: int
    title: str
    build: Callable[[Context], Shape]
    lay_out: Callable[[Shape], Sequence[Grid]]


def share(rate: float | None, interval: Sequence[float] | None = None) -> str:
    """Return a share as the paper prints it, with its interval where there is one.

    >>> share(0.1656, [0.1258, 0.2086])
    '.166 [.126, .209]'
    >>> share(1.0), share(None), share(-0.0728)
    ('1.000', '–', '-.073')
    """
    if rate is None:
        return "–"
    text = f"{rate:.3f}".replace("0.", ".", 1) if abs(rate) < 1 else f"{rate:.3f}"
    return text if interval is None else f"{text} [{', '.join(share(each) for each in interval)}]"


def share_range(rate: float | None, interval: Sequence[float] | None, *, lost: int, n: int) -> str:
    """Return a share of n rows with its interval; with lost rows from where none of them counts to where all do.

    >>> share_range(0.1, [0.0, 0.2], lost=0, n=40), share_range(0.1, [0.0, 0.2], lost=2, n=40)
    ('.100 [.000, .200]', '.100–.150 [.000, .200]')
    """
    if rate is None or not lost:
        return share(rate, interval)
    return f"{share(rate)}–{share(rate + lost / n, interval)}"


def estimated(row: Mapping[str, Any], cutoff: str, rate: float | None, *, lost: int = 0) -> str:
    """Return a rate of a table's row with its interval, and the one over rows where there is one."""
    narrow = row.get("row_interval", {}).get(cutoff)
    beside = "" if narrow is None else f" (rows: [{', '.join(map(share, narrow))}])"
    return share_range(rate, row["interval"][cutoff], lost=lost, n=row["n"]) + beside


def counted(count: int, n: int, lost: int) -> str:
    """Return a count of rows, with the lost ones that could be among them.

    >>> counted(50, 302, 0), counted(50, 302, 3)
    ('50/302', '50–53/302')
    """
    return f"{count}/{n}" if not lost else f"{count}–{count + lost}/{n}"


def cutoffs_of(by_cutoff: Mapping[str, Any]) -> list[str]:
    """Return the cutoffs of a field, in ascending order."""
    return sorted(by_cutoff, key=int)
