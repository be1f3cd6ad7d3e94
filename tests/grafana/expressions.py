"""Reading PromQL: the series that an expression names, and the labels that it asks them for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rop_otel_grafana import Settings
from rop_otel_grafana.recording import windows

from rop_otel import semconv

VARIABLES = {
    "$__rate_interval": "1m",
    "$__range": "1h",
    "$service": "(?s:.*)",
    "$handoff": "(?s:.+)",
    "$stage": "(?s:.*)",
    "$k": "5",
}
KEYWORDS = frozenset("and or unless on by offset group_left ignoring bool le".split())
FURTHER = frozenset({"le"})

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_GROUPING = re.compile(r"\b(?:by|on|ignoring|group_left) \([^)]*\)")
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\{([^}]*)\}")


def substituted(expression: str) -> str:
    """Return an expression with values in place of a dashboard's variables."""
    for variable, value in VARIABLES.items():
        expression = expression.replace(variable, value)
    return expression


def named_series(expression: str) -> set[str]:
    """Return the names of the series in an expression.

    >>> sorted(named_series('sum by (job) (rate(a_total{b="c"}[5m])) / d:e:f and on (x) up > 0'))
    ['a_total', 'd:e:f', 'up']
    """
    bare = _GROUPING.sub("", re.sub(r"\{[^}]*\}|\[[^]]*\]", "", _STRING.sub('""', expression)))
    names = re.findall(r"(?<![\w:$])[a-zA-Z_:][\w:]*(?!\w|:|\s*\()", bare)
    return set(names) - KEYWORDS


def asked_labels(expression: str) -> Iterator[tuple[str, str]]:
    """Give each series with each label that a selector asks it for."""
    for name, matchers in _SELECTOR.findall(_STRING.sub('""', expression)):
        for matcher in matchers.split(","):
            yield name, re.split(r"[=!]", matcher.strip())[0]


def known_series(settings: Settings) -> dict[str, set[str] | None]:
    """Return every series that an expression may name, with its labels; None where a rule decides them."""
    known: dict[str, set[str] | None] = {}
    for metric in semconv.METRICS:
        labels = {semconv.label(attribute) for attribute in metric.attributes} | {settings.service_label}
        known[metric.prometheus] = labels
        if metric.kind == "histogram":
            known[f"{metric.prometheus}_bucket"] = labels | FURTHER
    for recorded, spans in windows(settings).values():
        known |= dict.fromkeys(recorded.over(window) for window in spans)
    return known
