from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import rop_otel as rop
from rop_otel.core.handoff import Basis, Severity, Verdict
from rop_otel.reference.assembly import make_pipeline
from rop_otel.reference.corpus import Question
from rop_otel.reference.faults import FAULTS, Fault, find_fault
from rop_otel.reference.parts import Parts
from rop_otel.reference.pipeline import EXPECTED, Outcome
from rop_otel.reference.recording import file_exporter, recording_provider, write_resolver
from rop_otel.reference.summary import Summary, summarise
from rop_otel.reference.tools import Tools
from rop_otel.replay import replay_files

NARROWER = ("expansion_ignores_budget",)
"""In so small a corpus the sources would return the siblings themselves, were they as deep as by default."""


@pytest.fixture
def monitored(tools: Tools) -> Iterator[None]:
    rop.configure(resolver=tools.index.corpus.resolver, strict=True)
    yield
    rop.shutdown()


def run(tools: Tools, questions: tuple[Question, ...], fault: Fault | None = None) -> tuple[list[Outcome], Summary]:
    pipeline = make_pipeline(tools, linked=True, parts=fault.install(Parts()) if fault else None)
    outcomes = [pipeline.answer(question) for question in questions]
    return outcomes, summarise(outcomes, canonical=tools.index.corpus.resolver.canonical)


def sized(tools: Tools, name: str) -> Tools:
    return replace(tools, settings=replace(tools.settings, depth=8, token_budget=250)) if name in NARROWER else tools


@pytest.mark.usefixtures("monitored")
@pytest.mark.parametrize("name", ["", *NARROWER])
def test_a_clean_run_raises_nothing_that_a_fault_would(
    tools: Tools, questions: tuple[Question, ...], name: str
) -> None:
    """Without a fault there is no error, no warning and no finding of any fault."""
    outcomes, summary = run(sized(tools, name), questions)
    assert not [found for found in summary.findings if found[0] is not Severity.INFO]
    assert not {fault.finding.value for fault in FAULTS.values()} & {code for _, code, _ in summary.findings}
    assert summary.verdicts[Verdict.PASS] >= 6
    assert [stage.stage for stage in outcomes[0].assessment.stages] == list(EXPECTED)


@pytest.mark.usefixtures("monitored")
@pytest.mark.parametrize("name", list(FAULTS))
def test_each_fault_is_caught_at_its_stage(tools: Tools, questions: tuple[Question, ...], name: str) -> None:
    """An injected failure gives its finding at its stage; what it loses is lost there for the cause it says."""
    fault = find_fault(name)
    _, summary = run(sized(tools, name), questions, fault)
    assert summary.found(fault.finding, fault.stage) > 0


@pytest.mark.usefixtures("monitored")
@pytest.mark.parametrize("name", ["prefix_cut", "hidden_cut", "cut_prompt"])
def test_what_a_cut_loses_is_blamed_on_it(tools: Tools, questions: tuple[Question, ...], name: str) -> None:
    """More objects are lost at the faulty stage, for its cause, than without the fault."""
    fault = find_fault(name)
    assert fault.cause is not None
    losses = [run(tools, questions, one)[1].losses.get((fault.stage, fault.cause.value), 0) for one in (None, fault)]
    assert losses[1] > losses[0]


@pytest.mark.usefixtures("monitored")
def test_what_is_recorded_is_what_the_prompt_holds(tools: Tools, questions: tuple[Question, ...]) -> None:
    """The shown list is read from the prompt; where the prompt holds nothing, nothing is shown and all abstain."""
    outcomes, _ = run(tools, questions)
    assert {outcome.assessment.shown.basis for outcome in outcomes} == {Basis.PROMPT}
    outcomes, summary = run(tools, questions, find_fault("empty_prompt"))
    assert {outcome.assessment.shown.ids for outcome in outcomes} == {()}
    assert summary.verdicts == {Verdict.UNVERIFIABLE: len(outcomes)}
    assert summary.abstained == len(outcomes)


