"""Filtered views of the page that ``rop-otel monitor`` serves, for links from panels and alerts.

A view is the page's filters with their values. Here a value is what Grafana or Prometheus fills in for a label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rop_otel import Verdict
from rop_otel_grafana.promql import CAUSE, DROPPED_AT, FINDING, HANDOFF, RUN, STAGE, VERDICT

View = Mapping[str, str]
Value = Callable[[str], str]
"""What is replaced by a label's value, written for an address."""


def address(page: str, view: View) -> str:
    """Return the address of a view of the page at an address.

    >>> address("http://127.0.0.1:4318", {"verdict": "FAIL", "name": "docs"})
    'http://127.0.0.1:4318/#/handoffs?verdict=FAIL&name=docs'
    """
    return f"{page}/#/handoffs?{'&'.join(f'{name}={value}' for name, value in view.items())}"


def named(value: Value) -> View:
    """Return the view of a handoff's name."""
    return {"name": value(HANDOFF)}


def of_verdict(value: Value, verdict: Verdict | None = None) -> View:
    """Return the view of one verdict, or of the label's."""
    return {"verdict": verdict.value if verdict else value(VERDICT), **named(value)}


def lost(value: Value) -> View:
    """Return the view of what was lost at stages of a kind, whatever their names and rounds, for a cause."""
    return {"verdict": Verdict.FAIL.value, "at": f"{value(DROPPED_AT)}/*", "cause": value(CAUSE), **named(value)}


def found(value: Value, code: str | None = None) -> View:
    """Return the view of a finding wherever it is, or of the labels' one at the labels' stage."""
    return {"finding": code or f"{value(FINDING)}@{value(STAGE)}", **named(value)}


def of_run(value: Value) -> View:
    """Return the view of a run."""
    return {"run": value(RUN)}
