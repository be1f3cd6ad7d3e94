"""Run both services with two workers each, ask questions, end them, and check that no verdict was lost on the way."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

from corpus import QUESTIONS
from receiver import Receiver

HERE = Path(__file__).parent
TIMES = 8
"""How often each question is asked."""


def main() -> None:
    """Ask, end, and count."""
    with Receiver() as received:
        with (
            service("retriever", received.url) as retriever,
            service("reader", received.url, RETRIEVER=retriever) as reader,
            ThreadPoolExecutor(8) as pool,
        ):
            answers = list(pool.map(lambda question: ask(reader, question), [*QUESTIONS] * TIMES))
        verdicts = Counter(answers)
        print(f"answers         {dict(sorted(verdicts.items()))}")
        totals: Counter[str] = sum((Counter(counts) for counts in received.verdicts().values()), Counter())
        print(f"all workers     {dict(sorted(totals.items()))}")
        services = defaultdict(set)
        stages = Counter[str]()
        for span in received.spans():
            services[span.trace_id].add(span.service)
            stages[span.name] += 1
        joined = sum(names == {"reader", "retriever"} for names in services.values())
        print(f"traces          {len(services)}, of which {joined} have spans of both services")
        print(f"spans           {dict(sorted(stages.items()))}")


def ask(reader: str, question: str) -> str:
    """Return the verdict about one question."""
    with urlopen(f"{reader}/answer?{urlencode({'question': question})}", timeout=120) as response:
        return str(json.load(response)["verdict"])


@contextmanager
def service(name: str, receiver: str, **settings: str) -> Iterator[str]:
    """Run a service with two workers, and give its address; at the end it finishes what it has begun.

    Args:
        name: Of its module.
        receiver: Where it sends.
        settings: Further environment variables, such as the addresses of the services that it asks.
    """
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", f"{name}:app", "--port", str(port), "--workers", "2"]
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver, **settings}
    with started([*command, "--log-level", "warning"], environment, f"http://127.0.0.1:{port}/docs"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def started(command: list[str], environment: dict[str, str], answers: str) -> Iterator[None]:
    """Run a program inside the block, from when an address of it answers."""
    with subprocess.Popen(command, cwd=HERE, env={**os.environ, **environment}, stdout=subprocess.DEVNULL) as process:
        try:
            wait(answers, process)
            yield
        finally:
            process.terminate()
            process.wait(timeout=120)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def wait(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a program answers at an address."""
    deadline = time.monotonic() + 300
    while True:
        try:
            with urlopen(url, timeout=30):
                return
        except OSError:
            if process.poll() is not None:
                sys.exit("A program has ended before it answered.")  # it has said why
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    main()
