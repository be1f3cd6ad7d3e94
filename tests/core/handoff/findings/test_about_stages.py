"""Findings about the token budget."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.build import codes, judge, stage, the


def starved(*stages: Any, **facts: Any) -> bool:
    """Return whether a packing is found starved."""
    return ("starved_context", "packing") in codes(judge(*stages, **facts))


@pytest.mark.parametrize(
    ("tokens", "budget", "ratio", "expected"),
    [
        (99, 1000, None, True),
        (100, 1000, None, False),
        (0, 1000, None, True),
        (0, 0, None, False),
        (5, 0, None, False),
        (0, -5, None, False),
        (None, 1000, None, False),
        (5, None, None, False),
        (499, 1000, 0.5, True),
        (500, 1000, 0.5, False),
        (0, 1000, 0.0, False),
        (5, 1000, 0.001, False),
        (1500, 1000, 2.0, True),
        (0, 1000, float("nan"), False),
        (1, 10**400, None, True),
        (10**400, 1, None, False),
        (7, 100, 0.07, False),
    ],
)
def test_used_less_than_the_ratio(tokens: int | None, budget: int | None, ratio: float | None, expected: bool) -> None:
    """Used less than the starved ratio of the budget: a tenth, or what the handoff says."""
    packing = stage("packing", "a", tokens=tokens, token_budget=budget)
    assert starved(stage("vector", "a b"), packing, starved_ratio=ratio) is expected


@pytest.mark.parametrize(
    ("feed", "given", "expected"),
    [
        (stage("vector", "a"), None, True),
        (stage("vector", ""), None, False),
        (stage("vector", None), None, False),
        (stage("vector", "", count=3), None, True),
        (stage("vector", ""), "a", True),
        (stage("vector", "a"), "", True),
        (stage("vector", ""), "", False),
        (stage("lexical", "-"), None, True),
    ],
)
def test_handed_documents(feed: Any, given: str | None, expected: bool) -> None:
    """A packing that was handed nothing is not starved: its recorded input and the feeding lists are empty."""
    assert starved(feed, stage("packing", "", given=given, tokens=0, token_budget=100)) is expected


def test_handed_documents_that_were_not_recorded() -> None:
    """An input of which only the count was recorded was not empty."""
    packing = stage("packing", "", given="", input_count=3, tokens=0, token_budget=100)
    assert starved(stage("vector", ""), packing)


def test_packing_only() -> None:
    """Other kinds have no budget; a packing without documents before it was handed none."""
    assert codes(judge(stage("vector", "a"), stage("rescue", "a", tokens=0, token_budget=100))) == []
    assert codes(judge(stage("packing", "a", tokens=0, token_budget=100))) == []


def test_the_message_has_the_numbers() -> None:
    """It is an error with what was used and what was allowed in its message."""
    finding = the(judge(stage("vector", "a"), stage("packing", "a", tokens=7, token_budget=4000)), "starved_context")
    assert (finding.severity, finding.ids, finding.labels) == ("error", (), ())
    assert "7" in finding.message
    assert "4000" in finding.message.replace(",", "")
