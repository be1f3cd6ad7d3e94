"""A monitor inside another program."""

from __future__ import annotations

import json
import urllib.request

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from rop_otel import semconv
from rop_otel.monitor.in_process import in_process
from tests.grafana.prometheus import until


@pytest.mark.parametrize("selected", ["a", "half a pair \ud800", "\udfff", "escape \x1b[31m"])
def test_whatever_an_id_is_the_handoff_is_shown(selected: str) -> None:
    """Its spans are taken in by the rule of the other doors; none fails the others that arrive with it."""
    with in_process(0, advice="take another port") as monitor:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(monitor.exporter))
        tracer = provider.get_tracer("test")
        for name, given in (("odd", selected), ("usual", "b")):
            attributes = {semconv.HANDOFF_NAME: name, semconv.SELECTED_IDS: [given]}
            with (
                tracer.start_as_current_span(name, attributes=attributes),
                tracer.start_as_current_span(
                    "packing", attributes={semconv.STAGE: "packing", semconv.RETURNED_IDS: [given]}
                ),
            ):
                pass

        def verdicts() -> dict[str, str]:
            with urllib.request.urlopen(f"{monitor.url}api/handoffs", timeout=30) as answer:
                return {row["handoff_name"]: row["verdict"] for row in json.load(answer)["handoffs"]}

        assert until(lambda: found if len(found := verdicts()) == 2 else {}, within=60, what="both handoffs") == {
            "odd": "PASS",
            "usual": "PASS",
        }
