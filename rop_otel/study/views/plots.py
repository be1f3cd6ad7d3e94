"""The plots of a study as inline SVG: losses by rule with intervals, transitions, survival over the cutoff.

Colours are named by classes, so that the page sets them for a light and a dark screen. Beside each plot stands a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from rop_otel.study.views.section import as_html

_WIDTH: Final = 800
_LABELS: Final = 200
"""Width of the column of names: ``reserved:bm25_title_body`` is the longest of ours."""

_RIGHT: Final = 160
"""Width of the column of counts."""

_ROW: Final = 26
_TOP: Final = 12
_AXIS: Final = 40
_LINE: Final = 15
"""Height of a line of text."""

SERIES: Final = 20
"""How many series have a look of their own: a colour and a dash. Nine rules, each with a reserved slot too, are 18."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One row of the plot of losses.

    Args:
        name: The rule.
        text: The share in words.
        rate: The share, from 0 to 1.
        interval: Its interval; None where there is none.
    """

    name: str
    text: str
    rate: float
    interval: tuple[float, float] | None


def losses(rows: Sequence[Loss], *, title: str, name: str) -> str:
    """Return a plot of shares as points with their intervals.

    Args:
        rows: From top to bottom, at least one.
        title: What the plot shows, for those who cannot see it.
        name: Its name within the page.
    """
    most = max([0.05, *(row.rate for row in rows), *(row.interval[1] for row in rows if row.interval)])
    scale, ticks = _scale(most)
    height = _TOP + _ROW * len(rows) + _AXIS
    parts = [*_grid(scale, ticks, height)]
    for place, row in enumerate(rows):
        y = _TOP + _ROW * (place + 0.5)
        parts.append(_label(row.name, y))
        if row.interval is not None:
            left, right = (_x(each, scale) for each in row.interval)
            parts.append(f'<line class="whisker" x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}"/>')
            parts += [
                f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 4}" y2="{y + 4}"/>' for x in (left, right)
            ]
        parts.append(f'<circle class="point" cx="{_x(row.rate, scale):.1f}" cy="{y}" r="4.5"/>')
        parts.append(f'<text class="value" x="{_WIDTH - _RIGHT + 12}" y="{y + 4}">{as_html(row.text)}</text>')
    return _svg(parts, height, title=title, name=name)


def stacks(rows: Mapping[str, Mapping[str, int]], *, title: str, name: str) -> str:
    """Return a plot of counts as stacked bars, each as long as its share of the row's whole.

    Args:
        rows: By label the counts by kind; every row has the same kinds, in order.
        title: What the plot shows.
        name: Its name within the page.
    """
    height = _TOP + _ROW * len(rows) + _AXIS
    parts = [*_grid(1.0, [0, 0.25, 0.5, 0.75, 1], height)]
    for place, (label, counts) in enumerate(rows.items()):
        top, whole, x = _TOP + _ROW * place + 4, sum(counts.values()), float(_LABELS)
        parts.append(_label(label, top + _ROW / 2 - 4))
        for number, (kind, count) in enumerate(counts.items()):
            width = (_WIDTH - _LABELS - _RIGHT) * count / whole if whole else 0
            said = f"{as_html(label)}, {as_html(kind)}: {count}"
            parts.append(
                f'<rect class="fill-{number}" x="{x:.1f}" y="{top}" width="{width:.1f}" height="{_ROW - 8}">'
                f"<title>{said}</title></rect>"
            )
            x += width
        shown = " / ".join(map(str, counts.values()))
        parts.append(f'<text class="value" x="{_WIDTH - _RIGHT + 12}" y="{top + 13}">{shown}</text>')
    return _svg(parts, height, title=title, name=name)


def survival(series: Mapping[str, Sequence[float]], *, title: str, name: str) -> str:
    """Return a plot of the share found by cutoff, a line for each rule.

    Args:
        series: By rule the share at cutoff 1, 2 and so on; equally many each.
        title: What the plot shows.
        name: Its name within the page.
    """
    height, depth = 360, max(map(len, series.values()), default=1)
    bottom, least = height - _AXIS, min((share for each in series.values() for share in each), default=0)
    floor = max(0.0, int(least * 10) / 10)
    across = (_WIDTH - 60 - _LABELS) / max(depth - 1, 1)
    parts = []
    for tick in [floor + (1 - floor) * step / 5 for step in range(6)]:
        y = _y(tick, floor, bottom)
        parts.append(f'<line class="grid" x1="50" x2="{_WIDTH - _LABELS}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="44" y="{y + 4:.1f}" text-anchor="end">{tick:.2f}</text>')
    for cutoff in sorted({1, 5, 10, 15, depth} & set(range(1, depth + 1))):
        x = 50 + across * (cutoff - 1)
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{cutoff}</text>')
    parts.append(f'<text class="tick" x="{50 + across * (depth - 1) / 2:.1f}" y="{height - 4}">cutoff</text>')
    labels = _apart({label: _y(shares[-1], floor, bottom) for label, shares in series.items()}, bottom)
    for number, (label, shares) in enumerate(series.items()):
        points = [(50 + across * place, _y(each, floor, bottom)) for place, each in enumerate(shares)]
        path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(f'<path class="line line-{number % SERIES}" d="{path}"><title>{as_html(label)}</title></path>')
        (x, y), at = points[-1], labels[label]
        parts.append(f'<path class="lead" d="M{x + 2:.1f} {y:.1f} L{_WIDTH - _LABELS + 20} {at:.1f}"/>')
        shown = f'<text class="series text-{number % SERIES}" x="{_WIDTH - _LABELS + 24}" y="{at + 4:.1f}">'
        parts.append(f"{shown}{as_html(label)}</text>")
    return _svg(parts, height, title=title, name=name)


def _y(share: float, floor: float, bottom: float) -> float:
    return bottom - (bottom - _TOP) * (share - floor) / (1 - floor or 1)


def _apart(wanted: Mapping[str, float], lowest: float) -> dict[str, float]:
    """Return where labels are set: near where they are wanted, and never over each other."""
    found: dict[str, float] = {}
    before = float(-_ROW)
    for label, y in sorted(wanted.items(), key=lambda item: item[1]):
        found[label] = before = max(y, before + _LINE)
    for label in reversed(found):  # those that were pushed out below come up again
        found[label] = lowest = min(found[label], lowest)
        lowest -= _LINE
    return found


def _scale(most: float) -> tuple[float, list[float]]:
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if most / step <= 6 or step == 0.2)
    count = ceil(round(most / step, 6))
    return step * count, [step * number for number in range(count + 1)]


def _x(share: float, scale: float) -> float:
    return _LABELS + (_WIDTH - _LABELS - _RIGHT) * share / scale


def _grid(scale: float, ticks: Sequence[float], height: float) -> Iterator[str]:
    bottom = height - _AXIS
    for tick in ticks:
        x = _x(tick, scale)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:.2f}</text>'


def _label(text: str, y: float) -> str:
    return f'<text class="name" x="{_LABELS - 10}" y="{y + 4}" text-anchor="end">{as_html(text)}</text>'


def _svg(parts: Sequence[str], height: float, *, title: str, name: str) -> str:
    head = f'<svg role="img" aria-labelledby="{name}" viewBox="0 0 {_WIDTH} {height:.0f}">'
    return "\n".join([head, f'<title id="{name}">{as_html(title)}</title>', *parts, "</svg>"])
