"""A service as Prometheus sees it: handoffs of our own, judged and added up by the real code, on a real /metrics."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from rop_otel.core.handoff import HandoffRecord, Notice, StageRecord, assess
from rop_otel.core.profile.run_status import Standing
from rop_otel.core.profile.verdicts import RunStatus
from rop_otel.export.prometheus import MetricsServer
from rop_otel.meters.tally import Tally

NAME = 'docs "quoted" \\\nand {{ on }} two lines'
"""A name that would break whoever does not quote."""
_MILLISECOND = 1_000_000


class Service:
    """Makes handoffs until it is stopped.

    Args:
        tally: What adds them up.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._stopped = threading.Event()
        self.broken = False
        """Whether the diversity stage drops the selected object."""

    def run(self) -> None:
        """Make fifty handoffs a second."""
        for number in count(1):
            record = handoff(number, broken=self.broken)
            self._tally.assessed(record, assess(record), seconds=0.0001)
            if self._stopped.wait(0.02):
                return

    def stop(self) -> None:
        """Make no more."""
        self._stopped.set()


def handoff(number: int, *, broken: bool) -> HandoffRecord:
    """Return the record of a handoff through five stages; without a fault, too, one in fifty loses its object there.

    Another one in fifty never finds it, which is no stage's loss.
    """
    began = time.time_ns()
    never = number % 50 == 25
    lost = never or broken or number % 50 == 0
    kept = ("b", "c") if lost else ("a", "b")
    labels = ("S1", "S2")
    lists = {
        "vector": ("b", "c") if never else ("a", "b", "c"),
        "lexical": ("b", "c"),
        "fusion": ("b", "c") if never else ("b", "a", "c"),
        "mmr": kept,
    }
    told = {
        "vector": {"round": 1, "query_form": "question", "implementation": "flat"},
        "fusion": {"implementation": "rrf", "fallback": number % 40 == 0},
    }
    stages = [stage(kind, ids, place, began, **told.get(kind, {})) for place, (kind, ids) in enumerate(lists.items())]
    tokens, shares = (40, (1.0, 1.0)) if number % 40 else (1, (0.5, 1.0))
    packing = stage("packing", kept, 4, began, labels=labels, tokens=tokens, token_budget=100, shares=shares)
    reader = stage("reader", kept, 5, began, labels=labels, citations=labels, abstained=number % 9 == 0)
    return HandoffRecord(
        name=NAME,
        handoff_id=f"h{number}",
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        selected=("a",),
        judged=("a", "b"),
        stages=(*stages, packing, reader),
        start_ns=began,
        end_ns=began + 8 * _MILLISECOND,
    )


def stage(kind: str, returned: tuple[str, ...], place: int, began: int, **facts: object) -> StageRecord:
    """Return one stage of a handoff, which took a millisecond."""
    start = began + place * _MILLISECOND
    return StageRecord(
        kind=kind,
        returned=returned,
        span_id=f"{place + 1:016x}",
        start_ns=start,
        end_ns=start + _MILLISECOND,
        **facts,  # type: ignore[arg-type]  # the caller names fields of a stage
    )


@contextmanager
def service() -> Iterator[tuple[Service, int]]:
    """Run a service; gives it with the port of its /metrics."""
    run = Standing(run_id="r1", status=RunStatus.RUN_PASS, records={"PASS": 10, "MISSING": 0})
    tally = Tally(places=("ledger", "processor"), runs=lambda: [run])
    tally.noticed(Notice.LATE)
    server = MetricsServer(lambda: tally, host="127.0.0.1", port=0)
    made = Service(tally)
    maker = threading.Thread(target=made.run, daemon=True)
    maker.start()
    try:
        yield made, server.port
    finally:
        made.stop()
        maker.join(timeout=120)
        server.stop()
