"""What every view shows: titled sections of grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rop_otel.core.escapes import printable
from rop_otel.study.tables.study_table import Grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Grids under a title.

    Args:
        title: The title.
        grids: The grids; one without a header has notes alone.
    """

    title: str
    grids: Sequence[Grid]


def as_html(text: str) -> str:
    r"""Return text that is no markup and holds no control characters.

    >>> as_html("<b>\x1b")
    '&lt;b&gt;\\x1b'
    """
    return escape(printable(text))


def is_number(cell: str) -> bool:
    """Return whether a cell is set to the right.

    >>> is_number("50/302"), is_number(".166 [.126, .209]"), is_number("title"), is_number("–")
    (True, True, False, True)
    """
    return cell[:1] in "0123456789.->–" or not cell
