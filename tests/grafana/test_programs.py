"""Tests that need a program which is not there."""

from __future__ import annotations

import pytest

from tests.grafana.programs import program


def test_a_missing_program_skips_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a developer's machine the test is skipped, and says what to install."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.skip.Exception, match="apt-get install prometheus"):
        program("promtool")


def test_a_missing_program_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where CI=true nothing is skipped unseen."""
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match="may not be skipped"):
        program("promtool")
