"""The tally: what is counted, under which labels."""

from __future__ import annotations

from threading import Thread

from rop_otel import semconv
from rop_otel.core.handoff import ListFinding
from rop_otel.core.handoff.assessment import (
    CitationCounts,
    Drop,
    DropCause,
    Joint,
    JudgedLoss,
    Severity,
    Shown,
    SourceShown,
    Verdict,
)
from rop_otel.core.handoff.sink import Notice
from rop_otel.meters.numbers import Exemplar
from rop_otel.meters.tally import Tally
from tests.meters.build import SPAN, START, TRACE, assessment, failed, finding, full, handoff, runs, scored, stage


def numbers(tally: Tally, metric: semconv.Metric) -> dict[tuple[str, ...], float]:
    """Return a metric's series as a mapping."""
    return {point.values: point.number for point in tally.points(metric)}


def test_scores_are_sums_and_counts() -> None:
    """Scores of .2 and .9 give the sum 1.1 and the count 2."""
    tally = Tally()
    for value in (0.2, 0.9):
        outcome = assessment(stages=(scored("vector", judged={"recall@5": value}),))
        tally.assessed(handoff("qa", stage("vector", "d1")), outcome, seconds=0.0)
    series = ("qa", "vector", "judged", "recall", "5", "")
    assert numbers(tally, semconv.STAGE_SCORE)[series] == 1.1
    assert numbers(tally, semconv.STAGE_SCORED)[series] == 2


def test_a_measure_without_a_depth_has_none() -> None:
    """The reciprocal rank of the shown list is exported as ``rr`` of ``shown`` with an empty depth."""
    tally = Tally()
    tally.assessed(handoff(), assessment(shown=Shown(selected={"rr": 0.5})), seconds=0.0)
    assert numbers(tally, semconv.STAGE_SCORE) == {("qa", "shown", "selected", "rr", "", ""): 0.5}


def test_a_score_that_is_no_number_is_left_out() -> None:
    """NaN and infinity are in neither the sum nor the count."""
    tally = Tally()
    for value in (float("nan"), float("inf"), 0.5):
        tally.assessed(handoff(), assessment(stages=(scored("mmr", {"rr": value}),)), seconds=0.0)
    series = ("qa", "mmr", "selected", "rr", "", "")
    assert numbers(tally, semconv.STAGE_SCORE)[series] == 0.5
    assert numbers(tally, semconv.STAGE_SCORED)[series] == 1


def test_every_verdict_starts_at_zero() -> None:
    """The first handoff of a name starts the series of all seven verdicts in its mode."""
    tally = Tally()
    tally.assessed(handoff(), assessment(Verdict.PASS), seconds=0.0)
    assert numbers(tally, semconv.VERDICTS) == {
        ("qa", verdict.value, "hard"): float(verdict is Verdict.PASS) for verdict in Verdict
    }


def test_an_invalid_mode_is_other() -> None:
    """A mode that is none of the contract's, whatever it is, counts under ``other``."""
    tally = Tally()
    for mode in ("strict", "user 17"):
        tally.assessed(handoff(), assessment(Verdict.DECLARATION_INVALID, mode=mode), seconds=0.0)
    assert numbers(tally, semconv.VERDICTS)["qa", "DECLARATION_INVALID", "other"] == 2


def test_losses_start_at_zero_where_they_may_happen() -> None:
    """A stage's losses start at 0 with the causes of its kind, and so do those that no stage is blamed for."""
    tally = Tally()
    tally.assessed(handoff("qa", stage("mmr"), stage("packing"), stage("reader")), assessment(), seconds=0.0)
    series = {values[1:] for values in numbers(tally, semconv.MISSES)}
    common = {"below_cutoff", "silent_cut", "unobserved_stage", "beyond_recorded_depth"}
    assert {cause for at, cause in series if at == "mmr"} == {"diversified_away"} | common
    assert {cause for at, cause in series if at == "packing"} == {"over_budget", "no_text"} | common
    assert {cause for at, cause in series if at == ""} >= {"never_retrieved", "unused", "beyond_recorded_depth"}
    assert not {cause for at, cause in series if at == "reader"}
    assert set(numbers(tally, semconv.MISSES).values()) == {0}


