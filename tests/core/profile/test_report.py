"""The run's status and report: first match wins, every expected record accounted for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rop_otel.core.profile.accounts import Joint, Malformed
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.observation import Observation
from rop_otel.core.profile.report import STATUS_CHECKS, Run, StatusCheck, run_report, run_status
from rop_otel.core.profile.tally import Tally
from rop_otel.core.profile.verdicts import Verdict
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


def tally_of(declaration: Opened, kinds: Sequence[tuple[str, str]], malformed: int = 0) -> Tally:
    tally = Tally(declaration)
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


def report_of(declaration: Opened, kinds: Sequence[tuple[str, str]], malformed: int = 0) -> dict[str, Any]:
    return run_report(declaration, tally_of(declaration, kinds, malformed).accounts(), cutoffs=(1, 5)).as_dict()


def test_a_record_under_another_declaration_invalidates_the_run() -> None:
    """A handoff that contradicts the declaration is no record of the run."""
    tally = tally_of(opened(), expected("pass", "pass"))
    tally.observe(Observation(record_id="r3", selection="obj-a", returned=["a#0"], contradiction="it is under another"))
    found = run_report(opened(), tally.accounts())
    assert (found.run_status, found.verdicts["DECLARATION_INVALID"]) == ("RUN_INVALID", 1)


def test_the_shape_of_a_report() -> None:
    """Every field of the contract, of a run with one of each."""
    kinds = [*expected("pass", "late"), ("r1", "unverifiable"), ("r9", "fail")]
    assert report_of(opened(), kinds, malformed=2) == {
        "rop_version": "rop/v1",
        "declaration_id": "made-up",
        "manifest_sha256": opened().manifest_sha256,
        "mode": "hard",
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
        "missing_record_ids": ["r3"],
        "duplicate_record_ids": ["r1"],
        "unexpected_record_ids": ["r9"],
        "malformed_observations": [
            {"file": "f", "line": 1, "reason": "blank"},
            {"file": "f", "line": 2, "reason": "blank"},
        ],
        "declaration_errors": [],
        "diagnostics": {
            "past_cutoff": 1,
            "absent": 1,
            "membership": {"1": {"held": 1, "fraction": 1 / 3}, "5": {"held": 2, "fraction": 2 / 3}},
        },
    }


def test_the_shape_of_a_report_where_nothing_is_counted() -> None:
    """Counts are 0 and fractions of nothing null; outside hard mode with what that mode would give."""
    found = report_of(opened(mode="soft"), [])
    none = {str(verdict): 0 for verdict in Verdict}
    assert (found["verdicts"], found["evaluable"], found["pass_fraction"]) == (none | {"MISSING": 0}, 0, None)
    assert found["diagnostics"] == {
        "verdicts": none,
        "evaluable": 0,
        "pass_fraction": None,
        "past_cutoff": 0,
        "absent": 0,
        "membership": {"1": {"held": 0, "fraction": None}, "5": {"held": 0, "fraction": None}},
    }


def test_the_report_of_an_invalid_declaration() -> None:
    """Its faults are told, its records are counted, and nothing is diagnosed."""
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
    with pytest.raises(ValueError, match=r"^an invalid declaration judges no record$"):
        Tally(INVALID).add_judged([1])


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


def test_soft_mode_tells_what_hard_mode_would_find() -> None:
    """The verdicts, the evaluable records and the pass fraction of hard mode stand under the diagnostics."""
    declaration = opened(mode="soft")
    found = run_report(declaration, tally_of(declaration, expected("pass", "fail", "selector")).accounts()).as_dict()
    assert {name: count for name, count in found["verdicts"].items() if count} == {"NOT_APPLICABLE": 3}
    diagnostics = found["diagnostics"]
    assert (diagnostics["evaluable"], diagnostics["pass_fraction"]) == (2, 0.5)
    assert diagnostics["verdicts"]["SELECTOR_ERROR"] == 1


def test_diagnostics_stand_beside_the_verdicts() -> None:
    """Misses past the cutoff and absent ones are told apart, and membership is given at several cutoffs."""
    found = run_report(
        opened(), tally_of(opened(), expected("pass", "late", "fail", "fail")).accounts(), cutoffs=(1, 3, 5)
    )
    shape = found.as_dict()["diagnostics"]
    assert (shape["past_cutoff"], shape["absent"]) == (1, 2)
    assert [shape["membership"][k]["held"] for k in ("1", "3", "5")] == [1, 1, 2]
    assert found.pass_fraction == 0.25


def test_a_traced_target_is_compared_on_the_same_ranking() -> None:
    """Both, selected only, traced only, neither: at each cutoff, over records where both can be told."""
    tally = Tally(opened(), cutoffs=(1, 2))
    for trace, returned in (
        ("obj-a", ["a#0"]),
        ("obj-b", ["a#0", "b#0"]),
        ("b#0", ["b#0", "x"]),
        (["obj-b"], ["x"]),
        (["obj-a", "nobody"], ["a#0"]),
        ("nobody", ["a#0"]),
        (None, ["a#0"]),
        ([], ["a#0"]),
    ):
        tally.observe(Observation(record_id="r1", selection="obj-a", returned=returned), trace=trace)
    tally.observe(Observation(record_id="r1", returned=["a#0"]), trace="obj-a")
    tally.observe(Observation(record_id="r1", selection="obj-a"), trace="obj-a")
    joint = run_report(opened(), tally.accounts(), cutoffs=(1, 2)).as_dict()["diagnostics"]["trace"]
    assert joint == {
        "1": {"both": 1, "selected_only": 1, "traced_only": 1, "neither": 1},
        "2": {"both": 2, "selected_only": 0, "traced_only": 1, "neither": 1},
    }


def test_a_traced_target_is_held_to_the_declared_rule() -> None:
    """Under ``all`` it is there where all of its members are."""
    tally = Tally(opened(rule="all"), cutoffs=(3,))
    for returned in (["b#0", "c#0", "c#1"], ["c#0", "c#1", "c#2"]):
        tally.observe(Observation(record_id="r1", selection="obj-b", returned=returned), trace="obj-c")
    assert tally.counts().joint == {3: Joint(selected_only=1, traced_only=1)}
