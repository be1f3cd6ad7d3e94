"""The verbs ``rop-otel rules`` and ``rop-otel dashboards`` from the outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from rop_otel_grafana import Settings, dashboard_files, rule_files

from tests.grafana.programs import answer

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-c", "from rop_otel.cli.main import main; main()"]


def run(*arguments: str | Path, before: str = "") -> subprocess.CompletedProcess[str]:
    command = [*COMMAND[:2], f"{before}{COMMAND[2]}", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'grafana'}"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


def written(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()
    }


def test_both_verbs_write_what_is_committed(tmp_path: Path) -> None:
    """Without settings they write what the repository holds, into a folder that they make."""
    for verb, files in (("rules", rule_files(Settings())), ("dashboards", dashboard_files(Settings()))):
        result = run(verb, tmp_path / verb / "new")
        assert (result.returncode, result.stderr) == (0, "")
        assert all(name in result.stdout for name in files)
        assert written(tmp_path / verb / "new") == files


def test_rules_for_own_names_targets_and_labels(tmp_path: Path) -> None:
    """Options take the place of what the file says, and the result is valid."""
    config = tmp_path / "rop.toml"
    config.write_text('target = 0.8\nservice_label = "service_name"\n[absent]\nwindow = "30m"\n', encoding="utf-8")
    options = ["--target", "0.9", "--handoff", 'say "x"=0.99', "--label", "team=search", "--runbook", "https://w/run"]
    result = run("rules", tmp_path / "out", "--config", config, *options)
    assert (result.returncode, result.stderr) == (0, "")
    alerts = yaml.safe_load((tmp_path / "out" / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    rules = [rule for group in alerts for rule in group["rules"]]
    assert {rule["labels"]["team"] for rule in rules} == {"search"}
    assert {rule["labels"].get("target") for rule in rules} == {None, "0.9", "0.99"}
    assert all(rule["annotations"]["runbook_url"].startswith("https://w/run#") for rule in rules)
    assert any(
        'absent_over_time(rop_handoff_verdicts_total{rop_handoff_name="say \\"x\\""}[30m])' in r["expr"] for r in rules
    )
    checked = answer(
        "promtool", "check", "rules", tmp_path / "out" / "alerts.yaml", tmp_path / "out" / "recording.yaml"
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_dashboards_for_own_settings(tmp_path: Path) -> None:
    """The folder in which Grafana looks, the service label and the target reach the files."""
    result = run("dashboards", tmp_path, "--path", "/srv/boards", "--service-label", "service_name", "--target", "0.7")
    assert result.returncode == 0
    assert "/srv/boards" in (tmp_path / "provisioning/dashboards/rop-otel.yaml").read_text(encoding="utf-8")
    board = json.loads((tmp_path / "dashboards/rop-handoffs.json").read_text(encoding="utf-8"))
    steps = board["panels"][1]["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert steps[-1] == {"color": "green", "value": 0.7}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "1.5"], "target: Input should be less than 1, got 1.5"),
        (["--handoff", "docs"], "--handoff 'docs': write NAME=TARGET"),
        (["--handoff", "docs=much"], "handoffs.docs.target"),
        (["--label", "severity=page"], "rop-otel: labels already taken by the alerts themselves: severity"),
        (["--config", "missing.toml"], "rop-otel: missing.toml: No such file or directory"),
    ],
)
def test_a_wrong_setting_is_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    """A setting that cannot be used is named on one line, and nothing is written."""
    result = run("rules", tmp_path / "out", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert message in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("targt = 0.9", "rop-otel: setting targt: there is none of this name; did you mean target?"),
        ("[fast]\nwindow = '1m'", "setting fast.window: there is none of this name"),
        ("[handoffs.docs]\ntarget = 95", "setting handoffs.docs.target: Input should be less than 1, got 95"),
        ("[handoffs.'']", "rop-otel: setting handoffs: a handoff has a name"),
        ("run_hold = '2h'", "rop-otel: a run alerts for 1h, so it cannot be held back for 2h"),
    ],
)
def test_a_wrong_setting_of_a_file_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    """A name that is no setting is said to be none, and values that clash are told without the whole file."""
    config = tmp_path / "rop.toml"
    config.write_text(text, encoding="utf-8")
    result = run("rules", tmp_path / "out", "--config", config)
    assert result.returncode == 2
    assert message in result.stderr.splitlines()[0]
    assert "Value error" not in result.stderr


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    """The file is named, with the line."""
    config = tmp_path / "rop.toml"
    config.write_text("target = \n", encoding="utf-8")
    result = run("dashboards", tmp_path / "out", "--config", config)
    assert result.returncode == 2
    assert f"{config}: not TOML" in result.stderr
    assert "line 1" in result.stderr


@pytest.mark.parametrize(("verb", "library"), [("rules", "yaml"), ("dashboards", "grafana_foundation_sdk")])
def test_a_missing_library_names_the_extra(verb: str, library: str, tmp_path: Path) -> None:
    """Without the extra the verb says how to install it; rules need no Grafana library."""
    result = run(verb, tmp_path / "out", before=f"import sys; sys.modules[{library!r}] = None\n")
    assert result.returncode == 2
    assert "pip install '<checkout>[grafana]'" in result.stderr
    without_grafana = run("rules", tmp_path, before="import sys; sys.modules['grafana_foundation_sdk'] = None\n")
    assert without_grafana.returncode == 0
