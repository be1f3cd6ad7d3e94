"""The whole stack on free loopback ports: application, collector, monitor, Prometheus, Alertmanager, webhook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from rop_otel_grafana import Settings, rule_files, write
from rop_otel_grafana.files import ROUTING

from rop_otel.reference.corpus import read_standard_library
from tests.collector.collector import Collector, collector
from tests.collector.sending import Program, program
from tests.grafana.prometheus import Prometheus, prometheus
from tests.monitor.served import Served
from tests.stack.alertmanager import Webhook, alertmanager, webhook
from tests.stack.application import MODULES, SERVICE

APPLICATION = Path(__file__).with_name("application.py")
SCRAPED, MONITORED = "docs-rag-scraped", "docs-rag-monitored"
LAYERS = ("agent.yaml", "gateway.yaml", "privacy.yaml", "sampling.yaml", "backends.yaml", "extras.yaml")
"""Of the collector: all of them."""

FAULT = "prefix_cut"
STAGE, CAUSE = "packing", "over_budget"
"""A fault, and where and why the selected object is lost then."""

JOBS = {"/metrics": SCRAPED, "OTLP": SERVICE, "monitor": MONITORED}
"""The name under which Prometheus knows the application, by the way in which its metrics came: assessed in its process,
and again by the monitor, of its spans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """What runs.

    Args:
        application: Takes the lines that its module tells.
        port: Of its /metrics.
        collector, monitor, prometheus, webhook: Beside it.
        alertmanager: Its port.
    """

    application: Program
    port: int
    collector: Collector
    monitor: Served
    prometheus: Prometheus
    webhook: Webhook
    alertmanager: int


def short(url: str, *, page: str = "") -> Settings:
    """Return the committed settings with windows that one can wait for, a webhook, and the address of the page."""
    return Settings.model_validate(
        {
            "interval": "1s",
            "fast": {"long": "20s", "short": "8s", "hold": "3s", "factor": 4, "ceiling": 0.5},
            "slow": {"long": "40s", "short": "15s", "hold": "15m", "factor": 2, "ceiling": 0.25},
            "absent": {"hold": "1s"},
            "recall": {"hold": "1s"},
            "webhook": url,
            "page_url": page,
        }
    )


@contextmanager
def stack(folder: Path) -> Iterator[Stack]:
    """Run everything in a folder.

    The collector removes text, sends every span to the monitor, keeps failing traces and writes them to a file, which
    takes the resolver beside it to assess.
    """
    resolver = folder / "resolver.json"
    resolver.write_bytes(read_standard_library(modules=MODULES).resolver.to_bytes())
    with (
        webhook() as told,
        Served(folder / "monitor.db", "--resolver", str(resolver), quiet=1.0) as monitor,
        collector(
            folder / "collector",
            LAYERS,
            ROP_COLLECTOR_MONITORS=f"[{monitor.grpc}]",
            ROP_COLLECTOR_DECISION_WAIT="10s",
            ROP_COLLECTOR_KEEP_PERCENT="20",
        ) as collecting,
        program(APPLICATION, str(folder), endpoint=collecting.endpoint) as application,
    ):
        port: int = application.ask("port")
        rules = folder / "rules"
        write(rules, rule_files(short(told.url, page=monitor.url)))
        targets = {SCRAPED: port, MONITORED: int(monitor.url.rpartition(":")[2])}
        routing = _impatient(rules / ROUTING)
        with (
            alertmanager(folder, routing) as alerts_to,
            prometheus(
                folder, rules=rules, targets=targets, collector=collecting.metrics, alerts_to=alerts_to
            ) as server,
        ):
            yield Stack(
                application=application,
                port=port,
                collector=collecting,
                monitor=monitor,
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
