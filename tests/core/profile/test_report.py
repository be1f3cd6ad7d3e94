"""The run's status and report: first match wins, every expected record accounted for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile.accounts import Input, Malformed
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.observation import Observation
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.report import STATUS_CHECKS, Run, StatusCheck, run_report, run_status
from rop_otel.core.profile.report_terms import Terms
from rop_otel.core.profile.verdicts import Verdict
from rop_otel.version import installed_version
from tests.core.profile.declared import changed, opened

RECORDS = {
    "pass": ("obj-a", ["a#0"]),
    "fail": ("obj-a", ["b#0"]),
    "late": ("obj-a", ["x", "x", "x", "a#0"]),
    "selector": (None, ["a#0"]),
    "resolution": ("nobody", ["a#0"]),
    "unverifiable": ("obj-a", None),
}
INVALID = changed(lambda document: document.update(extra=1))


def tally_of(
    declaration: Opened, kinds: Sequence[tuple[str, str]], malformed: int = 0, terms: Terms | None = None
) -> RunCounts:
    tally = RunCounts(declaration, terms=terms)
    for record_id, kind in kinds:
        selection, returned = RECORDS[kind]
        tally.observe(Observation(record_id=record_id, selection=selection, returned=returned))
    for line in range(malformed):
        tally.refuse(Malformed(file="f", line=line + 1, reason="blank"))
    return tally


def expected(*kinds: str) -> list[tuple[str, str]]:
    return [(f"r{number}", kind) for number, kind in enumerate(kinds, 1)]


CASES: dict[str, tuple[Opened, list[tuple[str, str]], int, str]] = {
    "complete": (opened(), expected("pass", "pass", "pass"), 0, "RUN_PASS"),
    "one missing": (opened(), expected("pass", "pass"), 0, "RUN_UNVERIFIABLE"),
    "none": (opened(), [], 0, "RUN_UNVERIFIABLE"),
    "fail": (opened(), expected("pass", "fail", "pass"), 0, "RUN_FAIL"),
    "fail before unverifiable": (opened(), expected("fail", "unverifiable"), 0, "RUN_FAIL"),
    "selector": (opened(), expected("pass", "selector", "pass"), 0, "RUN_UNVERIFIABLE"),
    "resolution": (opened(), expected("pass", "resolution", "pass"), 0, "RUN_UNVERIFIABLE"),
    "unverifiable": (opened(), expected("pass", "unverifiable", "pass"), 0, "RUN_UNVERIFIABLE"),
    "duplicate before fail": (opened(), [*expected("pass", "fail", "pass"), ("r1", "pass")], 0, "RUN_INVALID"),
    "unexpected": (opened(), [*expected("pass", "pass", "pass"), ("r9", "pass")], 0, "RUN_INVALID"),
    "malformed": (opened(), expected("pass", "pass", "pass"), 1, "RUN_INVALID"),
    "soft": (opened(mode="soft"), [*expected("fail"), ("r1", "fail"), ("r9", "fail")], 1, "NOT_APPLICABLE"),
    "open": (opened(mode="open", population=None), [], 0, "NOT_APPLICABLE"),
    "invalid": (INVALID, expected("pass", "pass", "pass"), 0, "RUN_INVALID"),
}


def status(name: str, checks: tuple[StatusCheck, ...] = STATUS_CHECKS) -> str:
    declaration, kinds, malformed, _ = CASES[name]
    return run_status(
        Run(opened=declaration, accounts=tally_of(declaration, kinds, malformed).accounts()), checks=checks
    )


@pytest.mark.parametrize("name", CASES)
def test_a_run_has_one_status(name: str) -> None:
    """The first status that applies is the run's."""
    assert status(name) == CASES[name][3]


@pytest.mark.parametrize("place", range(len(STATUS_CHECKS) - 1))
def test_the_order_of_statuses_is_noticed(place: int) -> None:
    """Any two neighbouring statuses swapped change the status of a case."""
    first, second = STATUS_CHECKS[place : place + 2]
    swapped = (*STATUS_CHECKS[:place], second, first, *STATUS_CHECKS[place + 2 :])
    assert [name for name in CASES if status(name, swapped) != CASES[name][3]]


def report_of(
    declaration: Opened, kinds: Sequence[tuple[str, str]], malformed: int = 0, **asked: Any
) -> dict[str, Any]:
    terms = Terms.of(declaration, **asked)
    return run_report(declaration, tally_of(declaration, kinds, malformed, terms).accounts(), terms=terms).as_dict()


