"""What the committed panels ask, and whether a server has an answer."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from typing import Any

from rop_otel_grafana import Settings, dashboard_files

from tests.grafana.expressions import VARIABLES, substituted
from tests.grafana.prometheus import Prometheus


def panel_queries(settings: Settings) -> list[tuple[str, str]]:
    """Return every query of every panel as a server takes it, with the panel's title."""
    boards = [json.loads(text) for place, text in dashboard_files(settings).items() if place.endswith(".json")]
    return [
        (
            f"{board['title']}: {panel['title']}",
            substituted(target["expr"]).replace(VARIABLES["$__rate_interval"], "10s"),
        )
        for board in boards
        for panel in board["panels"]
        for target in panel.get("targets", [])
    ]


def panel_links(settings: Settings) -> dict[str, list[str]]:
    """Return the addresses to which each panel links, by the same title."""
    boards = [json.loads(text) for place, text in dashboard_files(settings).items() if place.endswith(".json")]
    return {
        f"{board['title']}: {panel['title']}": [link["url"] for link in panel["fieldConfig"]["defaults"]["links"]]
        for board in boards
        for panel in board["panels"]
        if panel.get("fieldConfig", {}).get("defaults", {}).get("links")
    }


def unanswered(
    server: Prometheus, settings: Settings, *, within: float, never: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    """Wait for so many seconds until every query has returned numbers, and return those that have not.

    Args:
        server: Answers them.
        settings: Of the dashboards.
        within: Seconds.
        never: Parts of the titles of panels that show what never happens here.
    """
    missing = [each for each in panel_queries(settings) if not any(title in each[0] for title in never)]
    deadline = time.monotonic() + within
    while missing and time.monotonic() < deadline:
        missing = [(panel, query) for panel, query in missing if not has_numbers(server.query(query))]
        time.sleep(0.5)
    return missing


def has_numbers(series: list[Mapping[str, Any]]) -> bool:
    """Return whether an answer has a number."""
    return any(math.isfinite(float(each["value"][1])) for each in series)
