"""Laws that hold for every handoff."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rop_otel.core.handoff import Assessment, HandoffRecord, StageRecord, Verdict, assess
from rop_otel.core.profile import Resolver
from tests.core.strategies import IDENTITY, IDS, handoffs


def all_scores(assessment: Assessment) -> list[Any]:
    """Return every score object of an assessment."""
    stages = [scores for each in assessment.stages for scores in (each.selected, each.judged)]
    return [*stages, assessment.shown.selected, assessment.shown.judged]


def mapped(record: HandoffRecord, names: dict[str, str]) -> HandoffRecord:
    """Return a record with every ID replaced."""

    def over(ids: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if ids is None else tuple(names.get(raw, raw) for raw in ids)

    stages = tuple(replace(each, returned=over(each.returned), input=over(each.input)) for each in record.stages)
    return replace(record, selected=over(record.selected), judged=over(record.judged), stages=stages)


@given(handoffs())
def test_scores_are_bounded_and_recall_grows(record: HandoffRecord) -> None:
    """Every score is between 0 and 1, and recall does not fall with k."""
    for scores in all_scores(assess(record)):
        assert all(0 <= value <= 1 + 1e-12 for value in scores.values())
        recalls = [scores[name] for name in ("recall@1", "recall@3", "recall@5", "recall@10") if name in scores]
        assert recalls == sorted(recalls)


@given(handoffs(), st.permutations(IDS))
def test_ids_are_only_names(record: HandoffRecord, shuffled: list[str]) -> None:
    """Renaming the IDs one to one renames them in the findings and the shown list and changes nothing else."""
    names = dict(zip(IDS, shuffled, strict=True))
    before, after = assess(record), assess(mapped(record, names))

    def facts(assessment: Assessment, names: dict[str, str]) -> Any:
        found = [
            (each.code, each.stage, each.name, each.round, {names.get(raw, raw) for raw in each.ids}, each.labels)
            for each in assessment.findings
        ]
        shown = tuple(names.get(raw, raw) for raw in assessment.shown.ids)
        losses = [(names.get(each.id, each.id), each.drop) for each in assessment.judged_losses or ()]
        rest = replace(assessment, findings=(), judged_losses=(), shown=replace(assessment.shown, ids=()))
        return found, shown, losses, rest

    assert facts(before, names) == facts(after, {})


@given(handoffs(), st.randoms(use_true_random=False))
def test_the_order_in_the_record_is_no_fact(record: HandoffRecord, random: Any) -> None:
    """Stages may come in any order."""
    stages = list(record.stages)
    random.shuffle(stages)
    assert assess(replace(record, stages=tuple(stages))) == assess(record)


@given(handoffs(parents=False))
def test_readers_change_no_score(record: HandoffRecord) -> None:
    """Without its readers a handoff has the same verdict, rank, loss, scores and shown list."""
    without = replace(record, stages=tuple(each for each in record.stages if each.kind != "reader"))
    one, other = assess(record), assess(without)
    assert (one.verdict, one.selected_rank, one.drop) == (other.verdict, other.selected_rank, other.drop)
    assert (one.stages, one.shown) == (other.stages, other.shown)


@given(handoffs(counts=False, readable=True))
def test_pass_is_rank_within_cutoff(record: HandoffRecord) -> None:
    """Where nothing is cut PASS and FAIL are the rank against the cutoff, and a FAIL has a cause."""
    result = assess(record)
    if result.verdict in {Verdict.PASS, Verdict.FAIL}:
        within = result.selected_rank is not None and (record.cutoff is None or result.selected_rank <= record.cutoff)
        assert (result.verdict is Verdict.PASS) is (result.drop is None) is within
    elif result.verdict is Verdict.UNVERIFIABLE:
        assert not result.shown.ids


def cut_to(stage: StageRecord, depth: int) -> StageRecord:
    """Return a stage of which only the first IDs were recorded, with what is aligned to them."""
    if stage.returned is None or len(stage.returned) <= depth:
        return stage
    whole = len(stage.returned)

    def head(values: Any) -> Any:
        return values[:depth] if values is not None and len(values) == whole else None

    return replace(
        stage,
        returned=stage.returned[:depth],
        returned_count=whole,
        scores=head(stage.scores),
        scopes=head(stage.scopes),
        labels=head(stage.labels),
        id_tokens=head(stage.id_tokens),
        shares=head(stage.shares),
    )


@given(handoffs(counts=False, parents=False), st.lists(st.integers(0, 6), min_size=7, max_size=7))
def test_cutting_only_takes_away(record: HandoffRecord, depths: list[int]) -> None:
    """Recording less, with the true counts, leaves each verdict, rank and score as it was or takes it away."""
    stages = tuple(cut_to(each, depth) for each, depth in zip(record.stages, depths, strict=False))
    whole, cut = assess(record), assess(replace(record, stages=stages))
    assert cut.verdict in {whole.verdict, Verdict.UNVERIFIABLE}
    assert cut.selected_rank in {whole.selected_rank, None}
    assert [each.returned for each in cut.stages] == [each.returned for each in whole.stages]
    for less, more in zip(all_scores(cut), all_scores(whole), strict=True):
        assert less == {name: more[name] for name in less}
    for part, full in zip(cut.stages, whole.stages, strict=True):
        assert part.present in {full.present, None}


@given(handoffs(counts=False, parents=False), st.data())
def test_repeating_a_document_never_helps(record: HandoffRecord, data: st.DataObject) -> None:
    """A document that is returned again further down improves no score and turns no FAIL into a PASS."""
    longer = []
    for each in record.stages:
        returned = each.returned
        if returned:
            first = data.draw(st.integers(0, len(returned) - 1))
            place = data.draw(st.integers(first + 1, len(returned)))
            returned = (*returned[:place], returned[first], *returned[place:])
        longer.append(replace(each, returned=returned, id_tokens=None, shares=None))
    plain = replace(record, stages=tuple(replace(each, id_tokens=None, shares=None) for each in record.stages))
    before, after = assess(plain), assess(replace(record, stages=tuple(longer)))
    assert not (before.verdict is Verdict.FAIL and after.verdict is Verdict.PASS)
    for worse, better in zip(all_scores(after), all_scores(before), strict=True):
        assert all(worse[name] <= better[name] + 1e-12 for name in better)


@given(handoffs())
def test_a_resolver_that_says_nothing_changes_nothing(record: HandoffRecord) -> None:
    """With a resolver in which every ID is its own object all is as without one."""
    assert assess(record, resolver=IDENTITY) == assess(record)


ANYTHING = st.text(max_size=3) | st.sampled_from((*IDS, "vector", "packing", "reader", "fusion", "any", "all", "hard"))
TEXTS = st.none() | st.lists(ANYTHING, max_size=5).map(tuple)
NUMBERS = st.none() | st.integers() | st.sampled_from((0, 1, 2, 2**63, 10**400, -(10**400)))
MANY_NUMBERS = st.none() | st.lists(st.integers() | st.sampled_from((10**400, 0)), max_size=5).map(tuple)
SPANS = st.sampled_from(("", "1", "2", "3"))
ANY_STAGE = st.builds(
    StageRecord,
    kind=ANYTHING,
    name=st.none() | ANYTHING,
    source=st.booleans(),
    fed_by=st.lists(ANYTHING, max_size=3).map(tuple),
    round=NUMBERS,
    returned=TEXTS,
    returned_count=NUMBERS,
    input=TEXTS,
    input_count=NUMBERS,
    scores=st.none() | st.lists(st.floats(), max_size=5).map(tuple),
    scopes=TEXTS,
    implementation=st.none() | ANYTHING,
    fallback=st.booleans(),
    labels=TEXTS,
    id_tokens=MANY_NUMBERS,
    shares=st.none() | st.lists(st.floats(), max_size=5).map(tuple),
    basis=st.none() | ANYTHING | st.just("unseen"),
    attaches=st.none() | ANYTHING | st.just("cited"),
    abstained=st.none() | st.booleans(),
    tokens=NUMBERS,
    token_budget=NUMBERS,
    citations=TEXTS,
    trace_id=SPANS,
    span_id=SPANS,
    parent_id=st.none() | SPANS,
    start_ns=st.integers(-5, 5),
    end_ns=st.none() | st.integers(-5, 5),
    failed=st.booleans(),
)
ANY_HANDOFF = st.builds(
    HandoffRecord,
    name=ANYTHING,
    handoff_id=ANYTHING,
    resolver_sha256=st.none() | ANYTHING | st.just(IDENTITY.sha256),
    mode=st.none() | ANYTHING,
    selected=TEXTS,
    need=st.none() | ANYTHING | st.just("every"),
    rule=st.none() | ANYTHING,
    cutoff=NUMBERS,
    judged=TEXTS,
    grades=st.lists(st.integers() | st.just(10**400), max_size=5).map(tuple),
    scope_id=st.none() | ANYTHING,
    expected=st.lists(ANYTHING, max_size=5).map(tuple),
    starved_ratio=st.none() | st.floats(),
    min_tokens=NUMBERS,
    label_scope=st.none() | ANYTHING | st.just("object"),
    failed=st.booleans(),
    stages=st.lists(ANY_STAGE, max_size=7).map(tuple),
    start_ns=st.integers(-5, 5),
    end_ns=st.integers(-5, 5),
)


@settings(max_examples=300)
@given(ANY_HANDOFF, st.none() | st.just(IDENTITY))
def test_whatever_was_recorded_is_assessed(record: HandoffRecord, resolver: Resolver | None) -> None:
    """No record makes an assessment fail, and each assessment is a sentence and JSON."""
    result = assess(record, resolver=resolver)
    assert json.loads(json.dumps(result.as_dict())) == result.as_dict()
    assert str(result)
    for finding in result.findings:
        assert "" not in finding.ids
        assert list(finding.ids) == sorted(set(finding.ids))
        assert list(finding.labels) == sorted(set(finding.labels))