def test_a_record_under_another_declaration_invalidates_the_run() -> None:
    """A handoff that contradicts the declaration is no record of the run."""
    tally = tally_of(opened(), expected("pass", "pass"))
    tally.observe(Observation(record_id="r3", selection="obj-a", returned=["a#0"], contradiction="it is under another"))
    found = run_report(opened(), tally.accounts())
    assert (found.run_status, found.verdicts["DECLARATION_INVALID"]) == ("RUN_INVALID", 1)


def test_the_shape_of_a_report() -> None:
    """Every field of the contract, of a run with one of each."""
    kinds = [*expected("pass", "late"), ("r1", "unverifiable"), ("r9", "fail")]
    assert report_of(opened(query_form="as asked"), kinds, malformed=2, at=(1, 5), depth=5, near=4) == {
        "rop_version": "rop/v1",
        "declaration_id": "made-up",
        "manifest_sha256": opened(query_form="as asked").manifest_sha256,
        "mode": "hard",
        "evaluator": {"name": "rop-otel", "version": installed_version()},
        "query_form": "as asked",
        "inputs": [],
        "run_status": "RUN_INVALID",
        "expected": 3,
        "observed": 4,
        "verdicts": {
            "PASS": 1,
            "FAIL": 2,
            "SELECTOR_ERROR": 0,
            "RESOLUTION_ERROR": 0,
            "UNVERIFIABLE": 1,
            "DECLARATION_INVALID": 0,
            "NOT_APPLICABLE": 0,
            "MISSING": 1,
        },
        "evaluable": 3,
        "pass_fraction": 1 / 3,
        "joint": None,
        "partition": {
            "depth": 5,
            "sealed": False,
            "near": 4,
            "at": {
                "1": {"past_cutoff": 1, "near": 1, "absent": 1, "nonmatch": 1},
                "3": {"past_cutoff": 1, "near": 1, "absent": 1, "nonmatch": 1},
                "5": {"past_cutoff": 0, "near": 0, "absent": 1, "nonmatch": 1},
            },
        },
        "missing_record_ids": ["r3"],
        "duplicate_record_ids": ["r1"],
        "unexpected_record_ids": ["r9"],
        "malformed_observations": [
            {"file": "f", "line": 1, "reason": "blank"},
            {"file": "f", "line": 2, "reason": "blank"},
        ],
        "declaration_errors": [],
    }


def test_the_shape_of_a_report_where_nothing_is_counted() -> None:
    """Counts are 0 and fractions of nothing null; outside hard mode with what that mode would give."""
    found = report_of(opened(mode="open", population=None), [])
    none = {str(verdict): 0 for verdict in Verdict} | {"MISSING": 0}
    assert (found["verdicts"], found["evaluable"], found["pass_fraction"]) == (none, 0, None)
    assert found["diagnostics"] == {
        "expected": None,
        "verdicts": none,
        "evaluable": 0,
        "pass_fraction": None,
        "missing_record_ids": [],
        "duplicate_record_ids": [],
        "unexpected_record_ids": [],
    }
    failures = {"past_cutoff": 0, "near": 0, "absent": 0, "nonmatch": None}
    assert found["partition"] == {"depth": None, "sealed": None, "near": None, "at": {"3": failures}}


def test_inputs_stand_in_order() -> None:
    """By name, then by hash; a file that was given twice is named twice."""
    tally = RunCounts(opened())
    files = [("b", "0" * 64), ("a", "f" * 64), ("a", "0" * 64), ("b", "0" * 64)]
    tally.inputs.extend(Input(file=name, sha256=sha256, bytes=7) for name, sha256 in files)
    found = run_report(opened(), tally.accounts()).as_dict()["inputs"]
    assert [(each["file"], each["sha256"], each["bytes"]) for each in found] == [
        (name, sha256, 7) for name, sha256 in sorted(files)
    ]


def test_the_report_of_an_invalid_declaration() -> None:
    """Its faults are told, its records are counted, and nothing is diagnosed, whatever is asked for."""
    asked = report_of(INVALID, expected("pass"), at=(50,), trace="gold", depth=2, near=1)
    assert (asked["joint"], asked["partition"], asked["query_form"]) == (None, None, None)
    found = report_of(INVALID, expected("pass"))
    assert found["declaration_errors"] == [
        {"code": "unknown_field", "path": "extra", "message": "extra: extra inputs are not permitted"}
    ]
    assert (found["declaration_id"], found["mode"], found["manifest_sha256"]) == (
        "made-up",
        "hard",
        INVALID.manifest_sha256,
    )
    assert (found["verdicts"]["DECLARATION_INVALID"], "diagnostics" in found) == (1, False)
    assert report_of(replace(INVALID, manifest_sha256=""), [])["manifest_sha256"] is None
    with pytest.raises(ValueError, match=r"^an invalid declaration assesses no record$"):
        RunCounts(INVALID).add_judged([1])


