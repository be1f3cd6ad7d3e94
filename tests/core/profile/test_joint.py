"""Joint outcomes: selections and judged objects looked for in the same returned IDs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Entry, Intake
from rop_otel.core.profile.membership import Membership
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.report import run_report
from rop_otel.core.profile.report_terms import Terms
from rop_otel.errors import ConfigurationError
from tests.core.profile.declared import INVERSE, RESOLVER, changed, opened
from tests.core.profile.record_lines import KEYS, RETURNED, records

AT = (1, 2)
DECLARATIONS = {
    "any": opened(),
    "all": opened(rule="all"),
    "sealed": opened(trace_field="gold"),
    "soft": opened(mode="soft"),
}


def reported(declaration: Opened, found: list[dict[str, Any]], **asked: Any) -> tuple[dict[str, Any], list[Entry]]:
    """Return the report and the entries of records."""
    kept: list[Entry] = []
    tally = RunCounts(declaration, terms=Terms.of(declaration, **asked))
    intake = Intake(declaration, tally, keep=kept.append)
    for number, record in enumerate(found, 1):
        intake.record(record, file="f", line=number)
    return run_report(declaration, tally.accounts(), terms=tally.terms).as_dict(), kept


def asked_of(declaration: Opened) -> dict[str, Any]:
    """Return the trace set that is asked for where the sheet has none."""
    valid = declaration.declaration
    return {} if valid is not None and valid.trace_field is not None else {"trace": "gold"}


@pytest.mark.parametrize("name", DECLARATIONS)
@given(found=st.lists(records(), max_size=8))
def test_every_count_has_its_denominator(name: str, found: list[dict[str, Any]]) -> None:
    """Agreement counts every PASS and FAIL once; at each cutoff the outcomes of each agreement add up to its count."""
    declaration = DECLARATIONS[name]
    report, _ = reported(declaration, found, at=AT, **asked_of(declaration))
    joint, judged = report["joint"], report.get("diagnostics", report)["verdicts"]
    assert sum(joint["agreement"].values()) == judged["PASS"] + judged["FAIL"]
    before = 0
    for cutoff, why in report["partition"]["at"].items():
        at = joint["at"][cutoff]
        for agreement in ("same", "different"):
            assert sum(at[agreement].values()) == joint["agreement"][agreement]
        failing = sum(at[agreement][each] for agreement in at for each in ("trace_only", "neither"))
        assert failing <= why["past_cutoff"] + why["absent"]
        both = at["same"]["both"] + at["different"]["both"]
        assert both >= before
        before = both
    assert (joint["field"], joint["sealed"]) == ("gold", name == "sealed")


@pytest.mark.parametrize("name", ["any", "all", "sealed"])
@given(found=st.lists(records(), max_size=8))
def test_counts_are_those_of_the_records(name: str, found: list[dict[str, Any]]) -> None:
    """What each record says by itself, rank, trace rank and agreement, gives the counts of the report."""
    declaration = DECLARATIONS[name]
    report, entries = reported(declaration, found, at=AT, **asked_of(declaration))
    ranked = [each for each in entries if each.verdict in {"PASS", "FAIL"}]
    assert all(each.agreement is None and each.trace_rank is None for each in entries if each not in ranked)
    for agreement, count in report["joint"]["agreement"].items():
        assert len([each for each in ranked if each.agreement == agreement]) == count
    for cutoff, at in report["joint"]["at"].items():
        for agreement, outcomes in at.items():
            kinds = [
                (_within(each.rank, int(cutoff)), _within(each.trace_rank, int(cutoff)))
                for each in ranked
                if each.agreement == agreement
            ]
            names = {
                "both": (True, True), "selected_only": (True, False), "trace_only": (False, True),
                "neither": (False, False),
            }  # fmt: skip
            assert outcomes == {kind: kinds.count(name) for kind, name in names.items()}


def _within(rank: int | None, cutoff: int) -> bool:
    return rank is not None and rank <= cutoff


@given(found=st.lists(records(), max_size=8))
def test_who_names_the_trace_field_changes_only_that(found: list[dict[str, Any]]) -> None:
    """Sealed or asked for, the same records have the same outcomes; a report without a trace set judges the same."""
    sealed, entries = reported(DECLARATIONS["sealed"], found)
    asked, others = reported(DECLARATIONS["any"], found, trace="gold")
    assert sealed["joint"] == {**asked["joint"], "sealed": True}
    assert entries == others
    plain, bare = reported(DECLARATIONS["any"], found)
    assert {**asked, "joint": None} == plain
    assert [each._replace(agreement=None, trace_rank=None) for each in others] == bare


@given(
    selected=st.lists(st.sampled_from(KEYS[:-2]), min_size=1, max_size=2),
    traced=st.lists(st.sampled_from(KEYS[:-2]), min_size=1, max_size=3),
    ids=st.lists(st.sampled_from(RETURNED), max_size=6),
)
def test_a_judged_object_is_found_as_a_selection_would_be(
    selected: list[str], traced: list[str], ids: list[str]
) -> None:
    """The trace rank is the rank that the keys would have as selected alternatives under ``any``, whatever the rule."""
    record = {"record_id": "r1", "selected": selected, "gold": traced, "ids": ids}
    expected = Membership(traced, rule="any", resolver=RESOLVER).rank(ids)
    objects = {RESOLVER.resolve(key) for key in selected} & {RESOLVER.resolve(key) for key in traced}
    for name in ("any", "all"):
        _, [entry] = reported(DECLARATIONS[name], [record], trace="gold")
        assert (entry.trace_rank, entry.agreement) == (expected, "same" if objects else "different")


@pytest.mark.parametrize(
    ("traced", "agreement"),
    [
        ("obj-a", "same"), (["obj-b", "/wiki/A"], "same"), ("a#1", "same"), ("obj-b", "different"),
        (..., "no_trace"), (None, "no_trace"), ("", "no_trace"), ([], "no_trace"), (7, "no_trace"), ({}, "no_trace"),
        (["obj-a", ""], "no_trace"), (["nobody", None], "no_trace"), ([["obj-a"]], "no_trace"),
        ("nobody", "unresolvable"), (["obj-a", "nobody"], "unresolvable"),
    ],
)  # fmt: skip
def test_agreement_is_the_first_that_applies(traced: object, agreement: str) -> None:
    """No usable judged objects, then a key that nobody knows, then the same or another object."""
    record = {"record_id": "r1", "selected": "obj-a", "ids": ["a#0"]} | ({} if traced is ... else {"gold": traced})
    report, [entry] = reported(DECLARATIONS["any"], [record], trace="gold")
    assert entry.agreement == agreement
    assert report["joint"]["agreement"] == {
        each: int(each == agreement) for each in ("same", "different", "no_trace", "unresolvable")
    }


def test_a_witness_is_compared_by_the_key_that_it_decodes_to() -> None:
    """Under a witness target the selected object is the decoded one."""
    declaration = opened(inverse=INVERSE, trace_field="gold")
    valid = declaration.declaration
    assert valid is not None
    assert valid.witness is not None
    bound = valid.witness.binding.sha256(record_id="r1", witness="w-1", selection="/wiki/A")
    record = {"record_id": "r1", "selected": "w-1", "hash": bound, "ids": ["x", "a#0"], "gold": "obj-a"}
    _, [entry] = reported(declaration, [record])
    assert (entry.verdict, entry.agreement, entry.rank, entry.trace_rank) == ("PASS", "same", 2, 2)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"at": (0,)}, "--at 0: it must be at least 1"),
        ({"depth": 0}, "--depth 0: it must be at least 1"),
        ({"near": -1}, "--near -1: it must be at least 1"),
        ({"trace": "a[].b[]"}, "--trace: 'a[].b[]' maps over more than one list"),
        ({"trace": ""}, "--trace: '' is no path"),
    ],
)
@pytest.mark.parametrize("declaration", [opened(), changed(lambda document: document.update(extra=1))])
def test_what_is_malformed_is_refused(declaration: Opened, asked: dict[str, Any], said: str) -> None:
    """A number below 1 and a path that is none are usage errors, even before an invalid declaration."""
    with pytest.raises(ConfigurationError) as error:
        Terms.of(declaration, **asked)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    ("sealed", "asked", "said"),
    [
        ({}, {"at": (3, 4)}, "--at 4: nothing says that lists were stored so deep; say how deep with --depth"),
        ({}, {"at": (6,), "depth": 5}, "--at 6: lists were stored no deeper than 5; what was not stored is not a miss"),
        ({"depth": 5}, {"at": (6,)}, "--at 6: lists were stored no deeper than 5; what was not stored is not a miss"),
        ({"depth": 5}, {"depth": 5}, "--depth 5: the sheet says 5; leave it out"),
        ({}, {"depth": 2}, "--depth 2: it must be at least the declared cutoff, 3"),
        (
            {"trace_field": "gold"},
            {"trace": "gold"},
            "--trace 'gold': the sheet names the trace field 'gold'; leave it",
        ),
    ],
)
@pytest.mark.parametrize("mode", ["hard", "soft"])
def test_what_the_sheet_does_not_allow_is_refused(
    mode: str, sealed: dict[str, Any], asked: dict[str, Any], said: str
) -> None:
    """A cutoff past what was stored, and an option where the sheet has its own; an invalid declaration allows all."""
    declaration = opened(mode=mode, **sealed)
    with pytest.raises(ConfigurationError) as error:
        Terms.of(declaration, **asked)
    assert str(error.value).startswith(said)
    assert Terms.of(replace(declaration, declaration=None), **asked) == Terms()


@given(at=st.lists(st.integers(1, 9)), depth=st.none() | st.integers(3, 9))
def test_cutoffs_reach_as_far_as_lists_were_stored(at: list[int], depth: int | None) -> None:
    """Every cutoff within the declared one or the depth is taken, the declared one among them, and no other."""
    if any(cutoff > (depth or 3) for cutoff in at):
        with pytest.raises(ConfigurationError, match=r"^--at "):
            Terms.of(opened(), at=at, depth=depth)
    else:
        assert Terms.of(opened(), at=at, depth=depth).cutoffs == tuple(sorted({*at, 3}))
