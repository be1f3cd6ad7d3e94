"""The dashboard *The monitor itself*: does it see everything, and what does it cost?"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as build

from rop_otel import semconv
from rop_otel_grafana import queries
from rop_otel_grafana.dashboards.board import assemble, handoff
from rop_otel_grafana.panels import Panel, Query, Scale, bad_above, neutral
from rop_otel_grafana.promql import HANDOFF, WHERE
from rop_otel_grafana.settings import Settings

_NOTICES = (
    ("Expired handoffs", semconv.SELF_EXPIRED, "Handoffs that never ended: a crash, or a request given up."),
    ("Rejected handoffs", semconv.SELF_REJECTED, "Handoffs not monitored because too many were open."),
    ("Refused spans", semconv.SELF_REFUSED, "Spans that the monitor service refused; their handoffs are UNVERIFIABLE."),
    ("Late stages", semconv.SELF_LATE, "Stages that ended after their handoff was assessed, and so were left out."),
    ("Unsent spans", semconv.SELF_UNSENT, "Spans dropped because the collector was away or too slow."),
    ("Names beyond the caps", semconv.SELF_OTHER, "Handoffs and stages that count as other: there are too many names."),
)


def board(settings: Settings) -> build.Dashboard:
    """Return the dashboard."""
    return assemble(
        settings,
        uid="rop-monitor",
        title="The monitor itself",
        description="Does the monitor see everything, and what does it cost?",
        variables=(handoff(settings),),
        rows={"Work": _work(settings), "What it could not see": _blind(settings)},
    )


def _work(settings: Settings) -> list[Panel]:
    service = f"{{{{{settings.service_label}}}}}"
    return [
        Panel(
            title="Handoffs assessed",
            description="Per second. A gap is missing data: then no other panel says anything about losses.",
            kind="lines",
            queries=(Query(expression=queries.assessed(settings), legend=f"{service} {{{{{HANDOFF}}}}}"),),
            scale=neutral("ops"),
        ),
        Panel(
            title="Time of one assessment",
            description="Median and 99th percentile. It is spent in the application's process.",
            kind="lines",
            queries=(
                Query(expression=queries.assessing(settings, 0.5), legend=f"{service} p50"),
                Query(expression=queries.assessing(settings, 0.99), legend=f"{service} p99"),
            ),
            scale=bad_above(0.005, unit="s"),
        ),
        Panel(
            title="Open handoffs",
            description="Open now. If the number only grows, handoffs are never ended.",
            kind="lines",
            queries=(Query(expression=queries.open_handoffs(settings), legend=service),),
            scale=bad_above(1000, unit="short"),
        ),
        Panel(
            title="Series of losses",
            description="Series of the widest metric of handoffs. It is bounded by the caps on names and stages.",
            kind="lines",
            queries=(Query(expression=queries.series(settings), legend=service),),
            scale=bad_above(5000, unit="short"),
        ),
    ]


def _blind(settings: Settings) -> list[Panel]:
    service = f"{{{{{settings.service_label}}}}}"
    counts = Scale(unit="short", steps=((0.0, "green"), (0.001, "orange"), (1.0, "red")))
    return [
        Panel(
            title="Errors in the shown time",
            description="Errors of the monitor and misuse of it. They did not reach the application.",
            kind="stat",
            queries=(Query(expression=queries.errors_in_range(settings), legend="errors"),),
            scale=counts,
            width=6,
        ),
        Panel(
            title="Errors by place",
            description="The same over time. The log has the first of each kind, with its stack.",
            kind="bars",
            queries=(Query(expression=queries.monitor_errors(settings), legend=f"{service} {{{{{WHERE}}}}}"),),
            scale=counts,
            width=18,
        ),
        *(
            Panel(
                title=title,
                description=words,
                kind="bars",
                queries=(Query(expression=queries.noticed(settings, metric), legend=service),),
                scale=counts,
                width=8,
            )
            for title, metric, words in _NOTICES
        ),
    ]
