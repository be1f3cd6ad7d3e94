"""What needs a process of its own: global providers, the end of the interpreter, forks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.export.receiving import PATIENT, Endpoint

ROOT = Path(__file__).resolve().parents[2]

PRELUDE = """
import os
import rop_otel as rop
from opentelemetry import trace

def run(*ids):
    with rop.handoff("qa") as handoff:
        handoff.select("d1")
        with rop.using_stage("vector") as stage:
            stage.returned(list(ids))
    return handoff.assessment
"""

SECONDS = 300
"""How long a process may take before the test fails."""

NOWHERE = "http://127.0.0.1:9/v1/traces"
"""An endpoint that nothing is sent to."""

FOREVER = str(10 * SECONDS)
"""How long exporters try to send: whatever waits for them is found out."""


def execute(script: str, **environment: str) -> str:
    """Run a script in a process of its own, and return what it printed."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("OTEL_", "ROP_OTEL_"))}
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + dedent(script)],
        cwd=ROOT,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(params=["refuses", "is silent"])
def dead(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return an endpoint of which nothing answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if request.param == "is silent":
            listener.listen()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Listen for telemetry."""
    with Endpoint() as endpoint:
        yield endpoint


def test_spans_are_exported_at_the_end_of_the_process(endpoint: Endpoint) -> None:
    """With an endpoint in the environment spans go there, also where nobody calls shutdown()."""
    execute(PATIENT + "rop.configure(service_name='docs-rag'); run('d1')", **endpoint.variables)
    assert endpoint.spans() == [("docs-rag", "handoff qa"), ("docs-rag", "vector")]


def test_spans_are_exported_after_a_second_beginning(endpoint: Endpoint) -> None:
    """Configured, shut down and configured again, both parts are exported."""
    script = "rop.configure(); run(); rop.shutdown(timeout=300); rop.configure(); run(); rop.shutdown(timeout=300)"
    execute(PATIENT + script, **endpoint.variables, OTEL_SERVICE_NAME="twice")
    assert endpoint.spans() == [("twice", "handoff qa")] * 2 + [("twice", "vector")] * 2


@pytest.mark.parametrize("ending", ["", "rop.shutdown(timeout=0.5)"])
def test_a_dead_collector_holds_nobody_up(dead: str, ending: str) -> None:
    """No call waits for a collector that does not answer, nor does the end of the process, with shutdown or without."""
    script = f"""
        rop.configure()
        for _ in range(300):
            run("d1", "d2")
        {ending}
        print("ended")
    """
    assert execute(script, OTEL_EXPORTER_OTLP_ENDPOINT=dead, OTEL_EXPORTER_OTLP_TIMEOUT=FOREVER) == "ended"


def test_a_provider_of_the_application_is_left_alone() -> None:
    """Where no exporter is asked for, no global provider is set, so that the application may still set its own."""
    script = """
        from opentelemetry.sdk.trace import TracerProvider
        rop.configure()
        run()
        mine = TracerProvider()
        trace.set_tracer_provider(mine)
        print(trace.get_tracer_provider() is mine)
    """
    assert execute(script) == "True"


def test_exporters_can_be_refused_and_misspelt() -> None:
    """OTEL_TRACES_EXPORTER=none refuses, and one that is not known is named in the error."""
    script = """
        rop.configure()
        print(type(trace.get_tracer_provider()).__name__)
    """
    refused = execute(script, OTEL_TRACES_EXPORTER="none", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=NOWHERE)
    assert refused == "ProxyTracerProvider"
    script = """
        try:
            rop.configure(metrics_port=0)
        except rop.RopError as error:
            print(error)
    """
    assert "'otpl'" in execute(script, OTEL_TRACES_EXPORTER="otpl")


def test_an_exporter_that_cannot_be_made_is_said() -> None:
    """What OpenTelemetry cannot use is a configuration error, and no port stays open."""
    script = """
        from rop_otel.export import prometheus
        made = []
        class Noted(prometheus.MetricsServer):
            def __init__(self, *arguments, **named):
                super().__init__(*arguments, **named)
                made.append(self)
        prometheus.MetricsServer = Noted
        try:
            rop.configure(metrics_port=0)
        except rop.RopError as error:
            print(error)
        print([server._server._listener.fileno() for server in made])
    """
    printed = execute(script, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=NOWHERE, OTEL_BSP_MAX_QUEUE_SIZE="-1")
    assert "max_queue_size" in printed
    assert printed.endswith("[-1]"), "the socket is not closed"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_starts_over() -> None:
    """In the child nothing is open or counted, and it serves a port of its own; the parent goes on as it was."""
    script = """
        from tests.export.scraping import value
        from rop_otel.tracing.running import runtime

        port = rop.configure(metrics_port=0).metrics_port
        run("d1")
        with rop.handoff("open"):
            child = os.fork()
            if child == 0:
                own = rop.configure(metrics_port=0).metrics_port
                assert own != port
                assert runtime.current().ledger.open_count() == 0
                assert value(own, "rop_handoff_verdicts_total") is None
                run("d1"); run("d2")
                assert value(own, "rop_handoff_verdicts_total", verdict="PASS") == 1
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        print(value(port, "rop_handoff_verdicts_total", verdict="PASS"))
    """
    assert execute(script) == "1.0"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_goes_on_without_configuring() -> None:
    """Without another configure() the child is monitored as the parent was, from 0, and closes its copy of the port."""
    script = """
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        reader = InMemoryMetricReader()
        port = rop.configure(metrics_port=0, meter_provider=MeterProvider([reader])).metrics_port
        run("d1")
        child = os.fork()
        if child == 0:
            run("d1")
            metrics = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
            (verdicts,) = [metric for metric in metrics if metric.name == "rop.handoff.verdicts"]
            os._exit(int(sum(point.value for point in verdicts.data.data_points)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert execute(script) == "1"
