"""The seven verdicts: each check, and their order."""

from __future__ import annotations

from typing import Any

import pytest

from rop_otel.core.profile.fieldpath import ABSENT
from rop_otel.core.profile.judge import CHECKS, Check, judge
from rop_otel.core.profile.observation import Observation
from rop_otel.core.profile.verdicts import Verdict
from tests.core.profile.declared import INVERSE, valid

DECLARATIONS = {
    "key": valid(),
    "all": valid(rule="all"),
    "soft": valid(mode="soft"),
    "witness": valid(inverse=INVERSE),
    "invalid": None,
}


def bound(witness: str = "w-1", key: str = "/wiki/A", record_id: str = "r1") -> str:
    declaration = DECLARATIONS["witness"]
    assert declaration is not None
    assert declaration.witness is not None
    return declaration.witness.binding.sha256(record_id=record_id, witness=witness, selection=key)


def seen(selection: object = ABSENT, returned: object = ABSENT, witness_hash: object = ABSENT) -> Observation:
    return Observation(record_id="r1", selection=selection, returned=returned, witness_hash=witness_hash)


CASES: dict[str, tuple[str, Observation, tuple[str, int | None, str | None]]] = {
    "invalid before all": ("invalid", seen("/wiki/A", ["a#0"]), ("DECLARATION_INVALID", None, None)),
    "soft before selection": ("soft", seen(), ("NOT_APPLICABLE", None, None)),
    "missing": ("key", seen(returned=["a#0"]), ("SELECTOR_ERROR", None, None)),
    "null": ("key", seen(None, ["a#0"]), ("SELECTOR_ERROR", None, None)),
    "empty": ("key", seen("", ["a#0"]), ("SELECTOR_ERROR", None, None)),
    "empty list": ("key", seen([], ["a#0"]), ("SELECTOR_ERROR", None, None)),
    "number": ("key", seen(7, ["a#0"]), ("SELECTOR_ERROR", None, None)),
    "bad alternative": ("key", seen(["obj-a", None], ["a#0"]), ("SELECTOR_ERROR", None, None)),
    "selector before resolution": ("key", seen(["unknown", 5], ["a#0"]), ("SELECTOR_ERROR", None, None)),
    "unknown": ("key", seen("unknown", ["a#0"]), ("RESOLUTION_ERROR", None, None)),
    "one unknown alternative": ("key", seen(["obj-a", "unknown"], ["a#0"]), ("RESOLUTION_ERROR", None, None)),
    "resolution before returned": ("key", seen("unknown"), ("RESOLUTION_ERROR", None, None)),
    "not returned field": ("key", seen("obj-a"), ("UNVERIFIABLE", None, None)),
    "returned null": ("key", seen("obj-a", None), ("UNVERIFIABLE", None, None)),
    "returned text": ("key", seen("obj-a", "a#0"), ("UNVERIFIABLE", None, None)),
    "bad element past the cutoff": ("key", seen("obj-a", ["a#0", "x", "y", "z", 5]), ("UNVERIFIABLE", None, None)),
    "empty list fails": ("key", seen("obj-a", []), ("FAIL", None, None)),
    "absent": ("key", seen("obj-a", ["b#0", "nobody's"]), ("FAIL", None, None)),
    "past the cutoff": ("key", seen("obj-a", ["b#0", "x", "y", "a#1"]), ("FAIL", 4, "obj-a")),
    "duplicates use slots": ("key", seen("obj-a", ["x", "x", "x", "a#1"]), ("FAIL", 4, "obj-a")),
    "within": ("key", seen("/wiki/A", ["b#0", "a#1"]), ("PASS", 2, "obj-a")),
    "alias returned": ("key", seen("a#0", ["/wiki/A"]), ("PASS", 1, "obj-a")),
    "an alternative": ("key", seen(["obj-a", "obj-b"], ["c#0", "b#0", "a#0"]), ("PASS", 2, "obj-b")),
    "empty string in the list": ("key", seen("obj-a", ["", "a#0"]), ("PASS", 2, "obj-a")),
    "all": ("all", seen("obj-c", ["c#2", "c#0", "c#1"]), ("PASS", 3, "obj-c")),
    "all past the cutoff": ("all", seen("obj-c", ["c#2", "x", "c#0", "c#1"]), ("FAIL", 4, "obj-c")),
    "aliases are no members": ("all", seen("obj-a", ["a#0", "/wiki/A"]), ("FAIL", None, None)),
    "members are not mixed": ("all", seen(["obj-a", "obj-c"], ["a#0", "c#0", "c#1"]), ("FAIL", None, None)),
    "witness": ("witness", seen("w-1", ["a#0"], bound()), ("PASS", 1, "obj-a")),
    "witness missing": ("witness", seen(returned=["a#0"], witness_hash=bound()), ("SELECTOR_ERROR", None, None)),
    "witness list": ("witness", seen(["w-1"], ["a#0"], bound()), ("SELECTOR_ERROR", None, None)),
    "hash missing": ("witness", seen("w-1", ["a#0"]), ("SELECTOR_ERROR", None, None)),
    "unknown without hash": ("witness", seen("w-9", ["a#0"]), ("SELECTOR_ERROR", None, None)),
    "unknown, hash in capitals": ("witness", seen("w-9", ["a#0"], bound().upper()), ("SELECTOR_ERROR", None, None)),
    "unknown, short hash": ("witness", seen("w-9", ["a#0"], bound()[:63]), ("SELECTOR_ERROR", None, None)),
    "unknown, hash and LF": ("witness", seen("w-9", ["a#0"], bound() + "\n"), ("SELECTOR_ERROR", None, None)),
    "unknown, other digits": ("witness", seen("w-9", ["a#0"], "٣" * 64), ("SELECTOR_ERROR", None, None)),
    "unknown, hash a number": ("witness", seen("w-9", ["a#0"], 0), ("SELECTOR_ERROR", None, None)),
    "right hash in capitals": ("witness", seen("w-1", ["a#0"], bound().upper()), ("SELECTOR_ERROR", None, None)),
    "unknown witness": ("witness", seen("w-9", ["a#0"], bound()), ("RESOLUTION_ERROR", None, None)),
    "key for witness": ("witness", seen("obj-b", ["b#0"], bound()), ("RESOLUTION_ERROR", None, None)),
    "bound to another": ("witness", seen("w-1", ["a#0"], bound(record_id="r2")), ("SELECTOR_ERROR", None, None)),
    "binding before returned": ("witness", seen("w-1", None, "0" * 64), ("SELECTOR_ERROR", None, None)),
}


