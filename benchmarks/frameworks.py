"""What watching a framework adds to a query of its example, over what OpenInference's instrumentation adds to it.

Each framework has a process of its own, in which the query runs bare, watched by us and watched by OpenInference, in
turns. Both sides send their spans to a batch processor whose exporter drops them; the processor's time is counted. The
embedding model's time is not: it is the same for all, and it varies by more than the measured difference.
Run from the checkout, with the packages of instrumentation/ installed: ``python benchmarks/frameworks.py``.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import onnxruntime
from interleave import ROUNDS, report
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TARGET = "<= 0.6"
SECONDS = 0.15
"""CPU time of one contender's part of a round, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """What is measured of one framework.

    Args:
        example: Folder of its example.
        ours: Module and class of our instrumentor.
        theirs: Module and class of OpenInference's.
    """

    example: str
    ours: tuple[str, str]
    theirs: tuple[str, str]


FRAMEWORKS = {
    "langchain": Framework(
        example="langchain-qa",
        ours=("rop_otel_langchain", "LangChainInstrumentor"),
        theirs=("openinference.instrumentation.langchain", "LangChainInstrumentor"),
    ),
    "llama_index": Framework(
        example="llama-index-qa",
        ours=("rop_otel_llama_index", "LlamaIndexInstrumentor"),
        theirs=("openinference.instrumentation.llama_index", "LlamaIndexInstrumentor"),
    ),
    "haystack": Framework(
        example="haystack-qa",
        ours=("rop_otel_haystack", "HaystackInstrumentor"),
        theirs=("openinference.instrumentation.haystack", "HaystackInstrumentor"),
    ),
}


class Dropping(SpanExporter):
    """Takes spans and keeps none, but counts them."""

    def __init__(self) -> None:
        self.count = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Count."""
        self.count += len(spans)
        return SpanExportResult.SUCCESS


class Remembering(onnxruntime.InferenceSession):  # type: ignore[misc] # it ships no types
    """A model that computes what it is given only once."""

    made: ClassVar[dict[object, Any]] = {}

    def run(self, outputs: Any, inputs: dict[str, Any], options: Any = None) -> Any:
        """Return what the model makes of its inputs."""
        key = tuple((name, array.shape, array.tobytes()) for name, array in sorted(inputs.items()))
        if key not in self.made:
            self.made[key] = super().run(outputs, inputs, options)
        return self.made[key]


class Side:
    """One of the contenders: how it is switched on and off, and where its spans go.

    Args:
        instrumentor: Of either side; None: the bare framework.
        settings: What it is given.
        provider: Where its spans go.
    """

    def __init__(self, instrumentor: Any, provider: TracerProvider, **settings: Any) -> None:
        self.instrumentor = instrumentor
        self.settings = settings
        self.exporter = Dropping()
        self.processor = BatchSpanProcessor(self.exporter, schedule_delay_millis=3_600_000)
        provider.add_span_processor(self.processor)

    def microseconds(self, query: Callable[[], object], calls: int) -> float:
        """Return the CPU time of one query, the export of its spans included."""
        if self.instrumentor is not None:
            self.instrumentor.instrument(**self.settings)
        try:
            query()  # what is made once is made here
            self.processor.force_flush()
            gc.collect()
            start = time.process_time_ns()
            for _ in range(calls):
                query()
            self.processor.force_flush()
            return (time.process_time_ns() - start) / calls / 1000
        finally:
            if self.instrumentor is not None:
                self.instrumentor.uninstrument()


def main() -> None:
    """Measure the frameworks that are named, or all, and print."""
    if sys.argv[1:2] == ["--alone"]:
        print(json.dumps(_measured(FRAMEWORKS[sys.argv[2]])))
        return
    times: dict[str, float] = {}
    results: dict[str, float] = {}
    for name in sys.argv[1:] or FRAMEWORKS:
        medians = _in_a_process(name)
        times |= {
            f"{name}, a bare query": medians["bare"],
            f"{name}, we add": medians["ours"],
            f"{name}, OpenInference adds": medians["theirs"],
        }
        results[f"{name}_over_openinference"] = medians["ours"] / medians["theirs"]
    report("What instrumentation adds to one query of each example", times, results, dict.fromkeys(results, TARGET))


def _in_a_process(name: str) -> dict[str, float]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "ROP_OTEL_"))}
    finished = subprocess.run(
        [sys.executable, __file__, "--alone", name],
        env=environment | {"HAYSTACK_TELEMETRY_ENABLED": "False"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    medians: dict[str, float] = json.loads(finished.stdout.splitlines()[-1])
    return medians


def _measured(framework: Framework) -> dict[str, float]:
    """Return the median time of a bare query, and the medians of what each side adds in the same round."""
    onnxruntime.InferenceSession = Remembering
    sys.path.insert(0, str(EXAMPLES / framework.example))
    example = import_module("main")
    answer, question = example.build(), example.QUESTIONS[0]
    # Ours sends to the process's provider. Theirs has one of its own: ours would read their spans as stages, too.
    global_provider, their_provider = TracerProvider(), TracerProvider()
    trace.set_tracer_provider(global_provider)
    sides = {
        "bare": Side(None, TracerProvider()),
        "ours": Side(_instrumentor(framework.ours), global_provider, selected_by=example.selector),
        "theirs": Side(_instrumentor(framework.theirs), their_provider, tracer_provider=their_provider),
    }

    def query() -> object:
        return answer(question)

    calls = max(int(SECONDS * 1e6 / sides["bare"].microseconds(query, 3)), 3)
    taken: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for turn in range(ROUNDS):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            taken[name].append(sides[name].microseconds(query, calls))
    for name in ("ours", "theirs"):
        if not sides[name].exporter.count:
            raise SystemExit(f"{framework.example}: no spans of {name} came, so there is nothing to compare")
    medians = {"bare": statistics.median(taken["bare"])}
    for name in ("ours", "theirs"):
        pairs = zip(taken[name], taken["bare"], strict=True)
        medians[name] = statistics.median(watched - bare for watched, bare in pairs)
    return medians


def _instrumentor(where: tuple[str, str]) -> Any:
    module, name = where
    return getattr(import_module(module), name)()


if __name__ == "__main__":
    main()
