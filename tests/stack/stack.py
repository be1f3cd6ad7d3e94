"""The whole stack on free loopback ports: application, collector, Prometheus, Alertmanager, webhook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from rop_otel_grafana import Settings, rule_files, write
from rop_otel_grafana.files import ROUTING

from tests.collector.collector import Collector, collector
from tests.collector.sending import Program, program
from tests.grafana.prometheus import Prometheus, prometheus
from tests.stack.alertmanager import Webhook, alertmanager, webhook
from tests.stack.application import SERVICE

APPLICATION = Path(__file__).with_name("application.py")
SCRAPED = "docs-rag-scraped"

FAULT = "prefix_cut"
STAGE, CAUSE = "packing", "over_budget"
"""A fault, and where and why the selected object is lost then."""

JOBS = {"/metrics": SCRAPED, "OTLP": SERVICE}
"""The name under which Prometheus knows the application, by the way in which its metrics came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """What runs.

    Args:
        application: Takes the lines that its module tells.
        port: Of its /metrics.
        collector, prometheus, webhook: Beside it.
        alertmanager: Its port.
    """

    application: Program
    port: int
    collector: Collector
    prometheus: Prometheus
    webhook: Webhook
    alertmanager: int


def short(url: str) -> Settings:
    """Return the committed settings with windows that one can wait for, and a webhook."""
    return Settings.model_validate(
        {
            "interval": "1s",
            "fast": {"long": "20s", "short": "8s", "hold": "3s", "factor": 4, "ceiling": 0.5},
            "absent": {"hold": "1s"},
            "recall": {"hold": "1s"},
            "webhook": url,
        }
    )


@contextmanager
def stack(folder: Path) -> Iterator[Stack]:
    """Run everything in a folder; the collector removes text, keeps failing traces and writes them to a file."""
    settings = {"ROP_COLLECTOR_DECISION_WAIT": "10s", "ROP_COLLECTOR_KEEP_PERCENT": "20"}
    with (
        webhook() as told,
        collector(folder / "collector", **settings) as collecting,  # type: ignore[arg-type]  # variables, by name
        program(APPLICATION, str(folder), endpoint=collecting.endpoint) as application,
    ):
        port: int = application.ask("port")
        rules = folder / "rules"
        write(rules, rule_files(short(told.url)))
        routing = _impatient(rules / ROUTING)
        with (
            alertmanager(folder, routing) as alerts_to,
            prometheus(
                folder, rules=rules, targets={SCRAPED: port}, collector=collecting.metrics, alerts_to=alerts_to
            ) as server,
        ):
            yield Stack(
                application=application,
                port=port,
                collector=collecting,
                prometheus=server,
                webhook=told,
                alertmanager=alerts_to,
            )


def _impatient(routing: Path) -> Path:
    """Have the generated routing tell at once what begins and what ends."""
    config = yaml.safe_load(routing.read_text(encoding="utf-8"))
    config["route"] |= {"group_wait": "0s", "group_interval": "1s"}
    routing.write_text(yaml.safe_dump(config), encoding="utf-8")
    return routing