def verdict_of(case: tuple[str, Observation, Any], checks: tuple[Check, ...] = CHECKS) -> tuple[str, Any, Any]:
    judgment = judge(case[1], DECLARATIONS[case[0]], checks=checks)
    return str(judgment.verdict), judgment.rank, judgment.object_id


@pytest.mark.parametrize("name", CASES)
def test_a_record_has_one_verdict(name: str) -> None:
    """The first check that applies decides, with rank and object for PASS and FAIL only."""
    assert verdict_of(CASES[name]) == CASES[name][2]


@pytest.mark.parametrize("place", range(len(CHECKS) - 1), ids=lambda place: CHECKS[place].__name__)
def test_the_order_of_checks_is_noticed(place: int) -> None:
    """Any two neighbouring checks swapped change the verdict of a case, or break where a check relies on another."""
    swapped = (*CHECKS[:place], CHECKS[place + 1], CHECKS[place], *CHECKS[place + 2 :])

    def differs(name: str) -> bool:
        try:
            return verdict_of(CASES[name], swapped) != CASES[name][2]
        except ValueError:
            return True

    assert [name for name in CASES if differs(name)]


@pytest.mark.parametrize("place", range(len(CHECKS) - 1), ids=lambda place: CHECKS[place].__name__)
def test_every_check_is_needed(place: int) -> None:
    """Without any one check a case has another verdict, or a later check has nothing to rely on."""
    rest = (*CHECKS[:place], *CHECKS[place + 1 :])

    def differs(name: str) -> bool:
        try:
            return verdict_of(CASES[name], rest) != CASES[name][2]
        except ValueError:
            return True

    assert [name for name in CASES if differs(name)]


