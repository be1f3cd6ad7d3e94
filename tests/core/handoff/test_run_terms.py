"""A handoff before the declaration of its run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rop_otel.core.handoff import HandoffRecord, StageRecord, Verdict, assess
from rop_otel.core.handoff.run_terms import contradiction, record_of, under
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.judge import judge
from rop_otel.core.profile.observation import observe
from tests.core.build import handoff, stage
from tests.core.profile.declared import INVERSE, RESOLVER, changed, opened

SHOWN = ("x", "b#0", "a#0", "y")


def recorded(*stages: StageRecord, selected: tuple[str, ...] | None = ("obj-a",), **told: Any) -> HandoffRecord:
    record = handoff(*(stages or (stage("packing", " ".join(SHOWN)),)), record_id="r1", **told)
    return replace(record, selected=selected)


def judged(record: HandoffRecord, declaration: Opened) -> Verdict:
    """Return the verdict that the record of a handoff gets."""
    assert declaration.declaration is not None
    fields = record_of(under(record, declaration), declaration)
    return judge(observe(fields, "r1", declaration.declaration), declaration.declaration).verdict


def test_what_a_handoff_leaves_open_is_the_declarations() -> None:
    """Mode, rule, cutoff and resolver come from the declaration where the handoff says nothing."""
    record = recorded(selected=("/wiki/A",))
    assert assess(record).verdict is Verdict.FAIL
    found = assess(record, declaration=opened(cutoff=3))
    assert (found.verdict, found.selected_rank, found.mode) == (Verdict.PASS, 3, "hard")
    assert assess(record, declaration=opened(cutoff=2)).verdict is Verdict.FAIL
    assert assess(record, declaration=opened(rule="all")).verdict is Verdict.FAIL
    soft = assess(record, declaration=opened(mode="soft", population=None))
    assert (soft.verdict, soft.mode, soft.selected_rank) == (Verdict.NOT_APPLICABLE, "soft", 3)
    none = assess(recorded(selected=None), declaration=opened())
    assert (none.verdict, none.mode) == (Verdict.SELECTOR_ERROR, "hard")


def test_the_declarations_resolver_is_in_force() -> None:
    """Another resolver at the door does not count; a handoff that names another one is unverifiable."""
    other = Resolver({"obj-a": ["x"]})
    assert assess(recorded(), resolver=other, declaration=opened()).selected_rank == 3
    named = recorded(resolver_sha256=RESOLVER.sha256)
    assert assess(named, declaration=opened()).verdict is Verdict.PASS
    unknown = recorded(resolver_sha256=other.sha256)
    assert assess(unknown, resolver=other, declaration=opened()).verdict is Verdict.UNVERIFIABLE
    assert judged(unknown, opened()) is Verdict.UNVERIFIABLE


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"mode": "soft"}, "the handoff's mode is 'soft', the run's is 'hard'"),
        ({"mode": ""}, "the handoff's mode is '', the run's is 'hard'"),
        ({"rule": "all"}, "the handoff's rule is 'all', the run's is 'any'"),
        ({"cutoff": 4}, "the handoff's cutoff is 4, the run's is 3"),
        ({"cutoff": 0}, "the handoff's cutoff is 0, the run's is 3"),
        ({"need": "every"}, "the handoff's need is 'every', the run's is 'one'"),
        ({"declaration_id": "other"}, "the handoff's declaration is 'other', the run's is 'made-up'"),
        ({"declaration_sha256": "0"}, "the handoff's declaration's hash is '0', the run's is "),
    ],
)
def test_a_handoff_that_says_otherwise(told: dict[str, Any], said: str) -> None:
    """It is DECLARATION_INVALID, without rank or selected scores, and the reason says what differs."""
    found = assess(recorded(**told), declaration=opened())
    assert (found.verdict, found.selected_rank, found.shown.selected) == (Verdict.DECLARATION_INVALID, None, {})
    assert (contradiction(recorded(**told), opened()) or "").startswith(said)


def test_the_same_said_twice_is_no_contradiction() -> None:
    """A handoff may say what the declaration says."""
    declaration = opened()
    told = recorded(
        mode="hard",
        need="one",
        rule="any",
        cutoff=3,
        declaration_id="made-up",
        declaration_sha256=declaration.manifest_sha256,
    )
    assert contradiction(told, declaration) is None
    assert assess(told, declaration=declaration).verdict is Verdict.PASS


def test_an_invalid_declaration_judges_nothing() -> None:
    """Every handoff of its run is DECLARATION_INVALID; its record keeps what it can."""
    broken = changed(lambda document: document.pop("mode"))
    assert assess(recorded(), declaration=broken).verdict is Verdict.DECLARATION_INVALID
    assert under(recorded(), broken) == recorded()
    assert record_of(recorded(), broken) == {"selected": "obj-a", "ids": list(SHOWN), "record_id": "r1"}


@pytest.mark.parametrize(
    ("fields", "record"),
    [
        ({}, {"selected": "obj-a", "ids": list(SHOWN), "record_id": "r1"}),
        (
            {"selection_field": "selector.key", "output_field": "out.hits[].doc.id", "record_field": "selector.id"},
            {
                "selector": {"key": "obj-a", "id": "r1"},
                "out": {"hits": [{"doc": {"id": raw}} for raw in SHOWN]},
            },
        ),
        (
            {"selection_field": "s", "output_field": "out.ids[]"},
            {"s": "obj-a", "out": {"ids": list(SHOWN)}, "record_id": "r1"},
        ),
    ],
)
def test_records_have_the_declared_shape(fields: dict[str, str], record: dict[str, Any]) -> None:
    """The record ID, the selection and the shown list stand where the declaration says."""
    assert record_of(recorded(), opened(**fields)) == record


def test_selections_as_records_say_them() -> None:
    """None is absent, nothing chosen is an empty list, one is a string, several are a list; unreadable is empty."""
    said = {
        None: None,
        (): [],
        ("obj-a",): "obj-a",
        ("obj-a", "obj-b"): ["obj-a", "obj-b"],
        ("",): "",
    }
    for selected, expected in said.items():
        assert record_of(recorded(selected=selected), opened()).get("selected") == expected
        verdict = assess(recorded(selected=selected), declaration=opened()).verdict
        assert judged(recorded(selected=selected), opened()) is verdict


def test_lists_that_decide_and_lists_that_do_not() -> None:
    """A list that is cut counts as far as it decides; one that does not, or is unreadable, is left out."""
    for ids, count, cutoff, verdict in [
        ("x a#0", 9, 3, Verdict.PASS),
        ("x y", 9, 3, Verdict.UNVERIFIABLE),
        ("x y", 9, 2, Verdict.FAIL),
        ("x y", 2, 3, Verdict.FAIL),
    ]:
        record = recorded(stage("packing", ids, count=count))
        declaration = opened(cutoff=cutoff)
        assert assess(record, declaration=declaration).verdict is verdict
        assert judged(record, declaration) is verdict
        assert ("ids" in record_of(record, declaration)) == (verdict is not Verdict.UNVERIFIABLE)
    followed = recorded(stage("packing", "x y", count=9), stage("rescue", "a#0"))
    assert record_of(followed, opened(cutoff=2))["ids"] == ["x", "y"]
    assert assess(followed, declaration=opened(cutoff=2)).verdict is judged(followed, opened(cutoff=2)) is Verdict.FAIL
    assert "ids" not in record_of(recorded(stage("packing", None)), opened())
    assert record_of(recorded(stage("packing")), opened())["ids"] == []


def witnessed(declaration: Opened, witness: str, /, *, of: str = "r1", **told: Any) -> HandoffRecord:
    """Return a handoff with a witness that is bound to a record."""
    assert declaration.declaration is not None
    target = declaration.declaration.witness
    assert target is not None
    bound = target.binding.sha256(record_id=of, witness=witness, selection=INVERSE.get(witness, ""))
    return recorded(**{"selected": None, "witness": witness, "witness_sha256": bound, **told})


@pytest.mark.parametrize(
    ("witness", "told", "verdict"),
    [
        ("w-1", {}, Verdict.PASS),
        ("w-2", {}, Verdict.PASS),
        ("w-1", {"selected": ("obj-c",)}, Verdict.PASS),
        ("w-3", {}, Verdict.RESOLUTION_ERROR),
        ("obj-a", {}, Verdict.RESOLUTION_ERROR),
        ("w-3", {"witness_sha256": "0" * 64}, Verdict.RESOLUTION_ERROR),
        ("w-3", {"witness_sha256": "no hash"}, Verdict.SELECTOR_ERROR),
        ("w-1", {"witness_sha256": "0" * 64}, Verdict.SELECTOR_ERROR),
        ("w-1", {"witness_sha256": None}, Verdict.SELECTOR_ERROR),
        ("w-1", {"witness": None}, Verdict.SELECTOR_ERROR),
        ("w-1", {"witness": None, "selected": ("obj-a",)}, Verdict.SELECTOR_ERROR),
        ("w-1", {"of": "r2"}, Verdict.SELECTOR_ERROR),
    ],
)
def test_a_declaration_that_demands_a_witness(witness: str, told: dict[str, Any], verdict: Verdict) -> None:
    """The handoff and its record are judged alike: by the key that the witness decodes to, and by nothing else."""
    declaration = opened(inverse=INVERSE, selection_field="selector.witness")
    record = witnessed(declaration, witness, **told)
    assert assess(record, declaration=declaration).verdict is verdict
    assert declaration.declaration is not None
    fields = record_of(record, declaration)
    assert judge(observe(fields, "r1", declaration.declaration), declaration.declaration).verdict is verdict
    assert fields.get("selector", {}).get("witness") == record.witness


def test_a_witness_and_a_list_that_is_cut() -> None:
    """The recorded part of a list is enough where it holds what the witness decodes to."""
    declaration = opened(inverse=INVERSE)
    record = replace(witnessed(declaration, "w-1"), stages=(stage("packing", "x a#0", count=9),))
    assert record_of(record, declaration)["ids"] == ["x", "a#0"]


def test_a_witness_where_none_is_demanded() -> None:
    """It decides nothing, and stands in no record."""
    record = replace(recorded(), witness="w-2", witness_sha256="0" * 64)
    assert assess(record, declaration=opened()).verdict is Verdict.PASS
    assert record_of(record, opened()) == record_of(recorded(), opened())