def test_a_declared_stage_that_never_ran_starts_at_zero() -> None:
    """The losses at an expected stage without a span start at 0 when it is first declared."""
    tally = Tally()
    tally.assessed(handoff("qa", stage("vector"), expected=("vector", "rerank")), assessment(), seconds=0.0)
    assert numbers(tally, semconv.MISSES)["qa", "rerank", "unobserved_stage"] == 0


def test_a_loss_carries_its_handoff() -> None:
    """A loss counts under its stage and cause, with the trace and span of the latest handoff that it hit."""
    tally = Tally()
    tally.assessed(handoff("qa", stage("mmr")), failed(), seconds=0.0)
    (point,) = [point for point in tally.points(semconv.MISSES) if point.number]
    assert point.values == ("qa", "mmr", "diversified_away")
    assert point.exemplar == Exemplar(trace_id=TRACE, span_id=SPAN, time=(START + 5_000_000) / 1e9)


def test_a_loss_without_a_stage_has_an_empty_one() -> None:
    """An object that nothing retrieved is lost at no stage."""
    tally = Tally()
    tally.assessed(handoff(), failed(None, DropCause.NEVER_RETRIEVED), seconds=0.0)
    assert numbers(tally, semconv.MISSES)["qa", "", "never_retrieved"] == 1


def test_the_funnel() -> None:
    """Lists with and without the selected object are counted, unknown ones in neither."""
    tally = Tally()
    for present in (True, True, False, None):
        outcome = assessment(stages=(scored("fusion", present=present),))
        tally.assessed(handoff("qa", stage("fusion")), outcome, seconds=0.0)
    assert numbers(tally, semconv.STAGE_SELECTED) == {
        ("qa", "fusion", "true", "", ""): 2,
        ("qa", "fusion", "false", "", ""): 1,
    }


def test_sizes_and_executions() -> None:
    """IDs are counted by their true number, also where the list was cut; an unreadable list adds none."""
    tally = Tally()
    stages = (stage("vector", "a", "b"), stage("vector", "a", returned_count=50))
    tally.assessed(handoff("qa", *stages), assessment(), seconds=0.0)
    assert numbers(tally, semconv.STAGE_EXECUTIONS) == {("qa", "vector", "", ""): 2}
    assert numbers(tally, semconv.STAGE_RETURNED) == {("qa", "vector"): 52}


def test_judged_losses() -> None:
    """Each lost judged object counts under its stage and cause; the series start with the first judged handoff."""
    tally = Tally()
    tally.assessed(handoff("qa", stage("mmr"), judged=None), assessment(judged_losses=()), seconds=0.0)
    assert not tally.points(semconv.JUDGED_MISSES)
    lost = [Drop(cause=DropCause.DIVERSIFIED_AWAY, stage="mmr")] * 2 + [Drop(cause=DropCause.NEVER_RETRIEVED)]
    losses = tuple(JudgedLoss(id=f"d{number}", drop=drop) for number, drop in enumerate(lost))
    tally.assessed(handoff("qa", stage("mmr"), stage("packing")), assessment(judged_losses=losses), seconds=0.0)
    series = numbers(tally, semconv.JUDGED_MISSES)
    assert {values: number for values, number in series.items() if number} == {
        ("qa", "mmr", "diversified_away"): 2,
        ("qa", "", "never_retrieved"): 1,
    }
    assert {cause for _, at, cause in series if at == "packing"} == {
        "over_budget",
        "no_text",
        "silent_cut",
        "unobserved_stage",
        "beyond_recorded_depth",
    }
    assert not any(numbers(tally, semconv.MISSES).values())


