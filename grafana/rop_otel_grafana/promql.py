"""PromQL as text: selectors, sums, ratios, and growth that sees the birth of a series."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rop_otel import semconv
from rop_otel_grafana.settings import Settings

HANDOFF = semconv.label(semconv.HANDOFF_NAME)
STAGE = semconv.label(semconv.STAGE)
VERDICT = semconv.label(semconv.VERDICT)
DROPPED_AT = semconv.label(semconv.DROPPED_AT)
CAUSE = semconv.label(semconv.DROP_CAUSE)
FINDING = semconv.label(semconv.FINDING)
SEVERITY = semconv.label(semconv.SEVERITY)
OUTCOME = semconv.label(semconv.OUTCOME)
TARGET = semconv.label(semconv.TARGET)
MEASURE = semconv.label(semconv.MEASURE)
K = semconv.label(semconv.K)
JOINT = semconv.label(semconv.JOINT)
AGREEMENT = semconv.label(semconv.AGREEMENT)
ONLY = semconv.label(semconv.ONLY)
ROUND = semconv.label(semconv.ROUND)
FORM = semconv.label(semconv.QUERY_FORM)
IMPLEMENTATION = semconv.label(semconv.STAGE_IMPLEMENTATION)
PRESENT = semconv.label(semconv.PRESENT)
RUN = semconv.label(semconv.RUN_ID)
STATUS = semconv.label(semconv.STATUS)
WHERE = semconv.label(semconv.ERROR_WHERE)

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}


def quoted(text: str) -> str:
    r"""Return a string literal, whatever the text holds.

    >>> print(quoted('say "a\\b"'))
    "say \"a\\b\""
    """
    return '"' + "".join(_ESCAPES.get(character, character) for character in text) + '"'


def equal(label: str, value: str) -> str:
    """Return the matcher of one value."""
    return f"{label}={quoted(value)}"


def one_of(label: str, values: Iterable[str], *, negated: bool = False) -> str:
    r"""Return the matcher of several values, or of all others; names with special characters match as they are.

    >>> one_of("a", ["b.c", "d"])
    'a=~"b\\\\.c|d"'
    """
    return f"{label}{'!~' if negated else '=~'}{quoted(_alternatives(values))}"


def of_kind(label: str, kinds: Iterable[str]) -> str:
    """Return the matcher of stages of some kinds, those with a name beside the kind included.

    >>> of_kind("a", ["vector", "lexical"])
    'a=~"(vector|lexical)( .*)?"'
    """
    return f"{label}=~{quoted(f'({_alternatives(kinds)})( .*)?')}"


def _alternatives(values: Iterable[str]) -> str:
    return "|".join(re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", value) for value in values)


def select(settings: Settings, series: str, *matchers: str) -> str:
    """Return the selector of a raw series, with what every query of this user asks for.

    Args:
        settings: The user's settings.
        series: Name of a scraped series.
        matchers: Further matchers.
    """
    asked = [*(equal(label, value) for label, value in sorted(settings.match.items())), *matchers]
    return recorded(series, *asked)


def recorded(series: str, *matchers: str) -> str:
    """Return the selector of a recorded series, which holds only what was asked for when it was recorded."""
    return f"{series}{{{', '.join(matchers)}}}" if matchers else series


def handoff_labels(settings: Settings, *further: str) -> tuple[str, ...]:
    """Return service and handoff, the labels that every query distinguishes, and further ones."""
    return (settings.service_label, HANDOFF, *further)


def sum_by(labels: Sequence[str], expression: str) -> str:
    """Return the sum over all processes, by some labels."""
    return f"sum by ({', '.join(labels)}) ({expression})"


def sum_rate(labels: Sequence[str], selector: str, window: str) -> str:
    """Return how much is counted per second, over all processes."""
    return sum_by(labels, f"rate({selector}[{window}])")


def sum_increase(labels: Sequence[str], selector: str, window: str, *, offset: str = "") -> str:
    """Return how much was counted in a window, over all processes.

    Args:
        labels: To keep.
        selector: Of a counter.
        window: Its length.
        offset: How long ago it ended.
    """
    ago = f" offset {offset}" if offset else ""
    return sum_by(labels, f"increase({selector}[{window}]{ago})")


def ratio(part: str, whole: str, *, on: Sequence[str] = ()) -> str:
    """Return a share; nothing, rather than 0 or 1, where the whole is 0.

    Args:
        part, whole: Of which the share is taken.
        on: Labels of the whole, where the part has more of them.
    """
    match = f" on ({', '.join(on)}) group_left ()" if on else ""
    return f"{part}\n/{match}\n({whole} > 0)"


def dashed(label: str, expression: str) -> str:
    """Return the series with a dash where a label is empty, as the page writes it; a link cannot put one."""
    return f'label_replace({expression}, "{label}", "-", "{label}", "")'


def growth(labels: Sequence[str], selector: str, window: str) -> str:
    """Return how much was counted in a window, the first count of a series that was not there before included.

    A counter that a process exposes only once it counts is born with its first value, which is no increase to
    Prometheus. A series without any sample in the window before the last one counts from 0.
    """
    born = f"{selector} unless last_over_time({selector}[{window}] offset {window})"
    return sum_by(labels, f"({born}) or increase({selector}[{window}])")
