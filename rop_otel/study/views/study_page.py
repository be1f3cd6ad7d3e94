"""One HTML page: plots, each with its table beside it, then every table. It needs no script and no other file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rop_otel.study.tables.study_table import Grid
from rop_otel.study.views.plots import SERIES
from rop_otel.study.views.section import Section, as_html, is_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot and the same in a table.

    Args:
        title: What it shows.
        svg: The plot, as HTML.
        grid: The table.
        legend: What each fill stands for, in order; empty where the plot names its parts itself.
    """

    title: str
    svg: str
    grid: Grid
    legend: Sequence[str] = ()


def page(head: Sequence[str], figures: Sequence[Figure], sections: Sequence[Section]) -> str:
    """Return the page; what comes from files is no markup.

    Args:
        head: Sentences above the rest.
        figures: The plots.
        sections: The tables.
    """
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        "<title>Handoff study</title>",
        f"<style>{_STYLE}</style>",
        "</head>",
        "<body>",
        "<main>",
        "<h1>Handoff study</h1>",
        *(f"<p>{as_html(sentence)}</p>" for sentence in head),
        *(line for figure in figures for line in _figure(figure)),
        *(line for section in sections for line in _section(section)),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _figure(figure: Figure) -> Iterator[str]:
    yield f"<section><h2>{as_html(figure.title)}</h2>"
    yield "<figure>"
    yield figure.svg
    if figure.legend:
        keys = (f'<li><span class="key fill-{at}"></span>{as_html(name)}</li>' for at, name in enumerate(figure.legend))
        yield f'<ul class="legend">{"".join(keys)}</ul>'
    yield "</figure>"
    yield from _grid(figure.grid)
    yield "</section>"


def _section(section: Section) -> Iterator[str]:
    yield f"<section><h2>{as_html(section.title)}</h2>"
    for grid in section.grids:
        yield from _grid(grid)
    yield "</section>"


def _grid(grid: Grid) -> Iterator[str]:
    if grid.header:
        yield '<div class="wide" tabindex="0"><table>'
        if grid.caption:
            yield f"<caption>{as_html(grid.caption)}</caption>"
        names = (f'<th scope="col">{as_html(name)}</th>' for name in grid.header)
        yield f"<thead><tr>{''.join(names)}</tr></thead>"
        yield "<tbody>"
        for row in grid.rows:
            yield f"<tr>{''.join(map(_cell, row))}</tr>"
        yield "</tbody></table></div>"
    yield from (f'<p class="note">{as_html(note)}</p>' for note in grid.notes)


def _cell(cell: str) -> str:
    return f'<td class="number">{as_html(cell)}</td>' if is_number(cell) else f"<td>{as_html(cell)}</td>"


_LIGHT: Final = "1d5fa8 b3471d 2e7d32 7b3fa0 8a6d00 0f7a7a b0246b 4a4a4a 6a5acd 8c3b3b".split()
_DARK: Final = "7fb4f0 f0a27f 84d089 cda0ea e0c55a 6fd0d0 f08fbf c4c4c4 b3a9ff e59a9a".split()
_DASHES: Final = "none;7 3;2 3;9 3 2 3".split(";")


def _colours(colours: Sequence[str]) -> str:
    return "".join(f"--c{number}:#{colour};" for number, colour in enumerate(colours))


_FILLS: Final = (0, 5, 1, 7, 4)
"""Colours of what becomes of a row: kept, recovered, lost, missed by both, unverifiable."""


def _look(number: int) -> str:
    """Return how a series looks: a colour, with another dash each time that the colours begin anew."""
    turn, colour = divmod(number, len(_LIGHT))
    dash = _DASHES[(colour + 3 * turn) % len(_DASHES)]
    return f".line-{number}{{stroke:var(--c{colour});stroke-dasharray:{dash}}}.text-{number}{{fill:var(--c{colour})}}"


_SERIES: Final = "".join(map(_look, range(SERIES))) + "".join(
    f".fill-{at}{{fill:var(--c{colour});background:var(--c{colour})}}" for at, colour in enumerate(_FILLS)
)
_STYLE: Final = (
    f":root{{color-scheme:light dark;--ink:#1b1b1b;--soft:#595959;--paper:#fff;--rule:#d9d9d9;{_colours(_LIGHT)}}}"
    "@media (prefers-color-scheme:dark){"
    f":root{{--ink:#ececec;--soft:#b0b0b0;--paper:#161616;--rule:#3d3d3d;{_colours(_DARK)}}}}}"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}"
    "main{max-width:75rem;margin:0 auto;padding:1.5rem}"
    "h2{margin-top:2.5rem;font-size:1.2rem}"
    "figure{margin:0;max-width:50rem}svg{width:100%;height:auto}"
    "svg text{font:13px system-ui,sans-serif;fill:var(--ink)}svg .tick,svg .value{fill:var(--soft);font-size:12px}"
    ".grid{stroke:var(--rule)}.whisker{stroke:var(--c0);stroke-width:2}.point{fill:var(--c0)}"
    ".line{fill:none;stroke-width:2}.lead{fill:none;stroke:var(--rule)}"
    f"{_SERIES}"
    ".legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;padding:0;font-size:.85rem}"
    ".key{display:inline-block;width:.8rem;height:.8rem;margin-right:.4rem}"
    ".wide{overflow-x:auto;margin-top:1rem}"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;color:var(--soft);padding-bottom:.3rem}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid var(--rule);text-align:left;white-space:nowrap}"
    ".number{text-align:right}.note{color:var(--soft);font-size:.85rem}"
)
