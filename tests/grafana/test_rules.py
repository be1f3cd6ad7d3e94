"""Recording rules, alerts, routing and runbook."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from rop_otel_grafana import Settings, rule_files, write
from rop_otel_grafana.alerts import all_alerts, all_pages, citations, runs
from rop_otel_grafana.files import ROUTING

from rop_otel.core.profile.verdicts import RunStatus
from rop_otel.meters.points import _CITATION_OUTCOMES
from tests.grafana.committed import FOLDER, RULES
from tests.grafana.expressions import asked_labels, known_series, named_series
from tests.grafana.programs import answer

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
ALERTS = [alert for group in all_alerts(Settings()).values() for alert in group]
NAMES = sorted({alert.name for alert in ALERTS})
AWKWARD = 'say "yes"\n\\ {{ $value }} |'
OWN = Settings.model_validate(
    {
        "service_label": "service_name",
        "match": {"env": 'a"b'},
        "labels": {"team": "search"},
        "handoffs": {"docs.qa": {"target": 0.9}, AWKWARD: {}, "other": {"target": 0.5}},
        "fast": {"long": "20s", "short": "8s", "hold": "2s", "factor": 2, "ceiling": 0.5, "least": 1},
    }
)


def rules_of(folder: Path, name: str) -> list[dict[str, Any]]:
    document = yaml.safe_load((folder / name).read_text(encoding="utf-8"))
    return [rule for group in document["groups"] for rule in group["rules"]]


def scenarios(path: Path) -> list[dict[str, Any]]:
    tests: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]
    return tests


def test_prometheus_accepts_the_rules() -> None:
    """The committed rules are valid and have no duplicates."""
    checked = answer("promtool", "check", "rules", RULES / "recording.yaml", RULES / "alerts.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_prometheus_accepts_the_rules_of_any_settings(tmp_path: Path) -> None:
    """Names with quotes, newlines and special characters, several targets and short windows give valid rules."""
    write(tmp_path, rule_files(OWN))
    checked = answer("promtool", "check", "rules", tmp_path / "recording.yaml", tmp_path / "alerts.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_prometheus_accepts_every_file_beside_the_rules() -> None:
    """Who loads the whole folder, as with ``rule_files: [rop-otel/*.yaml]``, loads rules only."""
    beside = [path for path in RULES.iterdir() if path.is_file()]
    assert {path.name for path in beside} == {"recording.yaml", "alerts.yaml"}
    checked = answer("promtool", "check", "rules", *beside)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("folder", ["committed", "own"])
def test_alertmanager_accepts_the_routing(folder: str, tmp_path: Path) -> None:
    """The example routing is valid, as committed and for a user's own labels."""
    write(tmp_path, rule_files(OWN))
    checked = answer("amtool", "check-config", (RULES if folder == "committed" else tmp_path) / ROUTING)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (["alertname=ContextStarved", "severity=warning"], "retrieval"),
        (["alertname=ScopeLeak", "severity=critical"], "retrieval-page"),
        (["alertname=MonitorErrors", "severity=warning"], "monitor"),
    ],
)
def test_alerts_reach_their_receiver(labels: list[str], receiver: str) -> None:
    """Critical alerts page, and the monitor's own errors go to whoever runs it."""
    routed = answer("amtool", "config", "routes", "test", "--config.file", RULES / ROUTING, *labels)
    assert routed.stdout.split() == [receiver]


def test_a_failed_run_speaks_for_its_stages(tmp_path: Path) -> None:
    """Messages are grouped by handoff, and a failed run holds back alerts about stages of the same service only."""
    config = yaml.safe_load(rule_files(OWN)[ROUTING])
    assert config["route"]["group_by"] == ["service_name", "rop_handoff_name"]
    held_back = config["inhibit_rules"][0]
    assert (held_back["source_matchers"], held_back["equal"]) == (['alertname="RunFailed"'], ["service_name"])
    [names] = re.findall(r'alertname=~"(.*)"', held_back["target_matchers"][0])
    assert set(names.split("|")) < set(NAMES)
    assert "ScopeLeak" not in names


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_alert_fires_when_it_should(path: Path) -> None:
    """An alert fires at its moment, not just before it, and never for what is near it."""
    tested = answer("promtool", "test", "rules", path.name, folder=path.parent)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_ratios_are_right_or_absent() -> None:
    """A recorded ratio is the exact share over all processes, and there is none where nothing happened."""
    tested = answer("promtool", "test", "rules", "recording.yaml", folder=Path(__file__).parent)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_every_alert_has_cases() -> None:
    """There is a file of cases for every alert: one that fires right after it did not, and one that never does."""
    assert [path.stem for path in CASES] == NAMES
    for path in CASES:
        expected = [[check["exp_alerts"] for check in test["alert_rule_test"]] for test in scenarios(path)]
        assert all(checks[0] == [] for checks in expected), path.stem
        assert any(checks[1] for checks in expected if len(checks) > 1), path.stem
        assert any(not any(checks) for checks in expected), path.stem


@pytest.mark.parametrize(
    ("name", "label", "values"),
    [
        ("SelectedObjectDropsBeforeReader", "speed", {"fast", "slow", "first"}),
        ("HandoffsUndecided", "undecided", {"share", "only"}),
    ],
)
def test_every_rule_of_an_alert_is_seen_firing(name: str, label: str, values: set[str]) -> None:
    """Each rule of an alert with several fires in a case of its own."""
    fired = {
        alert["exp_labels"].get(label)
        for test in scenarios(CASES[NAMES.index(name)])
        for check in test["alert_rule_test"]
        for alert in check["exp_alerts"]
    }
    assert fired == values


def test_every_alert_says_what_a_paged_person_needs() -> None:
    """Each alert has a hold, a severity, a summary, a description with the service, and its heading in the runbook."""
    headings = re.findall(r"^## (\w+)$", (FOLDER / "runbook.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(headings) == NAMES
    for rule in rules_of(RULES, "alerts.yaml"):
        assert rule["for"] != "0s"
        assert rule["labels"]["severity"] in {"critical", "warning"}
        notes = rule["annotations"]
        assert notes["runbook_url"] == f"runbook.md#{rule['alert'].lower()}"
        assert "$labels.job" in notes["summary"]
        assert "$labels.job" in notes["description"]
        if not rule["alert"].startswith(("Run", "Monitor")):
            assert "rop_handoff_name" in notes["description"]
            assert "stage" in notes["description"]
            assert "cause" in notes["description"]


def test_runbook_pages_are_complete() -> None:
    """Each page says what the alert means, how to see it and what to try."""
    assert all(page.means and page.see and len(page.attempts) > 1 for page in all_pages(Settings()))


@pytest.mark.parametrize("settings", [Settings(), OWN], ids=["default", "own"])
def test_expressions_name_known_series_and_labels(settings: Settings) -> None:
    """Rules, alerts and runbook use only metrics and labels of the contract, and ratios that are recorded."""
    known = known_series(settings)
    files = rule_files(settings)
    rules = [
        rule
        for name in ("recording.yaml", "alerts.yaml")
        for group in yaml.safe_load(files[name])["groups"]
        for rule in group["rules"]
    ]
    expressions = [rule["expr"] for rule in rules]
    expressions += [query for page in all_pages(settings) for _, query in page.see if query != "up"]
    for expression in expressions:
        assert named_series(expression) <= known.keys(), expression
        for series, label in asked_labels(expression):
            labels = known[series]
            assert labels is None or label in labels | settings.match.keys(), f"{label} of {series}"
    recorded = {rule["record"] for rule in rules if "record" in rule}
    assert recorded == {name for name, labels in known.items() if labels is None}


def test_runbook_queries_are_valid(tmp_path: Path) -> None:
    """Prometheus reads every query of the runbook."""
    queries = [query for page in all_pages(Settings()) for _, query in page.see]
    rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "runbook", "rules": rules}]}))
    checked = answer("promtool", "check", "rules", tmp_path / "rules.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_values_in_matchers_exist() -> None:
    """Outcomes and statuses that alerts ask for are those that are counted."""
    assert {citations.WRONG, *citations.NOWHERE} <= set(_CITATION_OUTCOMES)
    assert {runs.FAIL, *runs.UNKNOWN} <= {status.value for status in RunStatus}


def test_own_labels_are_on_every_alert(tmp_path: Path) -> None:
    """A user's labels reach routing through every alert."""
    write(tmp_path, rule_files(OWN))
    assert {rule["labels"]["team"] for rule in rules_of(tmp_path, "alerts.yaml")} == {"search"}


def test_targets_are_the_handoffs_own(tmp_path: Path) -> None:
    """Each handoff is held to its own target, and those without one to the general one."""
    write(tmp_path, rule_files(OWN))
    burning = [rule for rule in rules_of(tmp_path, "alerts.yaml") if rule["labels"].get("speed") == "fast"]
    assert [rule["labels"]["target"] for rule in burning] == ["0.5", "0.9", "0.95"]
    matchers = [re.findall(r"rop_handoff_name(=~|!~)\"([^\"]*)\"", rule["expr"])[0] for rule in burning]
    assert matchers == [("=~", "other"), ("=~", r"docs\\.qa"), ("!~", r"docs\\.qa|other")]
