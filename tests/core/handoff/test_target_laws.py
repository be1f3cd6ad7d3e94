"""Laws of wrapping, of what has to arrive, of both targets, and of what a list is known by."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from rop_otel.core.handoff import Assessment, DropCause, HandoffRecord, StageRecord, Verdict, assess, kinds
from rop_otel.core.handoff.arrangement import arrange
from rop_otel.core.handoff.shown_list import ShownList
from rop_otel.core.handoff.stage_graph import StageGraph
from tests.core.build import found
from tests.core.strategies import IDENTITY, handoffs, nested

ANY = handoffs(parents=False) | nested()
SETTLED = {Verdict.PASS, Verdict.FAIL}


def shown_list(record: HandoffRecord) -> ShownList:
    """Return a handoff's shown list."""
    return StageGraph(record, None).shown


def apart(record: HandoffRecord) -> HandoffRecord:
    """Return a handoff whose stages end at even times and each at another one, in the order that they have."""
    graph = arrange(record)
    places = {stage.span_id: 2 * place for place, stage in zip(graph.places, graph.stages, strict=True)}
    stages = [
        replace(each, start_ns=0, end_ns=places[each.span_id]) for each in record.stages if each.span_id in places
    ]
    return replace(record, stages=tuple(stages))


def wrapped(record: HandoffRecord, inner: StageRecord, **facts: object) -> HandoffRecord:
    """Return a handoff with a stage of one's own around one of its stages, which returns the same list."""
    assert inner.end_ns is not None
    outer = StageRecord(
        kind="of one's own",
        returned=inner.returned,
        returned_count=inner.returned_count,
        round=inner.round,
        span_id="wrapper",
        parent_id=inner.parent_id,
        start_ns=0,
        end_ns=inner.end_ns + 1,
        **facts,  # type: ignore[arg-type]
    )
    others = [each for each in record.stages if each is not inner]
    return replace(record, stages=(*others, replace(inner, parent_id="wrapper"), outer))


@given(ANY, st.data())
def test_a_wrapper_changes_nothing(record: HandoffRecord, data: st.DataObject) -> None:
    """A stage of one's own around any stage, with the same list, changes nothing; nor does a source around a source."""
    record = apart(record)
    stages = [each for each in record.stages if each.returned is not None and each.kind != kinds.READER]
    assume(stages)
    inner = data.draw(st.sampled_from(stages))
    assert assess(wrapped(record, inner)) == assess(record)
    if kinds.is_source(inner):
        assert assess(wrapped(record, inner, source=True)) == assess(record)


@given(nested())
def test_what_ran_within_a_source_reaches_others_through_it(record: HandoffRecord) -> None:
    """A stage within a source feeds that source or what else runs within, unless it stands for it or is named."""
    graph = StageGraph(replace(record, stages=tuple(replace(each, fed_by=()) for each in record.stages)), None)
    for place, fed in enumerate(graph.feeds):
        for feed in fed.places:
            around = [
                at for at, stage in enumerate(graph.stages) if kinds.is_source(stage) and graph.encloses(at, feed)
            ]
            assert all(at == place or graph.encloses(at, place) for at in around)


@given(ANY)
def test_every_key_is_no_less_than_one(record: HandoffRecord) -> None:
    """Where every key is needed the rank is no better, and what arrives then arrives where one is needed, too."""
    one, every = (assess(replace(record, need=need)) for need in ("one", "every"))
    if every.selected_rank is not None:
        assert one.selected_rank is not None
        assert one.selected_rank <= every.selected_rank
    assert every.verdict is not Verdict.PASS or one.verdict is Verdict.PASS
    assert one.verdict is not Verdict.FAIL or every.verdict is Verdict.FAIL
    if record.selected is not None and len(set(record.selected)) == 1:
        assert one == every


@given(ANY)
def test_the_joint_outcome_is_that_of_the_ranks(record: HandoffRecord) -> None:
    """Each half of the joint outcome says whether that target is among the first shown IDs, as far as they count."""
    result, shown = assess(record), shown_list(record)
    if result.joint is None:
        return
    ids = shown.up_to(record.cutoff)
    relevant = {raw for raw, grade in graded(record).items() if grade > 0}
    assert (result.joint in {"both", "judged_only"}) == bool(relevant & set(ids))
    arrived = result.joint in {"both", "selected_only"}
    if result.verdict in SETTLED:
        assert arrived == (result.verdict is Verdict.PASS)
    if record.cutoff is not None:
        assert arrived == (result.selected_rank is not None and result.selected_rank <= record.cutoff)


def graded(record: HandoffRecord) -> dict[str, int]:
    """Return the judged IDs with their highest grade."""
    grades: dict[str, int] = {}
    for place, raw in enumerate(record.judged or ()):
        grade = record.grades[place] if place < len(record.grades) else 1
        if raw:
            grades[raw] = max(grade, grades.get(raw, grade))
    return grades


