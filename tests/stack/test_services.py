"""The example of two services, through the collector, and ended in the middle of its work."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rop_otel.replay import replay_files
from tests.collector.collector import collector
from tests.grafana.prometheus import until


def test_replay_joins_both_services(example: dict[str, Any], tmp_path: Path) -> None:
    """From the collector's file, replay sees the retriever's own stages below the reader's, and the same verdicts."""
    service, ask, questions = example["service"], example["ask"], example["QUESTIONS"]
    layers = ("agent.yaml", "backends.yaml", "extras.yaml")
    with collector(tmp_path, layers) as running:
        with (
            service("retriever", running.endpoint) as retriever,
            service("reader", running.endpoint, RETRIEVER=retriever) as url,
        ):
            live = Counter(ask(url, question) for question in questions)
        until(running.traces.exists, within=120, what="a file of spans")
    report = replay_files([str(running.traces)])
    assert Counter(str(assessment.verdict) for assessment in report.assessments) == live
    assert (report.orphan_stages, report.incomplete) == (0, ())
    stages = {tuple(stage.stage for stage in assessment.stages) for assessment in report.assessments}
    assert stages == {("lexical", "vector", "fusion", "packing")}


def test_no_finished_handoff_is_lost_at_the_end(example: dict[str, Any]) -> None:
    """Ended while questions come in, the reader's workers have told of every handoff that was answered."""
    service, ask, questions = example["service"], example["ask"], [*example["QUESTIONS"]]
    answered: Counter[str] = Counter()
    with example["Receiver"]() as received, ThreadPoolExecutor(4) as pool:

        def asked(question: str) -> None:
            try:
                answered[ask(url, question)] += 1
            except (OSError, ValueError):
                return  # the service was ended before it answered

        with service("retriever", received.url) as retriever:
            with service("reader", received.url, RETRIEVER=retriever) as url:
                asking = [pool.submit(asked, question) for question in questions * 500]
                until(lambda: answered.total() > 20, within=120, what="some answers")
            for each in asking:
                each.result()
        told = sum((Counter(counts) for counts in received.verdicts().values()), Counter[str]())
    assert 20 < answered.total() < len(asking)
    assert all(told[verdict] >= count for verdict, count in answered.items())
