"""A service whose files cannot grow any more, as on a full disk."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from tests.monitor.exported import request_of
from tests.monitor.served import Served, until
from tests.spans.trace import pipeline

ROOM = 400_000
"""Bytes that a file may have."""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_full_disk(tmp_path: Path) -> None:
    """Senders are asked to try again, health says so, and when there is room all that was acknowledged is there."""
    acknowledged = []
    with Served(tmp_path / "kept.db", quiet=0.05) as served:
        own = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (ROOM, own[1]))
        for number in range(1, 400):
            trace = f"{number:032x}"
            if (status := served.send(request_of(pipeline(trace=trace)))) != 200:
                break
            acknowledged.append(trace)
        assert (status, served.ask("/healthz")[0]) == (503, 200)
        until(lambda: served.ask("/readyz")[0] == 503)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, own)
        assert served.send(request_of(pipeline(trace="ff" * 16))) == 200
        until(lambda: served.verdicts().get("FAIL") == len(acknowledged) + 1)
        assert served.ask("/readyz")[0] == 200