@given(ANY)
def test_judged_objects_are_shown_or_lost(record: HandoffRecord) -> None:
    """Of a list that is known each judged object is shown or lost, once, in the order of the judgments."""
    result, shown = assess(record), shown_list(record)
    if not shown.usable or shown.cut:
        assert result.judged_losses is None
        return
    relevant = [raw for raw, grade in graded(record).items() if grade > 0]
    assert result.judged_losses is not None
    lost = [each.id for each in result.judged_losses]
    assert sorted(lost) == sorted(set(relevant) - set(shown.ids))
    assert DropCause.BELOW_CUTOFF not in {each.drop.cause for each in result.judged_losses}
    assert result.judged_losses == assess(record, resolver=IDENTITY).judged_losses


@given(ANY)
def test_one_loss_whoever_asks(record: HandoffRecord) -> None:
    """A selected object that is judged, too, was lost where the judged one was."""
    selected = (record.selected or ("a",))[:1]
    result = assess(replace(record, selected=selected, judged=selected, grades=(), mode=None, cutoff=None, rule=None))
    assert result.agreement in {True, None}
    if result.verdict is Verdict.FAIL and result.drop is not None and result.judged_losses is not None:
        assert [(each.id, each.drop) for each in result.judged_losses] == [(selected[0], result.drop)]
    assert result.joint in {"both", "neither", None}


def packings(record: HandoffRecord) -> list[StageRecord]:
    return [stage for stage in arrange(record).stages if stage.kind in kinds.SHOWING]


@given(ANY, st.data())
def test_nothing_is_certain_of_what_was_not_seen(record: HandoffRecord, data: st.DataObject) -> None:
    """Where a shown list is not in the prompt that was seen there is no PASS, no FAIL and nothing shown."""
    graph = StageGraph(record, None)
    shown = [graph.stages[place] for place in graph.shown.places if graph.stages[place].kind in kinds.SHOWING]
    assume(shown)
    unseen = data.draw(st.sampled_from(shown))
    stages = tuple(replace(each, basis="unseen") if each is unseen else each for each in record.stages)
    result = assess(replace(record, stages=stages))
    assert result.verdict not in SETTLED
    assert (result.shown.ids, result.shown.basis, result.joint, result.judged_losses) == ((), None, None, None)
    assert "context_not_in_prompt" in {finding.code for finding in result.findings}


@given(ANY)
def test_the_basis_is_the_weakest(record: HandoffRecord) -> None:
    """One list that is only assumed makes the whole of them so; a stronger word changes no verdict."""
    result = assess(record)
    told = tuple(
        replace(each, basis=None if each.basis in {"prompt", "assumed"} else each.basis) for each in record.stages
    )
    other = assess(replace(record, stages=told))
    assert replace(result, shown=other.shown) == other
    if result.shown.basis == "prompt":
        assert "prompt" in {stage.basis for stage in packings(record)}
    if result.shown.basis == "recorded":
        assert packings(record)


@given(ANY)
def test_nobody_knows_after_a_packing_that_failed(record: HandoffRecord) -> None:
    """Where every packing failed, or the handoff did without one, there is no PASS and no FAIL."""
    stages = tuple(replace(each, failed=each.failed or each.kind == kinds.PACKING) for each in record.stages)
    had_packing = any(each.kind == kinds.PACKING for each in stages)
    assert assess(replace(record, stages=stages, failed=not had_packing)).verdict not in SETTLED


@given(ANY)
def test_thin_and_cut_passages(record: HandoffRecord) -> None:
    """Nothing is thin where no token is asked for, and no passage is cut of which all was seen."""
    thick = assess(replace(record, min_tokens=0))
    assert found(thick, "thin_passage") == []
    whole = tuple(
        replace(each, shares=None if each.shares is None else (1.0,) * len(each.shares)) for each in record.stages
    )
    assert found(assess(replace(record, stages=whole)), "passage_cut") == []
    relevant = {raw for raw, grade in graded(record).items() if grade > 0} | set(record.selected or ())
    for finding in assess(record).findings:
        if finding.code in {"thin_passage", "passage_cut"}:
            assert set(finding.ids) <= relevant


@given(handoffs(parents=False))
def test_failures_are_told_once_each(record: HandoffRecord) -> None:
    """Each stage that failed is one finding: left out, late or neither."""
    failed = [each for each in record.stages if each.failed]
    assert sorted(each.stage for each in found(assess(record), "stage_failed")) == sorted(each.kind for each in failed)


def labels_at_fault(assessment: Assessment) -> list[tuple[str, str, tuple[str, ...]]]:
    codes = {"label_duplicate", "label_misattributed"}
    return [(each.code, each.stage, each.labels) for each in assessment.findings if each.code in codes]


@given(handoffs())
def test_numbers_per_file_need_a_resolver(record: HandoffRecord) -> None:
    """Labels that stand for objects are at fault where those of passages are, if each passage is an object."""
    scoped = [assess(replace(record, label_scope=scope), resolver=IDENTITY) for scope in ("passage", "object")]
    assert labels_at_fault(scoped[0]) == labels_at_fault(scoped[1])


@given(handoffs(parents=False))
def test_empty_lists(record: HandoffRecord) -> None:
    """Only a stage that returned nothing at all is reported for it, and none that may."""
    for finding in found(assess(record), "nothing_returned"):
        alike = [each for each in record.stages if (each.kind, each.name) == (finding.stage, finding.name)]
        assert any(each.returned == () and not each.returned_count for each in alike)
        assert finding.stage not in {kinds.RESCUE, kinds.READER}
