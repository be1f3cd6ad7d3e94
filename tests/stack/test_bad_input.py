"""What goes wrong around the monitor, with real programs: nothing breaks, little grows, and the monitor says so."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from rop_otel_grafana import rule_files, write

from rop_otel import semconv
from rop_otel.replay import replay_files
from tests.collector.collector import Collector, collector
from tests.collector.sending import Program, program
from tests.collector.test_spans import PLAIN, kept
from tests.export.scraping import value
from tests.grafana.prometheus import Prometheus, free_port, prometheus, until
from tests.stack.stack import short

APPLICATION = Path(__file__).parents[1] / "collector" / "both_ways.py"
SCRAPED = "scraped"
SPANS = 10 * 6
"""Of ten questions, which one line to the application asks."""

ACCEPTED, REFUSED = "otelcol_receiver_accepted_spans_total", "otelcol_receiver_refused_spans_total"

NAME = 'say "docs" and \\ all'
"""The name of the application's odd handoff."""

SKEWED = """
processors:
  transform/privacy:
    trace_statements:
      - context: span
        conditions:
          - resource.attributes["service.name"] == "retriever"
        statements:
          - set(start_time_unix_nano, start_time_unix_nano {shift})
          - set(end_time_unix_nano, end_time_unix_nano {shift})
"""
HOUR = 3600 * 10**9


def test_a_full_disk_is_counted_and_passes(tmp_path: Path) -> None:
    """While its queue cannot grow, the collector refuses and the application counts; with room again, all goes on."""
    (tmp_path / "agent").mkdir()
    port = free_port()
    agent = Collector(tmp_path / "agent", ("agent.yaml", "extras.yaml"), ROP_COLLECTOR_NEXT=f"127.0.0.1:{port}")
    agent.start()
    made = 0
    try:
        agent.limit_files(256 * 1024)
        with program(APPLICATION, endpoint=agent.endpoint, OTEL_EXPORTER_OTLP_TIMEOUT="3") as application:

            def unsent() -> float:
                return value(application.ask("port"), semconv.SELF_UNSENT.prometheus) or 0

            def refused() -> bool:
                nonlocal made
                application.ask("go")
                made += SPANS
                return unsent() > 0 and (value(agent.own, REFUSED) or 0) > 0

            def accounted_for() -> bool:
                return (value(agent.own, ACCEPTED) or 0) + unsent() >= made

            until(refused, within=120, what="the collector refuses, and the application counts what it cannot send")
            until(accounted_for, within=120, what="each span is accepted or counted")
            assert agent.ready()
            agent.limit_files(-1)
            lifted = time.time_ns()
            with collector(tmp_path / "next", PLAIN, grpc=port) as after:
                application.ask("go")

                def new() -> int:
                    return sum(int(span["startTimeUnixNano"]) > lifted for span in kept(after.traces))

                until(lambda: new() >= SPANS, within=120, what="what was made since then has arrived")
    finally:
        agent.stop()


@contextmanager
def watched(folder: Path) -> Iterator[tuple[Program, int, Prometheus]]:
    """Run the application, a collector and a Prometheus that sees it both ways; gives the port of /metrics too."""
    write(folder / "rules", rule_files(short("http://localhost/")))
    with (
        collector(folder / "collector") as running,
        program(APPLICATION, endpoint=running.endpoint) as application,
    ):
        port: int = application.ask("go")
        with prometheus(
            folder, rules=folder / "rules", targets={SCRAPED: port}, collector=running.metrics, every="5s"
        ) as server:
            yield application, port, server


def test_odd_names_reach_prometheus(tmp_path: Path) -> None:
    """Quotes, ten thousand kinds of stages: Prometheus has the name, few series, and the number of others."""
    with watched(tmp_path) as (application, _, server):
        application.ask("odd")

        def by_job(query: str) -> dict[str, float]:
            return {series["metric"]["job"]: float(series["value"][1]) for series in server.query(query)}

        def same_by_both(query: str) -> float | None:
            found = by_job(query)
            return found.popitem()[1] if len(found) == 2 and len({*found.values()}) == 1 else None

        others = f"{semconv.SELF_OTHER.prometheus} > 9000"
        until(lambda: same_by_both(others), within=120, what="the number of others by both ways")
        names = f"count by (job, rop_handoff_name) ({semconv.VERDICTS.prometheus})"
        until(lambda: len(server.query(names)) == 4, within=120, what="two names by both ways")
        assert Counter(series["metric"]["rop_handoff_name"] for series in server.query(names)) == {"docs": 2, NAME: 2}
        kinds = f"count by (job) (count by (job, rop_stage) ({semconv.STAGE_EXECUTIONS.prometheus}))"
        until(lambda: same_by_both(kinds) == 33, within=120, what="as many kinds by both ways as may be told apart")


def test_slow_scrapes_hold_nobody_up(tmp_path: Path) -> None:
    """While scrapes that do not go on pile up, the application answers, and a real Prometheus gets its own."""
    with watched(tmp_path) as (application, port, server), ExitStack() as slow:
        for _ in range(30):
            slow.enter_context(slow_scrape(port))
        for _ in range(5):
            assert application.ask("go") == port
        answered = f'{semconv.VERDICTS.prometheus}{{job="{SCRAPED}",rop_handoff_name="docs"}}'

        def scraped() -> float:
            return sum(float(series["value"][1]) for series in server.query(answered))

        until(lambda: scraped() == 60, within=120, what="what was answered meanwhile")


@contextmanager
def slow_scrape(port: int) -> Iterator[None]:
    """Begin to ask for /metrics, and stop in the middle; the server's thread waits until this ends."""
    with socket.create_connection(("127.0.0.1", port)) as scraper:
        scraper.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
        yield


@pytest.mark.parametrize(
    ("shift", "stages", "late"),
    [
        (f"- {HOUR}", ("lexical", "vector", "fusion", "packing"), 0),
        (f"+ {HOUR}", ("retriever", "packing"), 3),
    ],
    ids=["behind", "ahead"],
)
def test_a_clock_that_is_wrong_changes_no_verdict(
    example: dict[str, Any], tmp_path: Path, shift: str, stages: tuple[str, ...], late: int
) -> None:
    """With the retriever's clock an hour behind, replay sees its stages in order; ahead, as late; verdicts stay."""
    (tmp_path / "skewed.yaml").write_text(SKEWED.format(shift=shift), encoding="utf-8")
    service, ask, questions = example["service"], example["ask"], example["QUESTIONS"]
    with collector(tmp_path / "collector", ("agent.yaml", "backends.yaml", tmp_path / "skewed.yaml")) as running:
        with (
            service("retriever", running.endpoint) as retriever,
            service("reader", running.endpoint, RETRIEVER=retriever) as url,
        ):
            live = Counter(ask(url, question) for question in questions)
        until(running.traces.exists, within=120, what="a file of spans")
    report = replay_files([str(running.traces)])
    assert Counter(str(assessment.verdict) for assessment in report.assessments) == live
    assert (report.orphan_stages, report.incomplete) == (0, ())
    assert {tuple(stage.stage for stage in assessment.stages) for assessment in report.assessments} == {stages}
    found = [[str(finding.code) for finding in assessment.findings] for assessment in report.assessments]
    assert found == [["stage_late"] * late] * len(questions)
