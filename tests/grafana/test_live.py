"""Dashboards and alerts against a real Prometheus that scrapes a real /metrics."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from rop_otel_grafana import Settings, rule_files, write

from rop_otel import semconv
from tests.grafana.panels import panel_links, panel_queries, unanswered
from tests.grafana.programs import answer
from tests.grafana.prometheus import Prometheus, prometheus, until
from tests.grafana.service import NAME, Service, service

JOB = "docs-rag"
SHORT = Settings.model_validate(
    {
        "interval": "1s",
        "fast": {"long": "20s", "short": "8s", "hold": "2s", "factor": 4, "ceiling": 0.5},
        "absent": {"hold": "1s"},
        "recall": {"hold": "1s"},
    }
)
"""The committed settings with windows that a test can wait for."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Prometheus, Service]]:
    """A service that runs, and a Prometheus that watches it."""
    folder = tmp_path_factory.mktemp("prometheus")
    write(folder / "rules", rule_files(SHORT))
    with service() as (running, port), prometheus(folder, rules=folder / "rules", targets={JOB: port}) as server:
        until(lambda: len(server.query(f'up{{job="{JOB}"}}[1m]')) > 0, within=120, what="a first sample")
        yield server, running


def firing(server: Prometheus) -> list[dict[str, str]]:
    return [dict(alert["labels"]) for alert in server.alerts() if alert["state"] == "firing"]


def test_every_panel_has_data(stack: tuple[Prometheus, Service]) -> None:
    """Soon after a service's start, every query of every panel returns numbers."""
    server, _ = stack
    assert unanswered(server, SHORT, within=300) == []


def test_values_have_the_labels_of_their_links(stack: tuple[Prometheus, Service]) -> None:
    """Whatever a panel shows has every label that its links fill in; Grafana leaves a missing one as it is written."""
    server, _ = stack
    assert unanswered(server, SHORT, within=300) == []
    links, seen = panel_links(SHORT), set()
    for panel, query in panel_queries(SHORT):
        asked = {label for link in links.get(panel, ()) for label in re.findall(r"__\w+\.\w+\.(\w+)", link)}
        for series in server.query(query) if asked else ():
            assert asked <= series["metric"].keys(), panel
            seen.add(panel)
    assert {"Handoffs: Losses by stage and cause", "Handoffs: Findings", "Handoffs: Runs", "Stages: Fallbacks"} <= seen


def test_losses_lead_to_traces(stack: tuple[Prometheus, Service]) -> None:
    """Prometheus keeps the trace of a loss beside the number, which is what a panel links to."""
    server, _ = stack

    def traces() -> list[str]:
        found = server.get(
            "query_exemplars",
            query=semconv.MISSES.prometheus,
            start=str(time.time() - 120),
            end=str(time.time()),
        )
        return [exemplar["labels"]["trace_id"] for series in found for exemplar in series["exemplars"]]

    assert all(len(trace) == 32 for trace in until(traces, within=120, what="an exemplar"))


def test_an_outage_fires_and_resolves(stack: tuple[Prometheus, Service]) -> None:
    """Healthy is silent; a stage that drops the selected object fires, alone and by name; it ends."""
    server, running = stack
    until(lambda: len(server.query("count_over_time(up[30s]) >= 10")) > 0, within=120, what="some healthy seconds")
    assert firing(server) == []
    running.broken = True
    until(lambda: firing(server), within=300, what="an alert")
    [alert] = firing(server)
    assert alert == {
        "alertname": "SelectedObjectDropsBeforeReader",
        "job": JOB,
        "rop_handoff_name": NAME,
        "rop_dropped_at": "mmr",
        "rop_drop_cause": "diversified_away",
        "severity": "critical",
        "speed": "fast",
        "target": "0.95",
    }
    running.broken = False
    until(lambda: not firing(server), within=120, what="the alert is resolved")


def backfilled(file: Path, *, now: float) -> None:
    """Write two hours of scored lists, one a day ago with a recall of 0.9 and one until now with 0.6."""
    labels = (
        'job="docs-rag",rop_handoff_name="docs",rop_stage="rerank",rop_target="judged",rop_measure="recall",rop_k="5"'
    )
    lines = []
    for series, steps in ((semconv.STAGE_SCORE, (0.9, 0.6)), (semconv.STAGE_SCORED, (1.0, 1.0))):
        name = series.prometheus
        lines.append(f"# TYPE {name.removesuffix('_total')} counter")
        total = 0.0
        for ends, step in zip((now - 86400 + 600, now - 5), steps, strict=True):
            for moment in range(int(ends) - 7200, int(ends), 30):
                total += step
                lines.append(f"{name}{{{labels}}} {total:g} {moment}")
    file.write_text("\n".join([*lines, "# EOF\n"]), encoding="utf-8")


def test_recall_is_compared_with_a_day_earlier(tmp_path: Path) -> None:
    """With data of a day ago filled in, a stage whose recall fell since then fires."""
    rules = tmp_path / "rules"
    write(rules, rule_files(SHORT))
    now = time.time()
    backfilled(tmp_path / "past.txt", now=now)
    made = answer("promtool", "tsdb", "create-blocks-from", "openmetrics", tmp_path / "past.txt", tmp_path / "data")
    assert made.returncode == 0, made.stderr
    with prometheus(tmp_path, rules=rules, targets={}) as server:
        span = (f"--start={int(now - 86400 - 300)}", f"--end={int(now - 86400 + 600)}", "--eval-interval=30s")
        where = (f"--url={server.url}", f"--output-dir={tmp_path / 'data'}")
        recorded = answer("promtool", "tsdb", "create-blocks-from", "rules", *span, *where, rules / "recording.yaml")
        assert recorded.returncode == 0, recorded.stderr
    with prometheus(tmp_path, rules=rules, targets={}) as server:

        def dropped() -> list[Mapping[str, Any]]:
            found = [alert for alert in server.alerts() if alert["labels"]["alertname"] == "StageRecallDropped"]
            return [alert for alert in found if alert["state"] == "firing"]

        [alert] = until(dropped, within=120, what="an alert")
        assert (alert["labels"]["rop_stage"], alert["labels"]["rop_target"]) == ("rerank", "judged")
        assert "lower than it was 1d earlier" in alert["annotations"]["description"]
