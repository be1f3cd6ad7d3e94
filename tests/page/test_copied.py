"""Copied tests and downloaded spans say what the handoff said: for every conformance case and every fault."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from rop_otel import testing
from rop_otel.cli.page import assessed_set
from rop_otel.core.handoff import Assessment
from rop_otel.page import Carried, write_page
from rop_otel.replay import Report, replay_files
from rop_otel.testing import Captured
from tests.conformance.test_handoff import CASES
from tests.page.unpacked import Doc, blocks, details

UNLIKE = ("handoff_id", "trace_id", "record_id", "run_id")
"""What says which handoff it is."""


def page_of(report: Report, carried: Carried | None = None) -> bytes:
    stream = io.BytesIO()
    write_page([assessed_set("set", report, carried or Carried())], stream)
    return stream.getvalue()


def judged(case: Path) -> Report:
    resolver = case / "resolver.json"
    return replay_files([str(case / "traces.jsonl")], resolver=str(resolver) if resolver.exists() else None)


def run(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Assessment, bool]:
    """Run a copied test; return what was concluded in it, and whether it passed."""
    seen: list[Captured] = []
    real = testing.recorded

    def recorded(*args: Any, **facts: Any) -> Captured:
        seen.append(real(*args, **facts))
        return seen[-1]

    space: dict[str, Any] = {}
    exec(compile(text, "<copied>", "exec"), space)
    (test,) = [value for name, value in space.items() if name.startswith("test_")]
    with monkeypatch.context() as patched:
        patched.setattr(testing, "recorded", recorded)
        try:
            test()
        except AssertionError:
            passed = False
        else:
            passed = True
    ((assessment,),) = [each.assessments for each in seen]
    return assessment, passed


def same(assessment: Assessment) -> Doc:
    """Return an assessment without what says which handoff it is."""
    return {name: value for name, value in assessment.as_dict().items() if name not in UNLIKE}


def check(assessment: Assessment, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    again, passed = run(text, monkeypatch)
    assert same(again) == same(assessment)
    errors = any(finding.severity == "error" for finding in assessment.findings)
    assert passed == (assessment.verdict in ("PASS", "NOT_APPLICABLE") and not errors)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_copied_tests_fail_alike(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function of each handoff comes to the same assessment, and fails where the handoff is not healthy."""
    report = judged(case)
    for assessment, detail in zip(report.assessments, details(blocks(page_of(report))), strict=True):
        check(assessment, detail["test"], monkeypatch)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_downloaded_spans_are_judged_alike(case: Path, tmp_path: Path) -> None:
    """Replay of the downloaded spans of each handoff says just what it says of the handoff."""
    report = judged(case)
    resolver = case / "resolver.json"
    given = str(resolver) if resolver.exists() else None
    expected = report.as_dict(lists=True)["handoffs"]
    for handoff, detail in zip(expected, details(blocks(page_of(report))), strict=True):
        file = tmp_path / "spans.json"
        file.write_text(json.dumps(detail["spans"]))
        again = replay_files([str(file)], resolver=given)
        assert again.as_dict(lists=True) == {
            "handoffs": [handoff],
            "orphan_stages": 0,
            "incomplete_handoffs": [],
            "duplicate_handoffs": [],
            "run": None,
        }
