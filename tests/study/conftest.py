"""What the tests of the study share."""

from __future__ import annotations

import pytest

from tests.study.commands import Command, command


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``rop-otel study`` with the given arguments."""
    return command(monkeypatch, capsys)