def test_the_verdicts_stand_in_their_order() -> None:
    """The order of the enumeration is the order in which the cases above are decided."""
    assert [verdict for verdict in Verdict if any(case[2][0] == verdict for case in CASES.values())] == list(Verdict)


REASONS = {
    "invalid before all": "declaration_invalid: the declaration or a file it names is invalid",
    "soft before selection": "not_applicable: the declaration is in soft mode",
    "missing": "selection_missing: the selected key is missing",
    "null": "selection_missing: the selected key is null, not a string",
    "empty": "selection_missing: the selected key is the empty string",
    "empty list": "selection_missing: the selected key is an empty list",
    "number": "selection_missing: the selected key is a number, not a string",
    "unknown": "selection_unresolved: the resolver does not know the selected key 'unknown'",
    "not returned field": "returned_unusable: there is no list at 'ids'",
    "returned null": "returned_unusable: 'ids' holds null, not a list",
    "returned text": "returned_unusable: 'ids' holds a string, not a list",
    "bad element past the cutoff": "returned_unusable: the returned ID at rank 5 is a number, not a string",
    "empty list fails": "not_returned: no acceptable object among the 0 returned IDs",
    "absent": "not_returned: no acceptable object among the 2 returned IDs",
    "past the cutoff": "not_returned: 'obj-a' is returned at rank 4, past the cutoff of 3",
    "within": "returned: 'obj-a' is returned at rank 2, within the cutoff of 3",
    "witness missing": "selection_missing: the witness is missing",
    "witness list": "selection_missing: the witness is a list, not a string",
    "hash missing": "selection_missing: the hash of the witness is missing",
    "unknown, short hash": "selection_missing: the hash of the witness is not 64 lower-case hex digits",
    "unknown witness": "selection_unresolved: the inverse map does not hold the witness 'w-9'",
    "bound to another": "witness_unbound: the hash of the witness 'w-1' binds it to something else",
}


@pytest.mark.parametrize("name", REASONS)
def test_a_verdict_has_its_check_and_reason(name: str) -> None:
    """A judgment names the check that decided and says why in one sentence."""
    judgment = judge(CASES[name][1], DECLARATIONS[CASES[name][0]])
    assert f"{judgment.check}: {judgment.reason}" == REASONS[name]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1, "a number"),
        (1.5, "a number"),
        ([], "a list"),
        ({}, "an object"),
        ((), "something else"),
    ],
)
def test_a_reason_names_what_is_no_string(value: object, kind: str) -> None:
    """In the words of JSON, whatever stands there."""
    judgment = judge(seen("obj-a", [value]), DECLARATIONS["key"])
    assert judgment.reason == f"the returned ID at rank 1 is {kind}, not a string"


@pytest.mark.parametrize(("length", "shown"), [(200, "'" + "x" * 200 + "'"), (201, "'" + "x" * 200 + "'…")])
def test_a_long_value_is_cut(length: int, shown: str) -> None:
    """A value of 200 characters is shown whole, a longer one by its beginning."""
    reason = judge(seen("x" * length, []), DECLARATIONS["key"]).reason
    assert reason == f"the resolver does not know the selected key {shown}"


@pytest.mark.parametrize("selection", ["x" * 10_000, ["x" * 10_000]])
def test_reasons_are_short(selection: object) -> None:
    """A reason names a long value by its beginning."""
    assert len(judge(seen(selection, []), DECLARATIONS["key"]).reason) < 400
