"""A run while it goes on, and its report."""

from __future__ import annotations

import gc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from weakref import ref

import pytest

import rop_otel as rop
from rop_otel import semconv
from rop_otel.core.handoff import HandoffRecord
from rop_otel.runs.journal import Stamp
from rop_otel.runs.observations import Observations
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.open_runs import RUNS
from tests.core.profile.declared import RESOLVER, opened
from tests.export.monitored import Monitored
from tests.runs.audit import answer, command, evaluated, sealed
from tests.tracing.watched import Watched


@pytest.fixture
def watched() -> Watched:
    """Return what a runtime sees in which runs are watched."""
    watched = Watched()
    runtime.install(watched.runtime)
    return watched


def test_report_is_what_the_command_says(tmp_path: Path) -> None:
    """The report at close is what ``rop-otel evaluate`` prints of the journal, byte for byte."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    with rop.run("nightly", declaration=declaration, journal=journal) as run:
        answer("r1", "/wiki/A", ["x", "a#1"])
        answer("r2", ["obj-b", "obj-c"], ["a#0", "x", "y", "c#0"])
    result = command("evaluate", declaration, "--records", journal, "--format", "json")
    assert run.report is not None
    assert (result.returncode, result.stdout) == (1, run.report.to_bytes())
    assert run.report.as_dict()["missing_record_ids"] == ["r3"]
    assert [record["rank"] for record in run.report.as_dict()["records"]] == [2, 4]


def test_every_kind_of_count(tmp_path: Path) -> None:
    """Started, finished, missing, repeated, unexpected and malformed are told apart while the run goes on."""
    with rop.run("nightly", declaration=sealed(tmp_path)) as run:
        before = run.standing()
        answer("r1", "obj-a", ["a#0"])
        answer("r1", "obj-a", ["a#0"])
        answer("r9", "obj-a", ["a#0"])
        answer(None, "obj-a", ["a#0"])
        with rop.handoff("qa", record_id="r2"):
            now = run.standing()
        assert run.missing == ("r3",)
    assert (before.status, before.records["MISSING"], before.records["STARTED"]) == ("RUN_UNVERIFIABLE", 3, 0)
    assert now.status == "RUN_INVALID"
    assert {name: count for name, count in now.records.items() if count} == {
        "PASS": 3,
        "MISSING": 2,
        "STARTED": 5,
        "FINISHED": 4,
        "REPEATED": 1,
        "UNEXPECTED": 1,
        "MALFORMED": 1,
    }
    assert run.report is not None
    assert run.report.run.accounts.duplicates == ("r1",)
    assert run.report.run.accounts.unexpected == ("r9",)
    assert run.standing().records["SELECTOR_ERROR"] == 1


def test_handoffs_join_by_id_or_by_block(tmp_path: Path) -> None:
    """Inside its block or with its ID a handoff belongs to a run; outside, or with another ID, it does not."""
    run = rop.run("nightly", declaration=sealed(tmp_path))
    answer("r1", "obj-a", ["a#0"], run_id="nightly")
    answer("r2", "obj-a", ["a#0"])
    answer("r2", "obj-a", ["a#0"], run_id="other")
    with run:
        answer("r3", "obj-a", ["a#0"])
        answer("r2", "obj-a", ["a#0"], run_id="other")
    assert run.report is not None
    assert run.report.run.accounts.missing == ("r2",)
    assert run.close() is run.report
    answer("r2", "obj-a", ["a#0"], run_id="nightly")
    assert run.close().run.accounts.missing == ("r2",)


def test_inner_runs_win(tmp_path: Path) -> None:
    """Of two nested blocks the inner one counts; after it the outer one does again."""
    with rop.run("outer", expected=["r1", "r2"]) as outer:
        with rop.run("inner", expected=["r1"]) as inner:
            answer("r1", "x", ["x"])
        answer("r2", "x", ["x"])
    assert (inner.close().status, outer.close().run.accounts.missing) == ("RUN_PASS", ("r1",))


def test_spans_name_their_run_and_declaration(tmp_path: Path, watched: Watched) -> None:
    """The handoff span says which run, declaration and resolver it is under, and what they decide for it."""
    with rop.run("nightly", declaration=sealed(tmp_path)) as run:
        assert answer("r1", "/wiki/B", ["x", "b#0"]).verdict == "PASS"
    attributes = watched.attributes("handoff qa")
    assert run.report is not None
    wanted = {
        semconv.RUN_ID: "nightly",
        semconv.RECORD_ID: "r1",
        semconv.DECLARATION_ID: "made-up",
        semconv.DECLARATION_SHA256: run.report.run.manifest_sha256,
        semconv.RESOLVER_SHA256: RESOLVER.sha256,
        semconv.MODE: "hard",
        semconv.RULE: "any",
        semconv.CUTOFF: 3,
    }
    assert {name: attributes[name] for name in wanted} == wanted


def test_without_a_selection_it_is_due(tmp_path: Path) -> None:
    """In a hard run a handoff that selects nothing is a SELECTOR_ERROR, not one that nobody asked for."""
    with rop.run("nightly", declaration=sealed(tmp_path)) as run:
        assert answer("r1", ..., ["a#0"]).verdict == "SELECTOR_ERROR"
    assert run.close().run.verdicts["SELECTOR_ERROR"] == 1


def test_a_handoff_under_other_terms(tmp_path: Path) -> None:
    """A handoff whose own cutoff is not the declared one is DECLARATION_INVALID and the run is; offline it is, too."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    with rop.run("nightly", declaration=declaration, journal=journal) as run:
        for name in ("r1", "r2", "r3"):
            outcome = answer(name, "obj-a", ["a#0"], cutoff=3 if name != "r2" else 5)
    assert outcome.verdict == "PASS"
    report = run.close()
    assert (report.status, report.run.verdicts["DECLARATION_INVALID"]) == ("RUN_INVALID", 1)
    assert report.entries[1].reason == "the handoff's cutoff is 5, the run's is 3"
    assert b'"run_status": "RUN_INVALID"' in evaluated(declaration, journal)