@pytest.mark.usefixtures("monitored")
def test_two_runs_give_the_same_evidence(tools: Tools, questions: tuple[Question, ...]) -> None:
    """Selections, every list, answers and conclusions are equal in a second run."""
    first, second = (run(tools, questions)[0] for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert (one.selected, one.answer) == (other.selected, other.answer)
        assert _concluded(one) == _concluded(other)


@pytest.mark.usefixtures("monitored")
def test_totals_add_up(tools: Tools, questions: tuple[Question, ...]) -> None:
    """Verdicts, losses, selections and the funnel count the same handoffs, and every loss has an example."""
    outcomes, summary = run(tools, questions, find_fault("hidden_cut"))
    assert sum(summary.verdicts.values()) == summary.handoffs == len(outcomes)
    assert sum(summary.losses.values()) == summary.verdicts[Verdict.FAIL] > 0
    assert (summary.funnel[-1].stage, summary.funnel[-1].held) == ("shown", summary.verdicts[Verdict.PASS])
    assert summary.right + summary.wrong + summary.unselected == len(outcomes)
    assert set(summary.examples) == {*summary.losses, *summary.judged_losses}
    assert sum(summary.joints.values()) == sum(bool(outcome.assessment.joint) for outcome in outcomes) > 0
    assert [each.source for each in summary.worth] == ["vector", "lexical"]
    assert all(0 <= each.only <= each.shown for each in summary.worth)
    assert sum(each.only for each in summary.worth) <= sum(len(outcome.assessment.shown.ids) for outcome in outcomes)
    assert summary.instances["silent_cut", "mmr"][0] == "q1"
    assert [means.stage for means in summary.means] == [*EXPECTED, "shown"]
    assert summary.rescued
    lengths = [len(outcome.assessment.shown.ids) for outcome in outcomes]
    assert summary.means[-1].returned == pytest.approx(sum(lengths) / len(lengths))


def test_another_process_gives_the_same_evidence(tools: Tools, tmp_path: Path) -> None:
    """Nothing depends on the order of sets: another hash seed gives the same evidence."""
    code = (
        "import sys; from pathlib import Path; from rop_otel.reference.corpus import Question, read_standard_library;"
        "from rop_otel.reference.assembly import load_tools, make_pipeline;"
        "tools = load_tools(read_standard_library(modules=('heapq', 'queue')), cache=Path(sys.argv[1]));"
        "pipeline = make_pipeline(tools, linked=True);"
        "texts = ('merge sorted inputs', 'block until an item is available');"
        "outcomes = [pipeline.answer(Question(id=text, text=text)) for text in texts];"
        "print([(o.selected, o.answer.text, o.assessment.shown.ids) for o in outcomes])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


@pytest.mark.usefixtures("monitored")
def test_rescued_passages_continue_the_labels(tools: Tools) -> None:
    """A cited label of a rescued passage resolves to it."""
    narrow = replace(tools, settings=replace(tools.settings, diverse=1))
    pipeline = make_pipeline(narrow, linked=True)
    outcome = pipeline.answer(Question(id="q", text="serialize an object to JSON and sniff the delimiter of a sample"))
    rescued = next(stage for stage in outcome.assessment.stages if stage.stage == "rescue")
    assert rescued.returned
    assert outcome.assessment.citations.unresolved == outcome.assessment.citations.misattributed == 0
    assert not outcome.assessment.findings


@pytest.mark.usefixtures("monitored")
def test_a_question_without_selection_is_a_selector_error(tools: Tools) -> None:
    """Where a selection was due and none came, the verdict says so."""
    pipeline = make_pipeline(tools, linked=True)
    outcome = pipeline.answer(Question(id="q", text="Ancient Roman pottery in Gaul"))
    assert outcome.assessment.verdict is Verdict.SELECTOR_ERROR


@pytest.mark.usefixtures("monitored")
def test_the_title_of_the_selected_object_can_be_the_query(tools: Tools) -> None:
    """With ``query="title"`` the selected object's title is looked for, whatever the question's words are."""
    titled = replace(tools, settings=replace(tools.settings, query="title"))
    question = Question(id="q", text="?", selected="heapq.merge", recorded=True)
    outcome = make_pipeline(titled, linked=False).answer(question)
    assert outcome.assessment.verdict is Verdict.PASS


def test_exported_spans_replay_to_the_same_conclusions(
    tools: Tools, questions: tuple[Question, ...], tmp_path: Path
) -> None:
    """Replay of the exported file with its resolver gives the assessments of the live run."""
    file = tmp_path / "spans.jsonl"
    provider = recording_provider(file_exporter(file), service_name="test")
    rop.configure(resolver=tools.index.corpus.resolver, tracer_provider=provider)
    try:
        outcomes, _ = run(tools, questions, find_fault("sources_as_prefix"))
    finally:
        rop.shutdown()
        provider.shutdown()
    report = replay_files([str(file)], resolver=str(write_resolver(tools.index.corpus.resolver, file)))
    assert [one.as_dict() for one in report.assessments] == [outcome.assessment.as_dict() for outcome in outcomes]


def test_monitoring_switched_off_changes_no_answer(tools: Tools, questions: tuple[Question, ...]) -> None:
    """The pipeline answers alike without its monitor."""
    watched = [outcome.answer for outcome in run(tools, questions)[0]]
    rop.configure(enabled=False)
    try:
        unwatched = [outcome.answer for outcome in run(tools, questions)[0]]
    finally:
        rop.configure()
        rop.shutdown()
    assert watched == unwatched


def _concluded(outcome: Outcome) -> dict[str, object]:
    concluded = outcome.assessment.as_dict()
    return {key: value for key, value in concluded.items() if key not in ("handoff_id", "trace_id")}
