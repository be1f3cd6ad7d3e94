"""Links from panels and alerts to the handoffs on the page of ``rop-otel monitor``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
import yaml
from rop_otel_grafana import Settings, dashboard_files, rule_files
from rop_otel_grafana.promql import CAUSE, DROPPED_AT, FINDING, HANDOFF, RUN, STAGE, VERDICT

import rop_otel.page
from rop_otel import DropCause, Verdict
from rop_otel.core.handoff.advice import FINDING_WORDS
from tests.grafana.committed import DIST

FILTERS_OF_THE_PAGE = Path(rop_otel.page.__file__).parent / "assets" / "app" / "filters.js"
PAGE = Settings().page_url
LABELS = {
    HANDOFF: "docs & more #1",
    VERDICT: Verdict.UNVERIFIABLE.value,
    DROPPED_AT: "mmr",
    CAUSE: DropCause.DIVERSIFIED_AWAY.value,
    FINDING: "passage_cut",
    STAGE: "packing",
    RUN: "2026-12-01/a+b",
}
"""Values of labels, some of which an address cannot hold as they are."""

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))


def known_filters() -> set[str]:
    """Return the names of the filters that the page knows."""
    [tests] = re.findall(r"rop\.TESTS = \{(.*?)\n  \};", FILTERS_OF_THE_PAGE.read_text(encoding="utf-8"), flags=re.S)
    return set(re.findall(r"^ {4}(\w+): ", tests, flags=re.M))


def filled(link: str) -> str:
    """Return a panel's link as Grafana fills it in: the variable, and the labels of a series or of a row."""
    link = link.replace("${page:raw}", PAGE)
    return re.sub(r"\$\{__(?:field\.labels|data\.fields)\.(\w+):percentencode\}", lambda m: quote(LABELS[m[1]]), link)


def panel_links(settings: Settings | None = None) -> Iterator[tuple[str, str]]:
    """Give the links to the page, with the panel's title."""
    for place, text in dashboard_files(settings or Settings()).items():
        if place.startswith("dashboards/"):
            for panel in json.loads(text)["panels"]:
                for link in panel.get("fieldConfig", {}).get("defaults", {}).get("links", []):
                    if "#/handoffs" in link["url"]:
                        yield panel["title"], link["url"]


def fired() -> Iterator[tuple[str, Mapping[str, str], str]]:
    """Give each alert of the cases with its labels and its link, both as Prometheus writes them."""
    for path in CASES:
        for test in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
            for check in test["alert_rule_test"]:
                for alert in check["exp_alerts"]:
                    if path.stem != "MonitorErrors":
                        yield path.stem, alert["exp_labels"], alert["exp_annotations"]["page_url"]


def followed(address: str) -> dict[str, str]:
    """Return the filters that the page reads from an address."""
    split = urlsplit(address)
    assert (f"{split.scheme}://{split.netloc}", split.path) == (PAGE, "/")
    view, _, query = split.fragment.partition("?")
    assert view == "/handoffs"
    given = parse_qsl(query, keep_blank_values=True, strict_parsing=True)
    filters = dict(given)
    assert len(filters) == len(given)
    assert filters.keys() <= known_filters()
    assert filters.get("verdict", "PASS") in {verdict.value for verdict in Verdict}
    assert filters.get("cause", DropCause.UNUSED) in {cause.value for cause in DropCause}
    assert filters.get("finding", "passage_cut").partition("@")[0] in {code.value for code in FINDING_WORDS}
    return filters


def test_the_page_knows_its_filters() -> None:
    """Those that the links are made of are found where the page has them."""
    assert {"verdict", "at", "cause", "finding", "name", "run"} <= known_filters()


