"""Alerts about whole runs."""

from __future__ import annotations

from rop_otel import semconv
from rop_otel.core.handoff import ListFinding
from rop_otel_grafana.alerts.alert import Alert, Page, asked_of, value_of
from rop_otel_grafana.page_views import of_run
from rop_otel_grafana.promql import RUN, STATUS, VERDICT, equal, one_of, select
from rop_otel_grafana.settings import Settings

FAILED, UNVERIFIABLE = "RunFailed", "RunUnverifiable"

FAIL, UNKNOWN = "RUN_FAIL", ("RUN_UNVERIFIABLE", "RUN_INVALID")
MISSING = "MISSING"


def alerts(settings: Settings) -> list[Alert]:
    """Return the rules."""
    status = f"{value_of(RUN)} of service {value_of(settings.service_label, otherwise='unknown')}"
    return [
        Alert(
            name=FAILED,
            expression=_recent(settings, equal(STATUS, FAIL)),
            hold=settings.run_hold,
            severity="critical",
            view=of_run(asked_of),
            summary=f"Run {status} failed",
            description=(
                f"Run {status} has status {value_of(STATUS)}: at least one selected object certainly did not reach the"
                " reader. The report names the records, their stages and causes."
            ),
        ),
        Alert(
            name=UNVERIFIABLE,
            expression=_recent(settings, one_of(STATUS, UNKNOWN)),
            hold=settings.run_unverifiable_hold,
            severity="warning",
            view=of_run(asked_of),
            summary=f"Run {status} proves nothing",
            description=(
                f"Run {status} has status {value_of(STATUS)} for {settings.run_unverifiable_hold}: records are missing"
                " or cannot be assessed, so neither success nor failure is shown."
            ),
        ),
    ]


def _recent(settings: Settings, matcher: str) -> str:
    """Return which runs have a status that they did not have some time ago.

    A finished run keeps its status as long as its process lives. Without this a run that failed once would alert, and
    hold back other alerts, until then.
    """
    labels = f"{settings.service_label}, {RUN}, {STATUS}"
    status = select(settings, semconv.RUN_STATUS.prometheus, matcher)
    before = f"max by ({labels}) ({status} offset {settings.run_shown}) == 1"
    return f"max by ({labels}) ({status}) == 1\nunless {before}"


def pages(settings: Settings) -> list[Page]:
    """Return what the runbook says."""
    labels = f"{settings.service_label}, {RUN}, {VERDICT}"
    records = f"max by ({labels}) ({select(settings, semconv.RUN_RECORDS.prometheus)})"
    missing = f"max by ({labels}) ({select(settings, semconv.RUN_RECORDS.prometheus, equal(VERDICT, MISSING))})"
    return [
        Page(
            name=FAILED,
            means=(
                "A run over a declared population ended with at least one FAIL: a selected object that certainly did"
                " not reach the reader. Alerts about single stages of the same service are held back meanwhile. The"
                f" alert lasts {settings.run_shown}; the run's status stays on the *Handoffs* dashboard."
            ),
            see=(("How many records have which verdict?", records),),
            attempts=(
                "The run's report lists the failing records; `rop-otel explain` shows which check failed for one.",
                (
                    "Take the commonest pair of stage and cause first; `SelectedObjectDropsBeforeReader` below says"
                    " what to try for each cause."
                ),
                "Do not exclude failing records: the population was fixed before the run.",
            ),
        ),
        Page(
            name=UNVERIFIABLE,
            means=(
                "The run gives no result. Records that were declared are missing, or could not be assessed. A handoff"
                " that starts and never ends is a missing record after its time to live. `RUN_INVALID` means that the"
                " declaration breaks the contract."
            ),
            see=(
                ("How many records are missing?", missing),
                (
                    "Did handoffs never end?",
                    f"increase({select(settings, semconv.SELF_EXPIRED.prometheus)}[1h])",
                ),
            ),
            attempts=(
                "Is the run still going on? It proves nothing until its last record: raise the hold beyond its length.",
                "Did a process crash, or a client give up? Look for expired handoffs and for `HandoffTrafficAbsent`.",
                "Is the resolver that the handoffs name available where they are assessed?",
                (
                    f"Are IDs unreadable at a stage (`{ListFinding.IDS_UNREADABLE}`)?"
                    " Give the decorator a way to read them."
                ),
            ),
        ),
    ]
