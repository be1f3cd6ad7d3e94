"""What a request of ``examples/fastapi-rag`` costs more than the same application's without instrumentation.

Its two services run in three ways at a time, each service a process with one worker: as they are, with the same spans
and attributes written by hand, and bare (``services/``). Requests go to each way in turn, and the clock of each
process's own CPU time says how much each way used: threads that export are included, other processes are not. Within
one process the ways would share OpenTelemetry's globals and could not be distinguished.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from rop_otel import semconv
from rop_otel.spans import Span
from rop_otel.spans.otlp_reader import read
from tests.collector.collector import Collector
from tests.grafana.prometheus import free_port, until

HERE: Final = Path(__file__).parent
EXAMPLE: Final = HERE.parent / "examples" / "fastapi-rag"
WAYS: Final = ("bare", "plain", "ours")
SCOPES: Final = {"plain": "by hand", "ours": semconv.SCOPE_NAME}
SPANS: Final = 7
"""Of one request, in both services together."""

ROUNDS: Final = 21
TURNS, REQUESTS = 16, 16
"""Turns of each way in a round, and requests in a turn: short ones, since a machine is now faster, now slower."""

OURS_ALONE: Final = {
    semconv.HANDOFF_ID,
    semconv.VERDICT,
    semconv.SELECTED_RANK,
    semconv.DROPPED_AT,
    semconv.DROP_CAUSE,
    semconv.FINDINGS,
}
"""Attributes that differ from run to run, or that only a monitor can know."""


class Way:
    """The two services, instrumented in one way.

    Args:
        port: Of the reader.
        processes: Both services'.
    """

    def __init__(self, port: int, processes: list[subprocess.Popen[bytes]]) -> None:
        self._port = port
        self._clocks = [~process.pid << 3 | 2 for process in processes]  # as clock_getcpuclockid(3) makes them

    def cpu_ns(self) -> int:
        """Return the CPU time that both processes have used so far."""
        return sum(time.clock_gettime_ns(clock) for clock in self._clocks)

    def ask(self, questions: list[str], number: int) -> list[str]:
        """Send requests one after another, and return what was shown."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        shown = []
        for place in range(number):
            connection.request("GET", f"/answer?{urlencode({'question': questions[place % len(questions)]})}")
            shown.append(json.load(connection.getresponse())["shown"])
        connection.close()
        return shown


def per_request(collector: Collector) -> dict[str, float]:
    """Return the CPU time of a request, in microseconds: all of it for ``bare``, what is added for the other ways."""
    questions = [*_questions()]
    with ExitStack() as stack:
        ways = {name: stack.enter_context(_way(name, collector.endpoint)) for name in WAYS}
        answers = {name: way.ask(questions, REQUESTS) for name, way in ways.items()}
        if answers["plain"] != answers["bare"] or answers["ours"] != answers["bare"]:
            raise SystemExit("the ways of instrumentation show different passages")
        _refuse_unequal_spans(collector)
        taken: dict[str, list[float]] = {name: [] for name in WAYS}
        for _ in range(ROUNDS):
            before = {name: way.cpu_ns() for name, way in ways.items()}
            for turn in range(TURNS):
                shift = turn % len(WAYS)
                for name in WAYS[shift:] + WAYS[:shift]:
                    ways[name].ask(questions, REQUESTS)
            for name, way in ways.items():
                taken[name].append((way.cpu_ns() - before[name]) / (TURNS * REQUESTS * 1000))
    bare = taken["bare"]
    added = {
        name: statistics.median(way - base for way, base in zip(taken[name], bare, strict=True))
        for name in WAYS
        if name != "bare"
    }
    return {"bare": statistics.median(bare), **added}


def _questions() -> Mapping[str, str]:
    sys.path.insert(0, str(EXAMPLE))
    from corpus import QUESTIONS  # type: ignore[import-not-found]  # of the example

    found: Mapping[str, str] = QUESTIONS
    return found


@contextmanager
def _way(name: str, endpoint: str) -> Iterator[Way]:
    with (
        _service(name, "retriever", endpoint, 0) as (retriever, searching),
        _service(name, "reader", endpoint, retriever) as (reader, answering),
    ):
        yield Way(reader, [searching, answering])


@contextmanager
def _service(way: str, name: str, endpoint: str, retriever: int) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run a service with one worker, which is then the process itself; at the end it finishes what it has begun."""
    port = free_port()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "ROP_OTEL_"))}
    environment |= {
        "PYTHONPATH": os.pathsep.join(map(str, (HERE, EXAMPLE))),
        "RETRIEVER": f"http://127.0.0.1:{retriever}",
        "OTEL_SERVICE_NAME": name,
        **({} if way == "bare" else {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}),
    }
    command = [sys.executable, "-m", "uvicorn", f"services.{way}:{name}", "--port", str(port)]
    with subprocess.Popen([*command, "--log-level", "warning"], env=environment) as process:
        try:
            until(lambda: _answers(port) or process.poll() is not None, within=60, what=f"{name} answers")
            yield port, process
        finally:
            process.terminate()
            process.wait(timeout=30)


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/docs")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _refuse_unequal_spans(collector: Collector) -> None:
    """Raise where the spans written by hand are not those of the monitor."""

    def arrived() -> dict[str, list[Span]]:
        spans = list(read(str(collector.traces))) if collector.traces.exists() else []
        return {way: [span for span in spans if span.scope == scope] for way, scope in SCOPES.items()}

    until(lambda: all(len(spans) == SPANS * REQUESTS for spans in arrived().values()), within=30, what="every span")
    plain, ours = (Counter(map(_facts, spans)) for spans in arrived().values())
    if plain != ours:
        raise SystemExit(f"unequal spans: only by hand {plain - ours}, only the monitor's {ours - plain}")


def _facts(span: Span) -> str:
    kept = {name: value for name, value in span.attributes.items() if name not in OURS_ALONE}
    return json.dumps([span.service, span.name, kept], sort_keys=True)
