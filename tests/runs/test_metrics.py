"""Runs on ``/metrics``, as Prometheus sees them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rop_otel as rop
from tests.export.scraping import samples, value
from tests.runs.audit import answer


@pytest.fixture
def port() -> Iterator[int]:
    """Serve ``/metrics`` for one test."""
    port = rop.configure(metrics_port=0).metrics_port
    assert port is not None
    yield port
    rop.shutdown()


def test_a_run_is_scraped_while_it_goes_on(port: int) -> None:
    """Counts move while the run goes on, and stay after it; one status is 1."""

    def count(verdict: str) -> float | None:
        return value(port, "rop_run_records", run_id="nightly", verdict=verdict)

    with rop.run("nightly", expected=["a", "b", "c"]):
        assert (count("MISSING"), count("STARTED")) == (3, 0)
        answer("a", "x", ["x"])
        with rop.handoff("qa", record_id="b", selected="x"):
            assert (count("MISSING"), count("STARTED"), count("FINISHED"), count("PASS")) == (2, 2, 1, 1)
        answer("d", "x", ["x"])
        answer("a", "x", ["x"])
    assert (count("MISSING"), count("REPEATED"), count("UNEXPECTED")) == (1, 1, 1)
    status = {sample.labels["rop_status"]: sample.value for sample in samples(port)["rop_run_status"]}
    assert status == {
        "RUN_INVALID": 1,
        "NOT_APPLICABLE": 0,
        "RUN_FAIL": 0,
        "RUN_UNVERIFIABLE": 0,
        "RUN_PASS": 0,
    }


def test_a_name_that_no_label_can_carry(port: int) -> None:
    """Half a surrogate pair in a run's ID does not break the scrape."""
    with rop.run("night\ud800ly", expected=["a"]):
        assert value(port, "rop_run_status", run_id="night?ly", status="RUN_UNVERIFIABLE") == 1


def test_a_failing_journal_is_counted(port: int) -> None:
    """An unusable journal is an error of the monitor at the place ``run``."""
    with rop.run("nightly", expected=["a"], journal="/nowhere/at/all"):
        assert value(port, "rop_self_errors_total", where="run") == 1