def test_a_handoff_of_which_no_loss_is_known_starts_none() -> None:
    """Without a usable shown list nothing is known about judged objects, and there is no series of 0."""
    tally = Tally()
    tally.assessed(handoff("qa", stage("mmr")), assessment(), seconds=0.0)
    assert not tally.points(semconv.JUDGED_MISSES)


def test_joint_outcomes_start_at_zero() -> None:
    """The first handoff with both targets starts all outcomes; one without both starts none."""
    tally = Tally()
    tally.assessed(handoff(), assessment(), seconds=0.0)
    assert not tally.points(semconv.JOINTS)
    tally.assessed(handoff(), assessment(joint=Joint.JUDGED_ONLY, agreement=False), seconds=0.0)
    assert numbers(tally, semconv.JOINTS) == {
        ("qa", joint.value, agreement): float((joint, agreement) == (Joint.JUDGED_ONLY, "false"))
        for joint in Joint
        for agreement in ("true", "false")
    }


def test_what_each_source_is_worth() -> None:
    """Shown IDs count by the source that returned them, and by whether no other source did."""
    tally = Tally()
    sources = (SourceShown(stage="vector", shown=5, only=2), SourceShown(stage="lexical"))
    for _ in range(2):
        tally.assessed(handoff(), assessment(sources=sources), seconds=0.0)
    assert numbers(tally, semconv.SOURCE_SHOWN) == {
        ("qa", "vector", "true"): 4,
        ("qa", "vector", "false"): 6,
        ("qa", "lexical", "true"): 0,
        ("qa", "lexical", "false"): 0,
    }


def test_answers_and_abstentions() -> None:
    """Answers count where it is known whether they abstain."""
    tally = Tally()
    readers = [stage("reader", abstained=abstained) for abstained in (True, False, False, None)]
    tally.assessed(handoff("qa", *readers), assessment(), seconds=0.0)
    assert numbers(tally, semconv.ANSWERS) == {("qa", "answered"): 2, ("qa", "abstained"): 1}


def test_rounds_and_forms_are_told_apart() -> None:
    """Scores count by round, the funnel by round and form of the query; from the fourth round on they are one."""
    tally = Tally()
    for number in (1, 4, 9):
        ran = scored("vector", {"rr": 1.0}, present=True, round=number, query_form="rewrite")
        tally.assessed(handoff(), assessment(stages=(ran,)), seconds=0.0)
    assert {values[-1]: number for values, number in numbers(tally, semconv.STAGE_SCORED).items()} == {"1": 1, "4+": 2}
    held = {values[2:]: number for values, number in numbers(tally, semconv.STAGE_SELECTED).items() if number}
    assert held == {("true", "1", "rewrite"): 1, ("true", "4+", "rewrite"): 2}


def test_forms_and_implementations_are_capped() -> None:
    """Of forms, and of each stage's implementations, the first eight are kept; any further one is ``other``."""
    tally = Tally()
    for number in range(40):
        ran = [
            stage(kind, "a", query_form=f"form {number}", implementation=f"{kind} {number}")
            for kind in ("vector", "web")
        ]
        outcome = assessment(stages=tuple(scored(one.kind, present=True, query_form=one.query_form) for one in ran))
        tally.assessed(handoff("qa", *ran), outcome, seconds=0.0)
    executions = numbers(tally, semconv.STAGE_EXECUTIONS)
    assert executions["qa", "vector", "other", "other"] == 32
    assert executions["qa", "web", "web 7", "form 7"] == 1
    assert len(executions) == 2 * 9
    assert {values[-1] for values in numbers(tally, semconv.STAGE_SELECTED)} == {
        *(f"form {number}" for number in range(8)),
        "other",
    }


