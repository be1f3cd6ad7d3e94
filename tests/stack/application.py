"""The reference pipeline over a part of the standard library, as a service that a fault can be put into.

It answers questions until its standard input ends, after a run over each of them. Lines it takes, each answered with
one of JSON: ``port`` (of /metrics), ``fault NAME``, ``healthy``, ``assessed`` (every assessment so far, by handoff).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from threading import Event, Thread
from typing import Any

import rop_otel as rop
from rop_otel.reference.assembly import load_tools, make_pipeline
from rop_otel.reference.corpus import Question, read_standard_library
from rop_otel.reference.faults import find_fault
from rop_otel.reference.parts import Parts
from rop_otel.reference.pipeline import Pipeline
from rop_otel.reference.stage_widths import Settings

SERVICE = "docs-rag"
MODULES = ("json", "shutil", "contextlib", "queue", "textwrap", "heapq")
QUESTIONS = (
    Question(id="copytree", text="How do I copy a whole directory tree to another place?", judged=("shutil.copytree",)),
    Question(id="put", text="How do I put an item into a queue without blocking?", judged=("queue.Queue.put_nowait",)),
    Question(
        id="wrap", text="How do I wrap a long paragraph at 70 columns?", judged=("textwrap.wrap", "textwrap.fill")
    ),
    Question(id="merge", text="What does heapq.merge do with sorted inputs?", judged=("heapq.merge",)),
)
"""Each of which the pipeline answers from the object that was selected for it."""

PAUSE_SECONDS = 0.05


class Service:
    """Answers questions in a thread of its own.

    Args:
        folder: Where vectors are kept.
    """

    def __init__(self, folder: Path) -> None:
        corpus = read_standard_library(modules=MODULES)
        self.port = rop.configure(service_name=SERVICE, metrics_port=0, resolver=corpus.resolver).metrics_port
        self._tools = load_tools(corpus, cache=folder, settings=Settings(token_budget=300))
        self._healthy: Pipeline = make_pipeline(self._tools, linked=True)
        self._pipeline = self._healthy
        self._stopped = Event()
        self.assessed: dict[str, Any] = {}

    def run(self) -> None:
        """Answer until told to stop."""
        with rop.run("first-round", expected=[question.id for question in QUESTIONS]):
            for question in QUESTIONS:
                self._answer(question)
        for question in cycle(QUESTIONS):
            if self._stopped.wait(PAUSE_SECONDS):
                return
            self._answer(question)

    def stop(self) -> None:
        """Answer no more."""
        self._stopped.set()

    def use(self, fault: str | None) -> None:
        """Go on with a fault, or without any."""
        if fault is None:
            self._pipeline = self._healthy
        else:
            self._pipeline = make_pipeline(self._tools, linked=True, parts=find_fault(fault).install(Parts()))

    def _answer(self, question: Question) -> None:
        assessment = self._pipeline.answer(question).assessment
        self.assessed[assessment.handoff_id] = assessment.as_dict()


def answers(service: Service, lines: Iterator[str]) -> Iterator[Any]:
    """Do what each line says, and give the answer."""
    for line in lines:
        command, _, argument = line.strip().partition(" ")
        match command:
            case "port":
                yield service.port
            case "fault":
                service.use(argument)
                yield argument
            case "healthy":
                service.use(None)
                yield None
            case "assessed":
                yield dict(service.assessed)
            case _:
                raise ValueError(f"unknown command {command!r}")


def main() -> None:
    """Serve."""
    service = Service(Path(sys.argv[1]))
    answering = Thread(target=service.run)
    answering.start()
    try:
        for answer in answers(service, iter(sys.stdin)):
            sys.stdout.write(f"{json.dumps(answer)}\n")
            sys.stdout.flush()
    finally:
        service.stop()
        answering.join()
        rop.shutdown()


if __name__ == "__main__":
    main()