def test_every_expected_record_is_accounted_for() -> None:
    """Missing, repeated and unexpected IDs are listed; a repeated record is counted twice."""
    kinds = [("r1", "pass"), ("r1", "fail"), ("r9", "pass"), ("r9", "pass"), ("r8", "late")]
    found = run_report(opened(), tally_of(opened(), kinds).accounts()).as_dict()
    assert found["missing_record_ids"] == ["r2", "r3"]
    assert found["duplicate_record_ids"] == ["r1", "r9"]
    assert found["unexpected_record_ids"] == ["r8", "r9"]
    assert (found["expected"], found["observed"], found["evaluable"]) == (3, 5, 5)
    assert {name: count for name, count in found["verdicts"].items() if count} == {"PASS": 3, "FAIL": 2, "MISSING": 2}


@pytest.mark.parametrize("name", ["soft", "open", "invalid"])
def test_only_a_valid_hard_declaration_lists_ids(name: str) -> None:
    """Otherwise the three lists are empty, MISSING is 0 and expected is null; observed is always told."""
    found = report_of(*CASES[name][:3])
    lists = [found[f"{kind}_record_ids"] for kind in ("missing", "duplicate", "unexpected")]
    assert (lists, found["verdicts"]["MISSING"], found["expected"]) == ([[], [], []], 0, None)
    assert found["observed"] == len(CASES[name][1])


SOFT = opened(mode="soft")


@given(st.lists(st.tuples(st.sampled_from(["r1", "r2", "r3", "r9"]), st.sampled_from(sorted(RECORDS))), max_size=6))
def test_other_modes_report_what_hard_mode_would(kinds: list[tuple[str, str]]) -> None:
    """The diagnostics of a soft run are the verdicts, lists and counts of the same run in hard mode, and no status."""
    hard, soft = report_of(opened(), kinds, trace="gold", at=(1,)), report_of(SOFT, kinds, trace="gold", at=(1,))
    assert soft["diagnostics"] == {name: hard[name] for name in soft["diagnostics"]}
    assert [soft[name] for name in ("joint", "partition", "observed")] == [
        hard[name] for name in ("joint", "partition", "observed")
    ]
    assert (soft["run_status"], "diagnostics" in hard) == ("NOT_APPLICABLE", False)
    without = report_of(opened(mode="open", population=None), kinds)["diagnostics"]
    assert without["verdicts"] == {**hard["verdicts"], "MISSING": 0}
    assert (without["expected"], without["missing_record_ids"], without["unexpected_record_ids"]) == (None, [], [])


RANKED = st.lists(st.sampled_from(["a#0", "x", "y"]), max_size=8)


@given(lists=st.lists(RANKED, max_size=6), depth=st.none() | st.integers(3, 9), near=st.none() | st.integers(1, 9))
def test_the_partition_sums_to_the_failures(lists: list[list[str]], depth: int | None, near: int | None) -> None:
    """At each cutoff: past it and absent are all that fail there, near and nonmatch are parts of them."""
    at = (1, 2) if depth is None else (1, depth)
    terms = Terms.of(opened(), at=at, depth=depth, near=near)
    tally = RunCounts(opened(), terms=terms)
    for ids in lists:
        tally.observe(Observation(record_id="r1", selection="obj-a", returned=ids))
    found = run_report(opened(), tally.accounts(), terms=terms).as_dict()
    assert list(found["partition"]["at"]) == [str(cutoff) for cutoff in sorted({*at, 3})]
    for cutoff, why in found["partition"]["at"].items():
        k = int(cutoff)
        failing = [ids for ids in lists if "a#0" not in ids[:k]]
        assert why["past_cutoff"] + why["absent"] == len(failing)
        late = [ids.index("a#0") + 1 for ids in failing if "a#0" in ids]
        assert (why["past_cutoff"], why["near"]) == (
            len(late),
            len([rank for rank in late if near is None or rank <= near]),
        )
        short = [ids for ids in failing if "a#0" not in ids and len(ids) < (depth or 0)]
        assert why["nonmatch"] == (None if depth is None else len(short))
    declared = found["partition"]["at"]["3"]
    assert declared["past_cutoff"] + declared["absent"] == found["verdicts"]["FAIL"]
    assert (found["partition"]["depth"], found["partition"]["sealed"]) == (depth, None if depth is None else False)