def test_two_of_a_kind_are_kept_apart() -> None:
    """In a handoff with two retrievers of one kind, scores, funnel and worth have the name beside the kind."""
    tally = Tally()
    both = [scored("vector", {"rr": 1.0}, present=True, name=name) for name in ("title", "body")]
    worth = [SourceShown(stage="vector", name=name, shown=1) for name in ("title", "body")]
    tally.assessed(
        handoff("qa", stage("vector", "a")),
        assessment(stages=(*both, scored("mmr", present=True, name="x")), sources=tuple(worth)),
        seconds=0.0,
    )
    tally.assessed(handoff("qa", stage("vector", "a")), assessment(stages=(both[0],)), seconds=0.0)
    assert {values[1] for values in numbers(tally, semconv.STAGE_SELECTED)} == {
        "vector title",
        "vector body",
        "mmr",
        "vector",
    }
    assert {values[1] for values in numbers(tally, semconv.SOURCE_SHOWN)} == {"vector title", "vector body"}
    assert {values[1] for values in numbers(tally, semconv.STAGE_EXECUTIONS)} == {"vector"}


def test_names_of_one_kind_are_capped() -> None:
    """Names that differ from handoff to handoff count under their kind once the cap is reached."""
    tally = Tally(max_stages=4)
    for number in range(50):
        both = tuple(scored("vector", {"rr": 1.0}, name=f"{side} {number}") for side in "ab")
        tally.assessed(handoff(), assessment(stages=both), seconds=0.0)
    series = numbers(tally, semconv.STAGE_SCORED)
    assert len(series) == 5
    assert series["qa", "vector", "selected", "rr", "", ""] == 96


def test_durations_fall_into_buckets() -> None:
    """A duration on a bound belongs to the bucket below it; a stage that has not ended has none."""
    tally = Tally()
    stages = (stage("mmr", millis=1), stage("mmr", millis=20_000), stage("mmr", end_ns=None), stage("mmr", millis=-5))
    tally.assessed(handoff("qa", *stages), assessment(), seconds=0.0)
    (point,) = tally.histograms(semconv.STAGE_DURATION)
    assert point.values == ("qa", "mmr")
    assert (point.counts[0], point.counts[-1], sum(point.counts), point.total) == (2, 1, 3, 20.001)


def test_findings_citations_and_tokens() -> None:
    """Findings count by stage, code and severity; citations by outcome; tokens as used and allowed."""
    tally = Tally()
    outcome = assessment(
        findings=(finding(), finding(), finding(ListFinding.DUPLICATE_IDS, "vector")),
        citations=CitationCounts(resolved=3, unattached=1),
    )
    packed = stage("packing", tokens=812, token_budget=1200)
    broken = stage("packing", tokens=5, token_budget=1200, failed=True)
    negative = stage("packing", tokens=-1)
    tally.assessed(handoff("qa", packed, broken, negative), outcome, seconds=0.0)
    assert numbers(tally, semconv.FINDINGS_COUNT) == {
        ("qa", "packing", "top_ranked_cut", Severity.ERROR.value): 2,
        ("qa", "vector", "duplicate_ids", Severity.INFO.value): 1,
    }
    assert numbers(tally, semconv.CITATIONS) == {
        ("qa", "resolved"): 3,
        ("qa", "unresolved"): 0,
        ("qa", "misattributed"): 0,
        ("qa", "unattached"): 1,
    }
    assert numbers(tally, semconv.CONTEXT_TOKENS_USED) == {("qa",): 812}
    assert numbers(tally, semconv.CONTEXT_BUDGET) == {("qa",): 1200}


def test_names_and_stages_are_capped() -> None:
    """Handoff names and stage kinds beyond the cap count under ``other``, however many, and the monitor says so."""
    tally = Tally(max_names=2, max_stages=3)
    for number in range(50):
        tally.assessed(handoff(f"name {number}", stage(f"kind {number}")), assessment(), seconds=0.0)
    executions = numbers(tally, semconv.STAGE_EXECUTIONS)
    assert {values[0] for values in executions} == {"name 0", "name 1", "other"}
    assert executions["other", "other", "", ""] == 47
    assert numbers(tally, semconv.SELF_OTHER) == {(): 48 + 47}
    assert sum(executions.values()) == 50


