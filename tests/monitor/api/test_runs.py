"""Runs: how far they are, what is missing, and their report under the monitor's declaration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rop_otel import semconv
from rop_otel.replay import replay
from rop_otel.spans import Span
from tests.core.profile.declared import changed, opened
from tests.monitor.api.conftest import Ask
from tests.monitor.kept import Kept
from tests.replay.test_recorded_run import trip

Keep = Callable[..., Kept]


def of_run(run_id: str, spans: list[Span]) -> list[Span]:
    """Return spans of a handoff that names a run."""
    top, *stages = spans
    return [replace(top, attributes={**top.attributes, semconv.RUN_ID: run_id}), *stages]


def settle(kept: Kept, *handoffs: list[Span]) -> None:
    for spans in handoffs:
        kept.send(*spans)
        kept.wait()


def report(kept: Kept, run_id: str | None) -> dict[str, Any]:
    """Return the report that replay gives of a run."""
    traces = {
        each.trace_id for each in kept.sent if each.attributes.get(semconv.RUN_ID) == run_id and not each.parent_id
    }
    run: dict[str, Any] = replay(
        [each for each in kept.sent if each.trace_id in traces], declaration=opened()
    ).as_dict()["run"]
    return {name: value for name, value in run.items() if name != "records"}


def test_a_declared_run(keep: Keep, ask: Ask) -> None:
    """It grows as its handoffs are settled, and its report is the one of replay, whatever came before or again."""
    kept = keep(declaration=opened())
    settle(kept, of_run("run 1", trip(1, "r1", "x", "a#1")), of_run("run 1", trip(11, "r2", "x", "y", "z", "a#0")))
    [run] = ask(kept, "/api/runs")["runs"]
    assert (run["run_id"], run["planned"], run["missing"], run["records"]) == ("run 1", 3, 1, 2)
    assert run["verdicts"] == {"PASS": 1, "FAIL": 1}
    detail = ask(kept, "/api/runs/run%201")
    assert detail["missing_ids"] == ["r3"]
    assert detail["report"] == report(kept, "run 1")
    settle(kept, of_run("run 1", trip(21, "r3", "a#1")), of_run("run 1", trip(31, "r3", "a#1", cutoff=7)))
    assert ask(kept, "/api/runs/run%201")["report"] == report(kept, "run 1")
    kept.store.forget(before_ns=2**62, limit=1)
    assert ask(kept, "/api/runs/run%201")["report"]["missing_record_ids"] == ["r1"]


def test_handoffs_without_a_run(keep: Keep, ask: Ask) -> None:
    """Those of the declaration are one, beside runs that name themselves."""
    kept = keep(declaration=opened())
    settle(kept, trip(1, "r1", "a#1"), of_run("other", trip(11, "r1", "x", declaration="another")))
    assert [(run["run_id"], run["planned"], run["missing"]) for run in ask(kept, "/api/runs")["runs"]] == [
        ("other", None, None),
        ("-", 3, 2),
    ]
    assert ask(kept, "/api/runs/-")["report"] == report(kept, None)
    other = ask(kept, "/api/runs/other")
    assert (other["report"], other["missing_ids"], other["handoffs"]) == (None, [], 1)


def test_without_a_declaration(keep: Keep, ask: Ask) -> None:
    """A run has its counts, and no plan."""
    kept = keep()
    settle(kept, of_run("run", trip(1, "r1", "a#1")), of_run("run", trip(11, "r1", "a#1")), trip(21, "r2", "a#1"))
    [run] = ask(kept, "/api/runs")["runs"]
    assert (run["handoffs"], run["records"], run["planned"], run["missing"]) == (2, 1, None, None)
    assert run["first"] <= run["last"]
    assert ask(kept, "/api/runs/none") == (404, "none is kept with this ID")


def test_another_declaration(keep: Keep, ask: Ask) -> None:
    """A monitor that begins again with another declaration does not count the lines of the one before."""
    settle(keep(declaration=opened()), of_run("run", trip(1, "r1", "a#1")))
    kept = keep(declaration=changed(lambda document: document.update(declaration_id="another")))
    assert (ask(kept, "/api/runs/run")["report"], ask(kept, "/api/runs")["runs"][0]["planned"]) == (None, None)
