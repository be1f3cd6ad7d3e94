"""The bootstrap over questions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.errors import ConfigurationError
from rop_otel.study.intervals import Bootstrap

QUICK = Bootstrap(draws=100, seed=7)


def test_an_interval_is_about_as_wide_as_theory_says() -> None:
    """Of 50 in 302, where questions have one row each, it is that of a proportion."""
    values = [1.0] * 50 + [0.0] * 252
    [interval] = Bootstrap().intervals([str(number) for number in range(302)], [values])
    assert interval == pytest.approx((0.126, 0.209), abs=0.004)


def test_rows_of_one_question_are_drawn_together() -> None:
    """Where the rows of a question agree, twice as many rows do not make the interval narrower."""
    values = [1.0] * 20 + [0.0] * 80
    names = [str(number) for number in range(100)]
    [once] = Bootstrap().intervals(names, [values])
    assert Bootstrap().intervals([*names, *names], [[*values, *values]]) == [once]
    [apart] = Bootstrap().intervals([str(number) for number in range(200)], [[*values, *values]])
    assert once is not None
    assert apart is not None
    assert apart[1] - apart[0] < 0.8 * (once[1] - once[0])


def test_the_order_of_rows_does_not_matter() -> None:
    """Questions are drawn by name."""
    names, values = ["a", "b", "c", "a"], [1.0, 0.0, 1.0, 0.0]
    assert QUICK.intervals(names, [values]) == QUICK.intervals(names[::-1], [values[::-1]])


def test_other_columns_do_not_matter() -> None:
    """An interval is the same alone and beside others, since all are made from the same samples."""
    names, values = [*"abcdef"], [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    [alone] = QUICK.intervals(names, [values])
    assert QUICK.intervals(names, [[0.0] * 6, values])[1] == alone


def test_the_seed_decides() -> None:
    """The same one gives the same interval, another one another."""
    names, values = [str(number) for number in range(40)], [float(number % 3 == 0) for number in range(40)]
    assert Bootstrap(seed=3).intervals(names, [values]) == Bootstrap(seed=3).intervals(names, [values])
    assert Bootstrap(seed=3, draws=50).intervals(names, [values]) != Bootstrap(seed=4, draws=50).intervals(
        names, [values]
    )


@pytest.mark.parametrize(("draws", "names"), [(0, ["a", "b"]), (100, ["a", "a"]), (100, [])])
def test_there_may_be_no_interval(draws: int, names: Sequence[str]) -> None:
    """Without samples, with one question, and without rows."""
    assert Bootstrap(draws=draws).intervals(names, [[1.0] * len(names)]) == [None]


@pytest.mark.parametrize("options", [{"draws": -1}, {"seed": -1}])
def test_negative_numbers_are_refused(options: dict[str, int]) -> None:
    """Neither samples nor a seed can be."""
    with pytest.raises(ConfigurationError, match="at least 0"):
        Bootstrap(**options)


ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans()), min_size=1, max_size=20)


@given(ROWS)
def test_uncertain_rows_widen_an_interval(rows: Sequence[tuple[str, bool, bool]]) -> None:
    """It covers the interval of whatever the values are, and lies between 0 and 1."""
    names = [name for name, _, _ in rows]
    low = [float(value and not unsure) for _, value, unsure in rows]
    high = [float(value or unsure) for _, value, unsure in rows]
    true = [float(value) for _, value, _ in rows]
    [wide], [narrow] = QUICK.intervals(names, [low], [high]), QUICK.intervals(names, [true])
    assert (wide is None) == (narrow is None)
    if wide is not None and narrow is not None:
        assert 0 <= wide[0] <= narrow[0] <= narrow[1] <= wide[1] <= 1