def test_a_stage_called_shown_is_other() -> None:
    """A custom stage of the kind ``shown`` cannot be mistaken for the shown list."""
    tally = Tally()
    outcome = assessment(stages=(scored("shown", {"rr": 1.0}),), shown=Shown(selected={"rr": 0.5}))
    tally.assessed(handoff("qa", stage("shown")), outcome, seconds=0.0)
    kinds = {values[1]: number for values, number in numbers(tally, semconv.STAGE_SCORE).items()}
    assert kinds == {"other": 1.0, "shown": 0.5}


def test_a_name_that_cannot_be_encoded_is_mended() -> None:
    """A lone surrogate in a name becomes a question mark, so that it cannot break every scrape."""
    tally = Tally()
    tally.assessed(handoff("q\ud800"), assessment(), seconds=0.0)
    assert {point.values[0] for point in tally.points(semconv.VERDICTS)} == {"q?"}


def test_a_handoff_assessed_elsewhere_counts_nothing() -> None:
    """Without a verdict nothing is added."""
    tally = Tally()
    tally.assessed(handoff("qa", stage("mmr")), assessment(None), seconds=0.0)
    assert not any(tally.points(metric) for metric in semconv.METRICS if metric.attributes)


def test_the_monitor_counts_itself() -> None:
    """Notices, errors by place, open handoffs and the time of assessing are shown from the start."""
    tally = Tally(open_count=lambda: 7)
    assert numbers(tally, semconv.SELF_LATE) == {(): 0}
    tally.noticed(Notice.LATE)
    tally.noticed(Notice.EXPIRED)
    tally.noticed(Notice.ERROR, where="resolver")
    tally.assessed(handoff(), assessment(), seconds=0.0002)
    assert numbers(tally, semconv.SELF_LATE) == {(): 1}
    assert numbers(tally, semconv.SELF_EXPIRED) == {(): 1}
    assert numbers(tally, semconv.SELF_REJECTED) == {(): 0}
    assert numbers(tally, semconv.SELF_ERRORS) == {("resolver",): 1}
    assert numbers(tally, semconv.SELF_OPEN) == {(): 7}
    assert sum(tally.histograms(semconv.SELF_ASSESS_DURATION)[0].counts) == 1


def test_every_exposed_metric_can_be_read() -> None:
    """After one full handoff each exposed metric has a series, with as many values as it has attributes."""
    tally = Tally(runs=runs)
    tally.assessed(handoff("qa", stage("packing", "d1")), full(), seconds=0.0)
    tally.noticed(Notice.ERROR, where="x")
    for metric in semconv.METRICS:
        series = tally.histograms(metric) if metric.kind == "histogram" else tally.points(metric)
        assert series, metric.name
        assert {len(point.values) for point in series} == {len(metric.attributes)}


def test_runs_are_shown_as_they_stand() -> None:
    """A run has a series for each verdict and for each status, of which the one that it has is 1."""
    tally = Tally(runs=runs)
    assert numbers(tally, semconv.RUN_RECORDS) == {
        ("nightly", "PASS"): 3,
        ("nightly", "FAIL"): 1,
        ("nightly", "MISSING"): 0,
    }
    assert numbers(tally, semconv.RUN_STATUS) == {
        ("nightly", "RUN_INVALID"): 0,
        ("nightly", "NOT_APPLICABLE"): 0,
        ("nightly", "RUN_FAIL"): 1,
        ("nightly", "RUN_UNVERIFIABLE"): 0,
        ("nightly", "RUN_PASS"): 0,
    }


def test_threads_add_up() -> None:
    """Handoffs that end at the same time in several threads, while somebody reads, are all counted."""
    tally = Tally()
    outcome = assessment(stages=(scored("mmr", {"rr": 0.5}),))

    def work() -> None:
        for number in range(200):
            tally.assessed(handoff(f"name {number % 20}", stage("mmr", "d1")), outcome, seconds=0.0)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for metric in semconv.METRICS:
            tally.points(metric)
    assert sum(numbers(tally, semconv.VERDICTS).values()) == 800
    assert sum(numbers(tally, semconv.STAGE_SCORE).values()) == 400
