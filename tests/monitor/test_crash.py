"""A service that is killed."""

from __future__ import annotations

from pathlib import Path

from tests.monitor.crash import crash


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """However often it is killed, each handoff whose requests were answered is assessed, as if nothing had happened."""
    acknowledged, lost = crash(tmp_path, 6)
    assert acknowledged > 0
    assert lost == 0