def test_soft_runs(tmp_path: Path) -> None:
    """A soft declaration does not apply; the diagnostics are those of ``evaluate``."""
    declaration, journal = sealed(tmp_path, mode="soft", population=None), tmp_path / "journal.jsonl"
    with rop.run("nightly", declaration=declaration, journal=journal) as run:
        assert answer("r1", "obj-a", ["a#0"]).verdict == "NOT_APPLICABLE"
        answer("r1", "obj-a", ["x"])
    report = run.close()
    assert report.status == "NOT_APPLICABLE"
    assert report.to_bytes() == evaluated(declaration, journal)


def test_only_the_population_is_named(watched: Watched) -> None:
    """With ``expected`` each handoff is judged by its own word; one that goes unchecked proves nothing."""
    with rop.run("small", expected=["a", "b", "b"]) as run:
        answer("a", "x", ["y", "x"], cutoff=2)
        answer("b", "x", ["x"])
    report = run.close()
    assert (report.status, report.run.expected, report.run.manifest_sha256) == ("RUN_PASS", 2, "")
    assert report.as_dict()["manifest_sha256"] is None
    assert [entry.rank for entry in report.entries] == [2, 1]
    assert semconv.DECLARATION_ID not in dict(watched.spans[-1].attributes or {})
    with rop.run("small", expected=["a", "b"]) as run:
        answer("a", "x", ["x"])
        answer("b", "x", ["x"], mode="soft")
    assert run.close().status == "RUN_UNVERIFIABLE"
    with rop.run("small", expected=["a"]) as run:
        assert answer("a", ..., ["x"]).verdict == "SELECTOR_ERROR"
    assert run.close().status == "RUN_UNVERIFIABLE"
    with rop.run("small", expected=["a"]) as run:
        answer("a", "x", ["x"], cutoff=-1)
    assert run.close().status == "RUN_INVALID"


