"""What the monitor costs the application: one handoff, ten spans, a hundred documents at each stage.

It is compared in the same rounds with the same spans and attributes written by hand, with the same documents flattened
in OpenInference's form, and with itself when sampling leaves the trace out. All of it is measured once more with a
provider that limits the length of values to what no value reaches.
"""

from __future__ import annotations

from collections.abc import Sequence

from instrumented import by_hand, flattened, monitored, provider
from interleave import microseconds, report
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracerProvider
from workload import steps

from rop_otel import semconv

CALLS = 30
LENGTH_LIMIT = 4096
TARGETS = {
    "whole_over_plain": "<= 1.35",
    "whole_over_flattened": "<= 0.5",
    "sampled_out_over_recording": "<= 0.5",
    "sampled_out_over_plain": "<= 0.5",
    "whole_over_plain_length_limit": "<= 1.15",
    "disabled_us": "<= 1.5",
}
OURS_ALONE = {semconv.HANDOFF_ID, semconv.VERDICT, semconv.SELECTED_RANK, semconv.FINDINGS}
"""Attributes that differ from run to run, or that only a monitor can know."""


class Discarding(SpanExporter):
    """Takes spans and forgets them, so that only making them is measured."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Forget the spans."""
        return SpanExportResult.SUCCESS


def main() -> None:
    """Measure and print."""
    run = steps()
    _refuse_unequal_spans()
    recording = monitored(run, provider(Discarding()))
    out = monitored(run, provider(Discarding(), sampler=ALWAYS_OFF))
    off = monitored(run, NoOpTracerProvider(), enabled=False)
    contenders = {
        "whole monitor": recording,
        "plain OpenTelemetry": by_hand(run, provider(Discarding()).get_tracer("by hand")),
        "flattened": flattened(run, provider(Discarding(), attributes=4096).get_tracer("flattened")),
        "sampled out": out,
        "whole, length limit": monitored(run, provider(Discarding(), length=LENGTH_LIMIT)),
        "plain, length limit": by_hand(run, provider(Discarding(), length=LENGTH_LIMIT).get_tracer("by hand")),
    }
    times = microseconds(contenders, calls=CALLS)
    bare = [step.returned for step in run]
    times |= microseconds({"switched off": off, "bare": lambda: list(bare)}, calls=100 * CALLS)
    report(
        "One handoff of ten spans, 100 documents at each stage",
        times,
        {
            "whole_over_plain": times["whole monitor"] / times["plain OpenTelemetry"],
            "whole_over_flattened": times["whole monitor"] / times["flattened"],
            "sampled_out_over_recording": times["sampled out"] / times["whole monitor"],
            "sampled_out_over_plain": times["sampled out"] / times["plain OpenTelemetry"],
            "whole_over_plain_length_limit": times["whole, length limit"] / times["plain, length limit"],
            "sampled_out_over_length_limit": times["sampled out"] / times["whole, length limit"],
            "disabled_us": (times["switched off"] - times["bare"]) / len(run),
        },
        TARGETS,
    )


def _refuse_unequal_spans() -> None:
    """Raise where the spans written by hand are not those of the monitor."""
    ours, theirs = InMemorySpanExporter(), InMemorySpanExporter()
    monitored(steps(), provider(ours))()
    by_hand(steps(), provider(theirs).get_tracer("by hand"))()
    for mine, plain in zip(ours.get_finished_spans(), theirs.get_finished_spans(), strict=True):
        kept = [
            {name: value for name, value in (span.attributes or {}).items() if name not in OURS_ALONE}
            for span in (mine, plain)
        ]
        if mine.name != plain.name or kept[0] != kept[1]:
            raise SystemExit(f"unequal spans: {mine.name} {sorted(kept[0])} and {plain.name} {sorted(kept[1])}")


if __name__ == "__main__":
    main()
