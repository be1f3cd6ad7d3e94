"""Explanations: what was selected, what came back and which check decided, in words and as JSON."""

from __future__ import annotations

import pytest

from rop_otel.core.profile.declaration import Declaration
from rop_otel.core.profile.explaining import explain
from rop_otel.core.profile.fieldpath import ABSENT
from rop_otel.core.profile.observation import Observation
from tests.core.profile.declared import INVERSE, valid

KEY, SOFT, ALL, WITNESS = valid(), valid(mode="soft"), valid(rule="all", cutoff=1), valid(inverse=INVERSE)
TRACED = valid(trace_field="gold")


def seen(
    selection: object = ABSENT, returned: object = ABSENT, witness_hash: object = ABSENT, traced: object = ABSENT
) -> Observation:
    return Observation(record_id="r1", selection=selection, returned=returned, witness_hash=witness_hash, traced=traced)


@pytest.mark.parametrize(
    ("declaration", "observation", "lines"),
    [
        (
            KEY,
            seen(["obj-a", "nobody", 7], ["b#0", None, "a#1", "x", "/wiki/A"]),
            """
            r1: SELECTOR_ERROR
              because the selected key is a number, not a string (check: selection_missing)
              selected 'obj-a' → 'obj-a'
              selected nobody → no object
              selected 7 → no object
              returned, rule 'any':
                   1  'b#0' → 'obj-b'
                   2  None → no object
              *    3  'a#1' → 'obj-a'
                ---- cutoff 3: the reader sees nothing below ----
                   4  'x' → no object
              *    5  '/wiki/A' → 'obj-a'
            """,
        ),
        (
            SOFT,
            seen("obj-a", ["x", "a#0"]),
            """
            r1: NOT_APPLICABLE
              because the declaration is in soft mode (check: not_applicable)
              in hard mode: PASS, because 'obj-a' is returned at rank 2, within the cutoff of 3
              selected 'obj-a' → 'obj-a'
              returned, rule 'any':
                   1  'x' → no object
              *    2  'a#0' → 'obj-a'
            """,
        ),
        (
            ALL,
            seen("obj-b", "b#0"),
            """
            r1: UNVERIFIABLE
              because 'ids' holds a string, not a list (check: returned_unusable)
              selected 'obj-b' → 'obj-b'
              returned, rule 'all':
            """,
        ),
        (
            WITNESS,
            seen("w-1", ["a#0"], "0" * 64),
            """
            r1: SELECTOR_ERROR
              because the hash of the witness 'w-1' binds it to something else (check: witness_unbound)
              selected 'w-1' → 'obj-a'
              returned, rule 'any':
              *    1  'a#0' → 'obj-a'
            """,
        ),
        (
            TRACED,
            seen("obj-a", ["x", "b#0"], traced=["/wiki/B", "a#0"]),
            """
            r1: FAIL
              because no acceptable object among the 2 returned IDs (check: not_returned)
              selected 'obj-a' → 'obj-a'
              judged '/wiki/B' → 'obj-b'
              judged 'a#0' → 'obj-a'
              agreement of selected and judged: same, a judged object at rank 2
              returned, rule 'any':
                   1  'x' → no object
                   2  'b#0' → 'obj-b'
            """,
        ),
        (
            KEY,
            seen(),
            """
            r1: SELECTOR_ERROR
              because the selected key is missing (check: selection_missing)
              returned, rule 'any':
            """,
        ),
        (
            None,
            seen("obj-a", ["a#0"]),
            """
            r1: DECLARATION_INVALID
              because the declaration or a file it names is invalid (check: declaration_invalid)
            """,
        ),
    ],
)
def test_an_explanation_in_words(declaration: Declaration | None, observation: Observation, lines: str) -> None:
    """Verdict, check and reason, then each selected key and each returned ID with its object, cut at the cutoff."""
    expected = [line.removeprefix(" " * 12) for line in lines.splitlines()[1:-1]]
    assert list(explain(observation, declaration).lines()) == expected


def test_an_explanation_as_json() -> None:
    """The same in a JSON shape, with the rank, and hard mode's verdict where the mode is another."""
    assert explain(seen(["/wiki/A", None], ["x", 7]), KEY).as_dict() == {
        "record_id": "r1",
        "verdict": "SELECTOR_ERROR",
        "check": "selection_missing",
        "reason": "the selected key is null, not a string",
        "rank": None,
        "hard_verdict": None,
        "selection": [{"given": "/wiki/A", "object_id": "obj-a"}, {"given": "None", "object_id": None}],
        "judged": [],
        "agreement": None,
        "trace_rank": None,
        "rule": "any",
        "cutoff": 3,
        "returned": [
            {"rank": 1, "id": "x", "object_id": None, "acceptable": False},
            {"rank": 2, "id": None, "object_id": None, "acceptable": False},
        ],
    }
    soft = explain(seen("obj-a", ["x", "a#0"]), SOFT).as_dict()
    assert (soft["rank"], soft["hard_verdict"]) == (None, "PASS")
    assert soft["returned"][1] == {"rank": 2, "id": "a#0", "object_id": "obj-a", "acceptable": True}
    assert explain(seen("obj-a", ["x", "a#0"]), KEY).as_dict()["rank"] == 2
    traced = explain(seen("obj-a", ["b#0"], traced=["obj-b", 7]), TRACED).as_dict()
    assert traced["judged"] == [{"given": "obj-b", "object_id": "obj-b"}, {"given": "7", "object_id": None}]
    assert (traced["agreement"], traced["trace_rank"]) == ("no_trace", None)
    invalid = explain(seen("obj-a", ["a#0"]), None).as_dict()
    assert (invalid["selection"], invalid["rule"], invalid["cutoff"], invalid["returned"]) == ([], None, None, [])
