"""The API is what its description says: schemathesis asks a running monitor all that this allows, and more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from rop_otel import semconv
from tests.monitor.exported import request_of
from tests.monitor.served import Served, until
from tests.spans.trace import handoff, pipeline, stage

PATHS = [
    "/api/compare",
    "/api/handoffs",
    "/api/handoffs/{handoff_id}",
    "/api/head",
    "/api/runs",
    "/api/runs/{run_id}",
    "/api/summary",
]
"""All but the one whose answer has no end."""

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return a monitor that has handoffs of several kinds."""
    given = {semconv.RECORD_ID: "q1", semconv.RUN_ID: "run", semconv.JUDGED_IDS: ["d1"]}
    with Served(tmp_path_factory.mktemp("kept") / "kept.db") as served:
        traces = [pipeline(trace=f"{1:032x}"), pipeline(trace=f"{2:032x}")]
        traces.append([handoff(1, "d1", given=given), stage(2, "vector", "d1", "d2", parent=1)])
        for spans in traces:
            assert served.send(request_of(spans)) == 200
        until(lambda: len(served.get("/api/handoffs")["handoffs"]) == len(traces))
        yield served


@pytest.mark.parametrize("path", PATHS)
def test_every_path(served: Served, path: str) -> None:
    """No question that can be asked fails, and each answer has the described shape."""
    operation = schemathesis.openapi.from_url(f"{served.url}/api/openapi.json")[path]["GET"]

    @given(operation.as_strategy() | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    def asks(case: Case[Any]) -> None:
        case.call_and_validate(checks=CHECKS)

    asks()


def test_what_is_described(served: Served) -> None:
    """Every path is, with each filter and each way to refuse; nothing that is never answered."""
    found = served.get("/api/openapi.json")
    assert sorted(found["paths"]) == sorted([*PATHS, "/api/stream"])
    asked = {each["name"]: each for each in found["paths"]["/api/handoffs"]["get"]["parameters"]}
    names = "q verdict at cause finding name service record object run since until limit after"
    assert sorted(asked) == sorted(names.split())
    assert all(each["description"] and not each["required"] for each in asked.values())
    assert "PASS" in asked["verdict"]["schema"]["enum"]
    answers = {status for path in found["paths"].values() for status in path["get"]["responses"]}
    assert answers == {"200", "400", "401", "404", "413", "503"}
    references = str(found).count("#/components/schemas/")
    assert references > 0
    assert "HTTPValidationError" not in str(found)
