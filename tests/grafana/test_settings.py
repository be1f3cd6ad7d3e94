"""The one configuration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from rop_otel_grafana import Settings
from rop_otel_grafana.promql import one_of, quoted
from rop_otel_grafana.settings import seconds


@given(st.floats(min_value=0.01, max_value=0.999))
def test_both_speeds_can_alert_for_any_target(target: float) -> None:
    """However low the target, losing everything is too much, what it allows is not, and fast needs more than slow."""
    settings = Settings(target=target)
    fast, slow = settings.fast.threshold(target), settings.slow.threshold(target)
    assert 1 - target < slow <= fast < 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"target": 1.0},
        {"target": float("nan")},
        {"service_label": "service.name"},
        {"window": "5 minutes"},
        {"window": "0s"},
        {"fast": {"long": "1m", "short": "5m", "hold": "1s", "factor": 2, "ceiling": 0.5}},
        {"handoffs": {"": {}}},
        {"handoffs": {"docs": {"target": 2}}},
        {"labels": {"severity": "page"}},
        {"labels": {"rop_stage": "x"}},
        {"unknown": 1},
        {"arms": []},
    ],
)
def test_a_wrong_setting_is_refused(wrong: dict[str, object]) -> None:
    """Values that would give rules which cannot work are refused when the settings are read."""
    with pytest.raises(ValidationError):
        Settings.model_validate(wrong)


def test_strings_are_quoted_whatever_they_hold() -> None:
    """Quotes, backslashes and newlines stay inside the string; special characters match as they are."""
    assert quoted('a"b\\c\nd') == '"a\\"b\\\\c\\nd"'
    assert one_of("x", ["a.b", "c|d"], negated=True) == 'x!~"a\\\\.b|c\\\\|d"'


def test_durations_have_one_unit() -> None:
    """A duration of a day is as long as a day."""
    assert seconds("1d") == 86400