@pytest.mark.parametrize(
    ("title", "filters"),
    [
        ("Selected-return rate", {"verdict": "FAIL", "name": LABELS[HANDOFF]}),
        ("Selected objects lost", {"verdict": "FAIL"}),
        ("Wrong citations", {"finding": "label_misattributed", "name": LABELS[HANDOFF]}),
        ("Selected-return rate over time", {"verdict": "FAIL", "name": LABELS[HANDOFF]}),
        ("Verdicts", {"verdict": LABELS[VERDICT], "name": LABELS[HANDOFF]}),
        *(
            (title, {"verdict": "FAIL", "at": "mmr/*", "cause": "diversified_away", "name": LABELS[HANDOFF]})
            for title in ("Losses by stage and cause", "Where are they lost?")
        ),
        *(
            (title, {"finding": "passage_cut@packing", "name": LABELS[HANDOFF]})
            for title in ("What the prompt holds", "Findings", "Fallbacks")
        ),
        ("Neither PASS nor FAIL", {"verdict": "UNVERIFIABLE", "name": LABELS[HANDOFF]}),
        ("Runs", {"run": LABELS[RUN]}),
        ("Records of runs", {"run": LABELS[RUN]}),
    ],
)
def test_a_panel_leads_to_its_handoffs(title: str, filters: dict[str, str]) -> None:
    """Whatever a label holds, the page gets it as the filter of the same meaning."""
    assert followed(filled(dict(panel_links())[title])) == filters


def test_every_link_of_a_panel_is_followed() -> None:
    """There is no link beside those whose meaning is written down above, and each dashboard offers the address."""
    [written] = [mark for mark in test_a_panel_leads_to_its_handoffs.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]  # pytest's marks
    assert {title for title, _ in panel_links()} == {title for title, _ in written.args[1]}
    for name in ("rop-handoffs", "rop-stages"):
        board = json.loads((DIST / "dashboards" / f"{name}.json").read_text(encoding="utf-8"))
        [variable] = [each for each in board["templating"]["list"] if each["name"] == "page"]
        assert (variable["type"], variable["query"]) == ("textbox", PAGE)


def test_every_alert_leads_to_its_handoffs() -> None:
    """The link of an alert, as Prometheus writes it, names the alert's own handoff, stage, cause and finding."""
    seen = set()
    for name, labels, address in fired():
        filters = followed(address)
        seen.add(name)
        asked = {"name": HANDOFF, "cause": CAUSE, "run": RUN}
        if "at" in filters:
            assert filters["at"] == f"{labels.get(DROPPED_AT) or '-'}/*", name
        for each, label in asked.items():
            if each in filters:
                assert filters[each] == (labels.get(label) or "-"), (name, each)
        assert {"name", "run"} & filters.keys(), name
        if FINDING in labels:
            assert filters["finding"] == f"{labels[FINDING]}@{labels[STAGE]}", name
        if DROPPED_AT in labels and name == "SelectedObjectDropsBeforeReader":
            assert filters.keys() == {"verdict", "at", "cause", "name"}
    assert seen == {path.stem for path in CASES} - {"MonitorErrors"}


def test_only_alerts_about_handoffs_have_a_link() -> None:
    """The monitor's own errors are no handoffs; every other rule has a link."""
    groups = yaml.safe_load((DIST / "rules" / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    without = {rule["alert"] for group in groups for rule in group["rules"] if "page_url" not in rule["annotations"]}
    assert without == {"MonitorErrors"}


def test_the_address_is_the_users() -> None:
    """The setting is where every link leads; an empty one leaves the links and the variable out."""
    own = Settings(page_url="https://rop.example/page")
    assert '"query": "https://rop.example/page"' in dashboard_files(own)["dashboards/rop-handoffs.json"]
    assert "https://rop.example/page/#/handoffs?run=" in rule_files(own)["alerts.yaml"]
    none = Settings(page_url="")
    assert list(panel_links(none)) == []
    assert "page_url" not in rule_files(none)["alerts.yaml"]
    assert not any("${page" in text or '"textbox"' in text for text in dashboard_files(none).values())
