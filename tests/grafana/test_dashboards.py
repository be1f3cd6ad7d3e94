"""The three dashboards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rop_otel_grafana import Settings, dashboard_files
from rop_otel_grafana.panels import GREY

from rop_otel import semconv
from tests.grafana.committed import DIST
from tests.grafana.expressions import VARIABLES, asked_labels, known_series, named_series, substituted
from tests.grafana.programs import answer

BOARDS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (DIST / "dashboards").glob("*.json")}


def panels(boards: dict[str, Any] = BOARDS) -> Iterator[tuple[str, dict[str, Any]]]:
    for uid, board in sorted(boards.items()):
        for panel in board["panels"]:
            if panel["type"] != "row":
                yield f"{uid} {panel['title']}", panel


PANELS = list(panels())
each_panel = pytest.mark.parametrize("panel", [panel for _, panel in PANELS], ids=[name for name, _ in PANELS])


def expressions() -> list[str]:
    return [target["expr"] for _, panel in PANELS for target in panel["targets"]]


@each_panel
def test_panel_can_be_read(panel: dict[str, Any]) -> None:
    """Every panel says in words what it shows, in which unit, and from where on it is good or bad."""
    defaults = panel["fieldConfig"]["defaults"]
    assert len(panel["description"]) > 20
    assert defaults["unit"]
    assert len(defaults["thresholds"]["steps"]) > 1


@each_panel
def test_missing_data_never_looks_healthy(panel: dict[str, Any]) -> None:
    """No data is grey and says so, gaps stay gaps, and no query makes a number out of nothing."""
    defaults = panel["fieldConfig"]["defaults"]
    assert defaults["noValue"] == "no data"
    assert defaults["thresholds"]["steps"][0] == {"color": GREY, "value": None}
    [missing] = defaults["mappings"]
    assert missing["options"] == {"match": "null+nan", "result": {"color": GREY, "text": "no data"}}
    if panel["type"] == "timeseries":
        assert defaults["custom"]["spanNulls"] is False
    for target in panel["targets"]:
        assert not re.search(r"\b(vector|absent\w*)\s*\(|\bor\b", target["expr"])


def test_prometheus_reads_every_query(tmp_path: Path) -> None:
    """Every query, with values for the variables, is valid PromQL."""
    rules = [{"record": f"panel:{number}", "expr": substituted(query)} for number, query in enumerate(expressions())]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    checked = answer("promtool", "check", "rules", tmp_path / "rules.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_queries_name_known_series_and_labels() -> None:
    """Panels use only metrics and labels of the contract, and ratios that the rules record."""
    known = known_series(Settings())
    for expression in expressions():
        assert named_series(expression) <= known.keys(), expression
        for series, label in asked_labels(expression):
            labels = known[series]
            assert labels is None or label in labels, f"{label} of {series}"


def test_every_metric_is_shown_or_recorded() -> None:
    """No metric of the contract is left out of the dashboards."""
    text = " ".join([*expressions(), (DIST / "rules" / "recording.yaml").read_text(encoding="utf-8")])
    assert [metric.prometheus for metric in semconv.METRICS if metric.prometheus not in text] == []


def test_shares_are_recorded() -> None:
    """No panel divides: every ratio has a recording rule, so that panel and alert show the same number."""
    assert [expression for expression in expressions() if "/" in expression] == []


@pytest.mark.parametrize("uid", sorted(BOARDS))
def test_dashboard_is_whole(uid: str) -> None:
    """A dashboard is named by its file, its panels are numbered once, queries have letters, and nothing overlaps."""
    board = BOARDS[uid]
    assert (board["uid"], board["editable"]) == (uid, False)
    numbers = [panel["id"] for panel in board["panels"]]
    assert numbers == list(range(1, len(numbers) + 1))
    for panel in board["panels"]:
        letters = [target["refId"] for target in panel.get("targets", [])]
        assert letters == ["A", "B", "C"][: len(letters)]
    cells = [
        (x, y)
        for panel in board["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_there_are_three() -> None:
    """Handoffs, stages, and the monitor itself."""
    titles = {uid: board["title"] for uid, board in BOARDS.items()}
    assert titles == {"rop-handoffs": "Handoffs", "rop-stages": "Stages", "rop-monitor": "The monitor itself"}


def test_variables_are_offered_and_used() -> None:
    """Service, handoff and stage can be chosen, and every variable of a query is one that its dashboard has."""
    for uid, board in BOARDS.items():
        offered = {variable["name"] for variable in board["templating"]["list"]}
        assert {"metrics", "traces", "service", "handoff"} <= offered
        assert ("stage" in offered) == (uid != "rop-monitor")
        used = set(re.findall(r"\$(\w+)", " ".join(t["expr"] for _, p in panels({uid: board}) for t in p["targets"])))
        assert used - {"__rate_interval", "__range"} <= offered
        for variable in board["templating"]["list"]:
            assert VARIABLES.get(f"${variable['name']}") in {
                None,
                variable.get("allValue"),
                variable["current"]["value"],
            }


@pytest.mark.parametrize("kind", ["tempo", "jaeger"])
def test_a_loss_leads_to_its_trace(kind: str) -> None:
    """The losses have exemplars, and links that ask the traces' data source for the handoff and its cause."""
    files = dashboard_files(Settings.model_validate({"traces": kind}))
    board = json.loads(files["dashboards/rop-handoffs.json"])
    by_title = {panel["title"]: panel for panel in board["panels"]}
    losses, table = by_title["Losses by stage and cause"], by_title["Where are they lost?"]
    assert losses["targets"][0]["exemplar"] is True
    for panel, place in ((losses, "__field.labels"), (table, "__data.fields")):
        [link] = [each for each in panel["fieldConfig"]["defaults"]["links"] if each["title"].startswith("Traces")]
        panes = json.loads(link["url"].partition("panes=")[2])
        [query] = panes["rop"]["queries"]
        assert query["datasource"] == {"type": kind, "uid": "${traces}"}
        assert f"${{{place}.rop_drop_cause}}" in json.dumps(query)
    sources = yaml.safe_load(files["provisioning/datasources/rop-otel.yaml"])["datasources"]
    assert sources[0]["jsonData"]["exemplarTraceIdDestinations"][0]["datasourceUid"] == sources[1]["uid"]
    assert sources[1]["type"] == kind


def test_grafana_finds_the_dashboards() -> None:
    """The provider reads the folder that the settings name, and lets nobody edit what is generated."""
    files = dashboard_files(Settings(dashboards_path="/srv/boards"))
    [provider] = yaml.safe_load(files["provisioning/dashboards/rop-otel.yaml"])["providers"]
    assert provider["options"]["path"] == "/srv/boards"
    assert provider["allowUiUpdates"] is False


def test_the_service_label_is_the_users() -> None:
    """Where resource attributes become labels, every query and variable uses that label and never the scrape job."""
    files = dashboard_files(Settings(service_label="service_name"))
    boards = [text for place, text in files.items() if place.startswith("dashboards/")]
    assert all("service_name" in text and not re.search(r"\bjob\b", text) for text in boards)