def test_an_invalid_declaration(tmp_path: Path, watched: Watched) -> None:
    """The application goes on; every record and the run are invalid, and the report is that of ``evaluate``."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    (tmp_path / "resolver.json").write_bytes(b"{}")
    with rop.run("nightly", declaration=declaration, journal=journal) as run:
        assert answer("r1", "obj-a", ["a#0"]).verdict == "DECLARATION_INVALID"
    report = run.close()
    assert report.status == "RUN_INVALID"
    assert report.to_bytes() == evaluated(declaration, journal)
    assert watched.errors("run") == 1


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"declaration": "nowhere.json"},
        {"declaration": 7},
        {"expected": []},
        {"expected": "r1"},
        {"expected": ["r1", ""]},
        {"expected": ["r1", 7]},
        {"expected": 7},
    ],
)
def test_without_a_population_nothing_is_proved(given: dict[str, object], watched: Watched) -> None:
    """A run whose population cannot be told reports RUN_INVALID and why; in strict mode it raises."""
    with rop.run("nightly", **given) as run:  # type: ignore[arg-type]
        answer("r1", "obj-a", ["a#0"])
    assert run.close().status == "RUN_INVALID"
    assert run.close().run.faults
    assert watched.errors("run") >= 1
    runtime.install(Watched(strict=True).runtime)
    with pytest.raises(rop.RopError, match="nightly"):
        rop.run("nightly", **given)  # type: ignore[arg-type]


def test_wrong_arguments(tmp_path: Path, watched: Watched) -> None:
    """A wrong ID or deadline is counted and logged; in strict mode it raises, and no journal stays claimed."""
    journal = tmp_path / "journal.jsonl"
    for deadline in ("tomorrow", True, float("nan"), datetime(2030, 1, 1)):  # noqa: DTZ001
        run = rop.run("", expected=["a"], deadline=deadline, journal=journal)  # type: ignore[arg-type]
        assert (run.id, run.report) == ("unnamed", None)
        run.close()
    assert watched.errors("run") == 8
    runtime.install(Watched(strict=True).runtime)
    with pytest.raises(rop.RopError, match="deadline"):
        rop.run("a", expected=["a"], deadline="soon", journal=journal)  # type: ignore[arg-type]
    assert rop.run("unnamed", expected=["a"], journal=journal).close().incomplete == ()


def test_the_deadline_ends_a_run(tmp_path: Path) -> None:
    """What ends after the deadline is late: the report says what was there then, whoever looks first."""
    run = rop.run("nightly", declaration=sealed(tmp_path), deadline=timedelta(seconds=60))
    now = run._clock()
    run._clock, run._deadline = (lambda: now), now + 60
    with run:
        answer("r1", "obj-a", ["a#0"])
        now += 59
        answer("r2", "obj-a", ["a#0"])
        assert run.report is None
        now += 1
        assert answer("r3", "obj-a", ["a#0"]).verdict == "PASS"
        assert run.late == 1
        assert RUNS.of("nightly") is None
        assert run.standing().records["MISSING"] == 1
    assert run.close().run.accounts.missing == ("r3",)
    assert run.missing == ("r3",)
    assert run.standing().records["STARTED"] == 3


def test_deadlines_in_any_form() -> None:
    """Seconds, a timedelta and a moment with a time zone are deadlines."""
    for deadline in (0, -1.5, timedelta(0), datetime.now(UTC) - timedelta(hours=1)):
        assert rop.run("a", expected=["a"], deadline=deadline).report is not None
    for deadline in (3600, timedelta(days=1), datetime.now(UTC) + timedelta(hours=1)):
        assert rop.run("a", expected=["a"], deadline=deadline).report is None


def test_a_handoff_that_never_ends_is_missing() -> None:
    """After its time to live a handoff is missing, also should it end later."""
    watched = Watched(ttl_seconds=60)
    runtime.install(watched.runtime)
    watched.runtime.ledger._clock = lambda: now
    now = 0.0
    with rop.run("nightly", expected=["a", "b"]) as run:
        left = rop.start_handoff("qa", record_id="a", selected="x")
        slow = rop.start_handoff("qa", record_id="b", selected="x")
        with slow, rop.using_stage("vector") as stage:
            stage.returned(["x"])
        now = 61.0
        assert watched.runtime.ledger.open_count() == 0
        assert slow.close().verdict is None
    assert run.close().run.accounts.missing == ("a", "b")
    assert run.standing().records["STARTED"] == 2
    assert left.assessment.verdict is None


def test_a_slow_handoff_is_missing_though_nobody_looked() -> None:
    """Closing a handoff is itself a look at its time."""
    watched = Watched(ttl_seconds=60)
    runtime.install(watched.runtime)
    with rop.run("nightly", expected=["a"]) as run:
        slow = rop.start_handoff("qa", record_id="a", selected="x")
        watched.runtime.ledger._clock = lambda: float("inf")
        slow.close()
    assert run.close().run.accounts.missing == ("a",)


def test_the_applications_exceptions_pass() -> None:
    """An exception leaves the block as it is, and the run reports what was there."""
    run = rop.run("nightly", expected=["a", "b"])

    def work() -> None:
        with run:
            answer("a", "x", ["x"])
            raise LookupError

    with pytest.raises(LookupError):
        work()
    assert run.close().run.accounts.missing == ("b",)


class Failing(Observations):
    """Fails at every line."""

    def line_of(self, record: HandoffRecord, assessment: rop.Assessment) -> bytes:
        """Fail."""
        raise LookupError


def test_an_observation_that_fails_is_said(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where our own code fails, the application goes on and the report is not complete."""
    with rop.run("nightly", expected=["a"]) as run:
        monkeypatch.setattr(run._keeper, "observations", Failing(opened(), stamp=Stamp(run_id="nightly"), file=""))
        assert answer("a", "x", ["x"]).verdict == "PASS"
    assert run.close().incomplete == ("handoffs that could not be counted: 1",)
    assert run.close().as_dict()["incomplete"]
    assert (run.close().status, watched.errors("run")) == ("RUN_UNVERIFIABLE", 1)


