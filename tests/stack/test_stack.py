"""From a fault in a retrieval pipeline to the person who is paged: real programs, both ways of metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rop_otel.replay import replay_files
from tests.grafana.panels import unanswered
from tests.grafana.prometheus import Prometheus, until
from tests.stack.application import SERVICE
from tests.stack.stack import CAUSE, FAULT, JOBS, MONITORED, STAGE, Stack, short, stack

Labels = dict[str, str]

NEVER = ("What the prompt holds", "Rounds", "Fallbacks")
"""Panels of what never happens here; ``tests/grafana/test_live.py`` has lost prompts, further rounds and fallbacks."""


@dataclass(slots=True, kw_only=True)
class Story:
    """What was seen while the pipeline was healthy, at fault and healthy again."""

    healthy: list[Labels] = field(default_factory=list)
    states: list[tuple[str, str]] = field(default_factory=list)
    alerts: list[Labels] = field(default_factory=list)
    told: list[Labels] = field(default_factory=list)
    resolved: list[Labels] = field(default_factory=list)
    panels: list[tuple[str, str]] = field(default_factory=list)
    page: str = ""
    links: set[str] = field(default_factory=set)
    kept: list[dict[str, Any]] = field(default_factory=list)
    counted: list[float] = field(default_factory=list)
    live: dict[str, Any] = field(default_factory=dict)
    replayed: dict[str, Any] = field(default_factory=dict)

    def look(self, server: Prometheus) -> set[tuple[str, str]]:
        """Keep the alerts that fire now, and return the jobs and states of all."""
        now = server.alerts()
        for alert in now:
            if alert["state"] == "firing" and alert["labels"] not in self.alerts:
                self.alerts.append(alert["labels"])
        return {(alert["labels"]["job"], alert["state"]) for alert in now}


def recalls(running: Stack, story: Story) -> None:
    """Be healthy, at fault, and healthy again, and keep what is seen."""
    server, told = running.prometheus, running.webhook
    judged = 'count by (job) (sum_over_time(rop_handoff_verdicts_total{rop_verdict="PASS"}[30s]) > 0)'
    until(lambda: len(server.query(judged)) == len(JOBS), within=120, what="every way")
    until(lambda: len(server.query("count_over_time(up[40s]) >= 12")) >= 2, within=120, what="some healthy seconds")
    story.look(server)
    story.healthy = list(story.alerts)
    running.application.ask(f"fault {FAULT}")
    firing = {(job, "firing") for job in JOBS.values()}
    until(lambda: story.look(server) >= firing, within=300, what="an alert by every way")
    until(lambda: len(told.told("firing")) >= len(JOBS), within=120, what="the webhook is told")
    story.page, story.links = running.monitor.url, {alert["annotations"]["page_url"] for alert in told.alerts}
    story.kept = running.monitor.get("/api/handoffs?verdict=FAIL")["handoffs"]
    misses = f'rop_selected_misses_total{{job="{MONITORED}", rop_dropped_at="{STAGE}", rop_drop_cause="{CAUSE}"}}'
    story.counted = [float(series["value"][1]) for series in server.query(misses)]
    story.panels = unanswered(server, short("http://localhost/"), within=120, never=NEVER)
    running.application.ask("healthy")
    until(lambda: not story.look(server), within=120, what="the alerts are gone")
    until(lambda: len(told.told("resolved")) >= len(JOBS), within=120, what="the webhook is told that it is over")
    story.states = lived_through(server)
    story.told, story.resolved = told.told("firing"), told.told("resolved")
    story.live = running.application.ask("assessed")


def lived_through(server: Prometheus) -> list[tuple[str, str]]:
    """Return the jobs and states of the alerts there were, in the order in which Prometheus recorded them first."""
    began: dict[tuple[str, str], float] = {}
    for series in server.query("ALERTS[15m]"):
        state = (series["metric"]["job"], series["metric"]["alertstate"])
        began[state] = min(began.get(state, float("inf")), float(series["values"][0][0]))
    return sorted(began, key=began.__getitem__)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """The whole story, told once."""
    folder = tmp_path_factory.mktemp("stack")
    told = Story()
    with stack(folder) as running:
        recalls(running, told)
        archive = running.collector.traces
    told.replayed = replayed(archive, folder / "resolver.json")
    return told


def replayed(archive: Path, resolver: Path) -> dict[str, Any]:
    """Return what replay concludes of a file, by handoff."""
    report = replay_files([str(archive)], resolver=str(resolver))
    assert (report.orphan_stages, report.incomplete, report.absent_resolvers) == (0, (), ())
    return {assessment.handoff_id: assessment.as_dict() for assessment in report.assessments}


@pytest.mark.parametrize("way", JOBS)
def test_the_alert_names_stage_and_cause(story: Story, way: str) -> None:
    """By each way it is pending, then fires, and the webhook is told where and why; then it ends."""
    expected = {
        "alertname": "SelectedObjectDropsBeforeReader",
        "job": JOBS[way],
        "rop_handoff_name": "docs-qa",
        "rop_dropped_at": STAGE,
        "rop_drop_cause": CAUSE,
        "severity": "critical",
        "speed": "fast",
        "target": "0.95",
    }
    states = [state for job, state in story.states if job == JOBS[way]]
    assert states == ["pending", "firing"]
    assert [labels for labels in story.told if labels["job"] == JOBS[way]][:1] == [expected]
    assert [labels for labels in story.resolved if labels["job"] == JOBS[way]][:1] == [expected]


def test_the_page_has_the_fault(story: Story) -> None:
    """The monitor behind the collector keeps and counts the handoffs that failed, and the alerts link to them."""
    assert story.kept
    assert {(row["dropped_at"], row["drop_cause"], row["service"]) for row in story.kept} == {(STAGE, CAUSE, SERVICE)}
    failed = {handoff for handoff, assessment in story.live.items() if assessment["verdict"] == "FAIL"}
    assert {row["handoff_id"] for row in story.kept} <= failed
    [counted] = story.counted
    assert counted > 0
    view = f"verdict=FAIL&at={STAGE}/*&cause={CAUSE}&name=docs-qa"
    assert story.links == {f"{story.page}/#/handoffs?{view}"}


def test_nothing_else_fires(story: Story) -> None:
    """A healthy pipeline is silent, and at fault there is one alert by each way."""
    assert story.healthy == []
    assert {labels["alertname"] for labels in story.alerts} == {"SelectedObjectDropsBeforeReader"}
    assert len(story.alerts) == len(JOBS)


def test_every_panel_has_data(story: Story) -> None:
    """Every query of every panel returns numbers."""
    assert story.panels == []


def test_every_failing_trace_is_kept(story: Story) -> None:
    """The tail sampler let every trace with a FAIL through, and left out most of those where nothing failed."""
    failing = {handoff for handoff, assessment in story.live.items() if assessment["verdict"] == "FAIL"}
    assert failing
    assert failing <= story.replayed.keys()
    assert len(story.replayed) < len(story.live)


def test_the_file_replays_to_the_live_verdicts(story: Story) -> None:
    """Whatever the file holds, replay concludes what was concluded live, to the last finding and score."""
    live = {handoff: story.live[handoff] for handoff in story.replayed if handoff in story.live}
    assert {handoff: story.replayed[handoff] for handoff in live} == live
    assert len(live) > 20
