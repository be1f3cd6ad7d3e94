"""Scores as HybridQA's evaluation script computes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.study.omission.answer_scores import exact_match, normalise_answer, token_f1


@pytest.mark.parametrize(
    ("answer", "reference", "exact", "f1"),
    [
        ("The 230 Square Kilometres .", "230 square kilometres", 1.0, 1.0),
        ("a man", "An  Man", 1.0, 1.0),
        ("theatre", "atre", 0.0, 0.0),
        ("New York City", "York", 0.0, 0.5),
        ("1,000", "1000", 1.0, 1.0),
        ("re-do", "redo", 1.0, 1.0),
        ("x x y", "x y y", 0.0, 2 / 3),
        ("", "x", 0.0, 0.0),
        ("the", "a", 1.0, 1.0),
        ("–", "-", 0.0, 0.0),
    ],
)
def test_scores(answer: str, reference: str, exact: float, f1: float) -> None:
    """Case, punctuation of ASCII, articles and blanks do not count; tokens count as often as they stand there."""
    assert exact_match(answer, reference) == exact
    assert token_f1(answer, reference) == pytest.approx(f1)


@given(st.text(), st.text())
def test_laws(one: str, other: str) -> None:
    """Scores lie between 0 and 1 and are symmetric; an exact match has F1 1; normalising twice changes nothing more."""
    assert 0 <= token_f1(one, other) <= 1
    assert token_f1(one, other) == pytest.approx(token_f1(other, one))
    assert exact_match(one, one) == token_f1(one, one) == 1
    assert exact_match(one, other) <= token_f1(one, other)
    assert " ".join(normalise_answer(one).split()) == normalise_answer(one)
