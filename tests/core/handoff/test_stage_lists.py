"""What each stage returned, and which of the documents that it was handed it did not return."""

from __future__ import annotations

from rop_otel.core.handoff import StageRecord
from rop_otel.core.handoff.stage_lists import lists_of
from tests.core.build import CHUNKS, handoff, stage


def lacking(*stages: StageRecord, resolved: bool = False) -> dict[str, str | None]:
    """Return the IDs that each stage dropped, None where that is not known."""
    found = lists_of(handoff(*stages), resolver=CHUNKS if resolved else None)
    return {each.stage: None if each.dropped is None else " ".join(each.dropped) for each in found}


def test_in_order_of_the_input() -> None:
    """What a stage was handed and did not return, in the order in which it was handed."""
    stages = (stage("vector", "c a"), stage("lexical", "b"), stage("fusion", "a"), stage("packing", "", given="a d"))
    assert lacking(*stages, stage("reader", "")) == {"vector": "", "lexical": "", "fusion": "c b", "packing": "a d"}


def test_each_stage_is_named() -> None:
    """Of two stages of one kind, name and round tell which dropped what."""
    stages = (stage("vector", "a b", round=1), stage("filter", "a", name="scope", round=1))
    assert [(each.stage, each.name, each.round) for each in lists_of(handoff(*stages))] == [
        ("vector", None, 1), ("filter", "scope", 1)
    ]  # fmt: skip


def test_unknown() -> None:
    """A list that is unreadable or cut hides what was dropped."""
    stages = (stage("vector", None), stage("rerank", "a"), stage("mmr", "a", count=2), stage("packing", "a"))
    assert lacking(*stages) == {"vector": "", "rerank": None, "mmr": None, "packing": None}


def test_another_chunk_of_the_object() -> None:
    """A document is not dropped where another one of its object was returned."""
    stages = (stage("vector", "doc#0 doc#1 x"), stage("packing", "doc#1"))
    assert lacking(*stages, resolved=True)["packing"] == "x"
    assert lacking(*stages)["packing"] == "doc#0 x"


def test_rescue_only_adds() -> None:
    """What packing shows is still shown after a rescue that returns only its own, whatever it was handed."""
    packed = (stage("vector", "a b"), stage("packing", "a"))
    assert lacking(*packed, stage("rescue", "c"))["rescue"] == ""
    assert lacking(*packed, stage("rescue", "c", given="a b"))["rescue"] == ""


def test_what_was_returned() -> None:
    """Each list as it was recorded, None where unreadable; readers have none here."""
    stages = (stage("vector", "b a a", count=9), stage("mmr", None), stage("packing", ""), stage("reader", "a"))
    assert [each.returned for each in lists_of(handoff(*stages))] == [("b", "a", "a"), None, ()]
