"""Processes that are forked while threads of their parent are in the middle of anything."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from opentelemetry.context import get_current
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.trace import get_current_span

import rop_otel as rop
from rop_otel import semconv
from rop_otel.tracing.running import runtime
from tests.export.receiving import PATIENT, Endpoint
from tests.export.test_processes import NOWHERE, ROOT, execute
from tests.safety.test_locks import in_fork
from tests.tracing.watched import Watched, retrieve

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]
STORM = Path(__file__).with_name("storm.py")
FEW = 5
"""Children that there are at least, on however busy a machine."""
SECONDS = 120
"""How long to wait for a server."""


@pytest.fixture
def watched() -> Iterator[Watched]:
    """Install a runtime, and put the one before back."""
    watched = Watched()
    before = runtime.install(watched.runtime)
    yield watched
    runtime.install(before)


@pytest.mark.parametrize(
    ("mode", "where"),
    [("bare", "outside"), ("bare", "inside"), ("configured", "inside"), ("exporting", "inside")],
)
def test_no_child_hangs(mode: str, where: str) -> None:
    """A child that is forked while threads run handoffs runs its own, and its parent's go on."""
    exporting = {"OTEL_EXPORTER_OTLP_ENDPOINT": NOWHERE} if mode == "exporting" else {}
    done = subprocess.run(
        [sys.executable, STORM, mode, where, "1.5"],
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"} | exporting,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    ends = ast.literal_eval(done.stdout)
    children = ends["0"]
    assert children >= FEW
    assert ends == {"0": children} | ({"parent PASS": children} if where == "inside" else {})


def test_a_handoff_of_the_parent_is_none_of_the_childs(watched: Watched) -> None:
    """In the child its block is outside of any handoff, and leaving it ends and counts nothing."""
    before = get_current()

    def in_child() -> bool:
        retrieve("d1", packed=("d1",))
        outside = rop.current_handoff().id == ""
        around.__exit__(None, None, None)
        left = get_current() == before and get_current_span().get_span_context().span_id == 0
        nothing = watched.names == ["vector", "packing"] and not watched.heard.records
        return outside and left and nothing and runtime.current().ledger.open_count() == 0

    with rop.handoff("qa", selected="d1") as around:
        assert in_fork(in_child)
        retrieve("d1", packed=("d1",))
    assert around.assessment.verdict == "PASS"
    assert [stage.kind for stage in watched.stages()] == ["vector", "packing"]


def test_the_parents_objects_do_nothing_in_the_child(watched: Watched) -> None:
    """What the child still holds of them says whose they are, and neither ends nor counts."""

    def in_child() -> bool:
        handoff.select("d2")
        handoff.answered("so [1]", sources=["d1"])
        stage.returned(["d1"])
        stage.__exit__(None, None, None)
        with handoff:
            outside = rop.current_handoff().id == ""
        note = handoff.close().note or ""
        return outside and "forked" in note and watched.names == [] and not watched.heard.notices

    handoff = rop.start_handoff("qa", selected="d1")
    with handoff, rop.using_stage("packing") as stage:
        assert in_fork(in_child)
        stage.returned(["d1"])
    assert handoff.close().verdict == "PASS"


def test_a_handoff_that_begins_in_the_child_is_its_own(watched: Watched) -> None:
    """Also one that the parent has made and not begun; the child's runtime is its own, with the same sinks."""

    def in_child() -> bool:
        with made as handoff:
            retrieve("d1", packed=("d1",))
        with rop.handoff("another", selected="d1"):
            retrieve("d1", packed=("d1",))
        names = [each.handoff_name for each in watched.heard.assessments]
        return handoff.assessment.verdict == "PASS" and names == ["qa", "another"]

    made = rop.handoff("qa", selected="d1")
    with rop.handoff("around"):
        assert in_fork(in_child)


def test_a_child_sends_numbers_of_its_own() -> None:
    """With exporters of our own each process counts for itself, under an ID of its own, and nothing is sent twice."""
    script = """
        import sys
        rop.configure(service_name="docs-rag")
        run("d1")
        child = os.fork()
        run("d1")
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            run("d1")
    """
    with Endpoint() as endpoint:
        execute(PATIENT + _dedented(script), **endpoint.variables, OTEL_METRIC_EXPORT_INTERVAL="300")
        counts = _verdicts(endpoint)
    assert sorted(counts.values()) == [1, 3]
    assert endpoint.spans() == [("docs-rag", "handoff qa")] * 4 + [("docs-rag", "vector")] * 4


def _dedented(script: str) -> str:
    return "\n".join(line.removeprefix(" " * 8) for line in script.splitlines()) + "\n"


def _verdicts(endpoint: Endpoint) -> dict[str, int]:
    """Return how many handoffs each process has counted, as it sent last."""
    counts: dict[str, int] = {}
    for body in endpoint.bodies["/v1/metrics"]:
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            origin = {each.key: each.value.string_value for each in resource.resource.attributes}
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    if metric.name == semconv.VERDICTS.name:
                        points = metric.sum.data_points
                        counts[origin["service.instance.id"]] = sum(
                            int(each.as_double or each.as_int) for each in points
                        )
    return counts


def test_a_prefork_server_answers(tmp_path: Path) -> None:
    """Workers of gunicorn are forked again and again from a busy process, and each answers with its handoffs."""
    pytest.importorskip("gunicorn")
    log = tmp_path / "log"
    options = "--preload --workers 2 --max-requests 2 --timeout 60 --bind 127.0.0.1:0".split()
    with Endpoint() as endpoint:
        server = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", *options, "--log-file", log, "tests.safety.prefork:create()"],
            cwd=ROOT,
            env=dict(os.environ) | {"PYTHONWARNINGS": "ignore", "HOME": str(tmp_path)} | endpoint.variables,
        )
        try:
            address = _listening(log)
            answers = [urlopen(address, timeout=SECONDS).read().decode().split() for _ in range(14)]
        finally:
            server.terminate()
            server.wait(SECONDS)
        counts = _verdicts(endpoint)
    workers = {worker for worker, _ in answers}
    assert {verdict for _, verdict in answers} == {"PASS"}
    assert len(workers) > FEW
    assert str(server.pid) not in workers
    assert "WORKER TIMEOUT" not in log.read_text()
    assert sorted(counts.values())[:FEW] == [2] * FEW, "each worker counts its own requests alone"


def _listening(log: Path) -> str:
    """Return where the server listens, once it does."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        found = re.search(r"Listening at: (\S+)", log.read_text() if log.exists() else "")
        if found:
            return found[1]
        time.sleep(0.05)
    raise TimeoutError(log)
