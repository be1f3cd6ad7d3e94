"""An endpoint behind the monitor that does not take what it gets."""

from __future__ import annotations

import pytest

from rop_otel import semconv
from rop_otel.meters.tally import Tally
from rop_otel.monitor import forwarding
from rop_otel.monitor.forwarding import Forwarder
from tests.grafana.prometheus import free_port
from tests.monitor.served import PROTOBUF, until


def unsent(tally: Tally) -> int:
    return int(sum(point.number for point in tally.points(semconv.SELF_UNSENT)))


def test_nobody_listens() -> None:
    """Each request is tried six times, with pauses that grow; then its spans are counted."""
    pauses: list[float] = []
    tally = Tally()
    forwarder = Forwarder(f"http://127.0.0.1:{free_port()}", tally, sleep=pauses.append)
    forwarder.forward(b"one", PROTOBUF, 3)
    until(lambda: unsent(tally) == 3)
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0]
    forwarder.close()


def test_more_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too much is counted at once, and delays nobody."""
    monkeypatch.setattr(forwarding, "_MOST_WAITING", 2)
    tally = Tally()
    forwarder = Forwarder(f"http://127.0.0.1:{free_port()}", tally)
    for _ in range(10):
        forwarder.forward(b"one", PROTOBUF, 1)
    assert unsent(tally) >= 7
    forwarder.close(seconds=0.1)
