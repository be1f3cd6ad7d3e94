"""A monitor under test, without its doors, its thread and a clock that goes on by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rop_otel import semconv
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.declaration import Opened
from rop_otel.meters.tally import Tally
from rop_otel.monitor.service import Monitor, MonitorSettings
from rop_otel.monitor.sqlite_store import SqliteStore
from rop_otel.monitor.store import Wanted
from rop_otel.spans import Span
from tests.monitor.expected import in_any_order

QUIET = 5.0
PATIENCE = 60.0


class Kept:
    """A monitor over a file; its time goes on when a test says so."""

    def __init__(
        self, file: Path, *, resolver: Resolver | None = None, declaration: Opened | None = None, **settings: Any
    ) -> None:
        self.now = 1000.0
        self.sent: list[Span] = []
        self.store_file = str(file)
        self.store = SqliteStore(self.store_file)
        self.tally = Tally(places=("store", "assess"))
        self.monitor = Monitor(
            self.store,
            self.tally,
            resolver=resolver,
            declaration=declaration,
            settings=MonitorSettings(
                **{
                    "quiet_seconds": QUIET,
                    "patience_seconds": PATIENCE,
                    "retention_seconds": None,
                    "clock": lambda: self.now,
                    **settings,
                }
            ),
        )

    def send(self, *spans: Span, size: int = 100) -> int:
        """Send spans as one request, and return how many were refused."""
        self.sent += spans
        answer = self.monitor.submit(spans, size=size)
        self.monitor.work()
        return answer.result(timeout=0).rejected

    def wait(self, seconds: float = QUIET) -> None:
        """Let time go by."""
        self.now += seconds
        self.monitor.work()

    def rows(self) -> list[dict[str, Any]]:
        """Return the row of each handoff that is kept, the one that was settled last first."""
        rows: list[dict[str, Any]] = self.monitor.kept.rows(Wanted(), limit=1000)["handoffs"]
        return rows

    def documents(self) -> list[dict[str, Any]]:
        """Return what is kept of each handoff, the one that started first first."""
        details = []
        for row in sorted(self.rows(), key=lambda row: (row["start"] or 0, row["handoff_id"])):
            detail = self.monitor.kept.detail(row["handoff_id"])
            assert detail is not None
            assert (detail["service"], detail["verdict"]) == (row["service"], row["verdict"])
            details.append(in_any_order(detail))
        return details

    def verdicts(self) -> list[str]:
        """Return the verdict of each handoff that is kept, the oldest first."""
        return [each["verdict"] for each in self.documents()]

    def counted(self) -> int:
        """Return how many handoffs are counted."""
        return int(sum(point.number for point in self.tally.points(semconv.VERDICTS)))

    def notices(self, metric: Any) -> int:
        """Return how often the service noticed something about itself."""
        return int(sum(point.number for point in self.tally.points(metric)))
