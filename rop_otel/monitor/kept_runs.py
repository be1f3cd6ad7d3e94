"""Runs whose handoffs are kept, as they are shown."""

from __future__ import annotations

from typing import Any, Final

from rop_otel.core.profile.declaration import Opened
from rop_otel.monitor.declared_runs import DeclaredRuns
from rop_otel.monitor.store import Store, StoredRun

_NS: Final = 1_000_000_000
_MOST_LISTED: Final = 1000


class KeptRuns:
    """What is shown of the runs in a store. It may be asked by any number of threads.

    Args:
        store: Keeps their handoffs.
        declaration: The monitor's declaration; None where it has none.
    """

    def __init__(self, store: Store, declaration: Opened | None) -> None:
        self._store = store
        self._declared = None if declaration is None else DeclaredRuns(store, declaration)

    def listed(self) -> dict[str, Any]:
        """Return the runs, the one of the handoff that was settled last first."""
        return {"runs": [self._shown(run) for run in self._store.runs(_MOST_LISTED)]}

    def detail(self, run_id: str) -> dict[str, Any] | None:
        """Return one run with its report; None where no handoff of it is kept."""
        run = self._store.run(run_id)
        if run is None:
            return None
        found = self._declared.report(run) if self._declared is not None and run.declared else None
        missing, report = found or ([], None)
        return {**self._shown(run), "missing_ids": missing, "report": report}

    def _shown(self, run: StoredRun) -> dict[str, Any]:
        found = self._declared.missing(run) if self._declared is not None and run.declared else None
        planned, missing = found or (None, None)
        return {
            "run_id": run.run_id,
            "handoffs": run.handoffs,
            "records": run.records,
            "verdicts": dict(run.verdicts),
            "first": run.first_ns / _NS,
            "last": run.last_ns / _NS,
            "planned": planned,
            "missing": missing,
        }
