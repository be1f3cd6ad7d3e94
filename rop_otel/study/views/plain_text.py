"""Tables as text of one width, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rop_otel.core.escapes import printable, readable, readable_words
from rop_otel.study.tables.study_table import Grid
from rop_otel.study.views.section import Section, is_number


def text(head: Sequence[str], sections: Sequence[Section]) -> str:
    """Return sections as text; what comes from files holds nothing that a terminal would act on.

    Args:
        head: Lines above them.
        sections: The sections.
    """
    return (
        "\n".join([*map(readable_words, head), *(line for section in sections for line in _text_lines(section))]) + "\n"
    )


def markdown(head: Sequence[str], sections: Sequence[Section]) -> str:
    """Return sections as Markdown; what comes from files is no markup.

    Args:
        head: Sentences above them.
        sections: The sections.
    """
    lines = [line for section in sections for line in _markdown_lines(section)]
    return "\n\n".join([*map(_escaped, head), *lines]) + "\n"


def _text_lines(section: Section) -> Iterator[str]:
    yield ""
    yield readable_words(section.title)
    for grid in section.grids:
        if grid.caption:
            yield f"  {readable_words(grid.caption)}"
        yield from (f"  {line}" for line in _aligned(grid))
        yield from (f"  {readable_words(note)}" for note in grid.notes)


def _aligned(grid: Grid) -> Iterator[str]:
    rows = [[*map(readable, row)] for row in ([*grid.header], *grid.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = _right(grid)
    for row in rows if grid.header else ():
        cells = zip(row, widths, right, strict=True)
        yield "  ".join(cell.rjust(width) if side else cell.ljust(width) for cell, width, side in cells).rstrip()


def _right(grid: Grid) -> list[bool]:
    return [all(map(is_number, column)) for column in zip(*grid.rows, strict=True)] or [False] * len(grid.header)


def _markdown_lines(section: Section) -> Iterator[str]:
    yield f"## {_escaped(section.title)}"
    for grid in section.grids:
        if grid.caption:
            yield f"{_escaped(grid.caption)}:"
        if grid.header:
            marks = ["---:" if side else "---" for side in _right(grid)]
            rows = [[*map(_escaped, row)] for row in ([*grid.header], *grid.rows)]
            yield "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], marks, *rows[1:]))
        yield from map(_escaped, grid.notes)


def _escaped(cell: str) -> str:
    return "".join(f"\\{char}" if char in "\\|`*_[]<>#&" else char for char in printable(cell))