def test_a_run_that_is_left_open_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past its most observations a run counts no more, and says so."""
    monkeypatch.setattr("rop_otel.runs.observations._MOST_BEYOND", 1)
    with rop.run("nightly", expected=["a"]) as run:
        for _ in range(5):
            answer("a", "x", ["x"])
    assert run.close().run.accounts.counts.observed == 2
    assert run.close().incomplete == ("handoffs not counted, beyond the most that a run may hold: 3",)


def test_switched_off(tmp_path: Path) -> None:
    """With monitoring off nothing is written and nothing is claimed."""
    runtime.install(Watched(enabled=False).runtime)
    with rop.run("nightly", expected=["a"], journal=tmp_path / "journal") as run:
        answer("a", "x", ["x"])
    assert run.close().incomplete == ("monitoring is off, so no handoff was observed",)
    assert not (tmp_path / "journal").exists()


def test_assessed_elsewhere(watched: Watched) -> None:
    """Where the monitor assesses, handoffs carry the run's terms and the run here says that it saw none."""
    monitored = Watched(assess="monitor")
    runtime.install(monitored.runtime)
    with rop.run("nightly", expected=["a"]) as run:
        answer("a", "x", ["x"])
    assert "monitor" in run.close().incomplete[0]
    assert monitored.attributes("handoff qa")[semconv.RUN_ID] == "nightly"


def test_spans_of_others_join_by_their_run_id(tmp_path: Path) -> None:
    """A handoff span that others made belongs to the open run that it names."""
    monitored = Monitored()
    runtime.install(monitored.runtime)
    with rop.run("nightly", declaration=sealed(tmp_path)) as run:
        attributes = {
            semconv.HANDOFF_NAME: "theirs",
            semconv.RUN_ID: "nightly",
            semconv.RECORD_ID: "r1",
            semconv.SELECTED_IDS: ["/wiki/A"],
        }
        with (
            monitored.tracer.start_as_current_span("work", attributes=attributes),
            monitored.tracer.start_as_current_span("find", attributes={semconv.STAGE: "vector"}) as span,
        ):
            span.set_attribute(semconv.RETURNED_IDS, ["a#1"])
    assert run.close().run.verdicts["PASS"] == 1
    assert run.standing().records["STARTED"] == 1


def test_numbers_of_the_newest_runs_are_kept() -> None:
    """Runs that have ended keep their numbers, up to a cap; the oldest give way, and one ID has one place."""
    for number in range(20):
        with rop.run(f"run {number % 18}", expected=["a"]):
            pass
    names = [standing.run_id for standing in RUNS.standings()]
    assert names == [f"run {number}" for number in (*range(4, 18), 0, 1)]
    with rop.run("run 10", expected=["a"]):
        assert [standing.run_id for standing in RUNS.standings()][-2:] == ["run 1", "run 10"]


def test_a_run_that_has_ended_is_let_go() -> None:
    """Of a run that has ended the process keeps its numbers and not its records."""
    run = rop.run("nightly", expected=["a"])
    with run:
        answer("a", "x", ["x"])
    kept = ref(run)
    del run
    gc.collect()
    assert kept() is None
    assert RUNS.standings()[-1].records["PASS"] == 1


def test_a_run_in_words(tmp_path: Path) -> None:
    """A report says in one line what the run came to."""
    with rop.run("nightly", expected=["a", "b"], journal=tmp_path) as run:
        answer("a", "x", ["x"])
    assert str(run.report).startswith("run 'nightly': RUN_UNVERIFIABLE (1 PASS, 1 MISSING); there is no journal: ")


def test_text_that_is_no_utf8(tmp_path: Path) -> None:
    """Half a surrogate pair in an ID becomes a question mark, as on an exported span, and breaks nothing."""
    declaration, journal = sealed(tmp_path), tmp_path / "journal.jsonl"
    with rop.run("nightly", declaration=declaration, journal=journal) as run:
        answer("r\ud8001", "obj-a", ["x\udc00", "a#0"])
    assert run.close().run.accounts.unexpected == ("r?1",)
    assert run.close().to_bytes() == evaluated(declaration, journal)
