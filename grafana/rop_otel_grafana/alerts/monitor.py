"""Alerts about what is not seen: handoffs that stopped, and the monitor's own errors."""

from __future__ import annotations

from collections.abc import Iterator

from rop_otel import semconv
from rop_otel_grafana.alerts.alert import Alert, Page, asked_of, subject, value_of
from rop_otel_grafana.page_views import named
from rop_otel_grafana.promql import HANDOFF, WHERE, equal, growth, handoff_labels, one_of, select, sum_increase
from rop_otel_grafana.settings import Settings, seconds

ABSENT, ERRORS = "HandoffTrafficAbsent", "MonitorErrors"


def alerts(settings: Settings) -> list[Alert]:
    """Return the rules."""
    return [_silent(settings), *_declared(settings), *_errors(settings)]


def _silent(settings: Settings) -> Alert:
    absent, labels = settings.absent, handoff_labels(settings)
    others = (one_of(HANDOFF, sorted(settings.handoffs), negated=True),) if settings.handoffs else ()
    handoffs = select(settings, semconv.VERDICTS.prometheus, *others)
    parts = seconds(absent.over) / seconds(absent.window)
    before = sum_increase(labels, handoffs, absent.over, offset=absent.window)
    return Alert(
        name=ABSENT,
        expression=(
            f"{before} / {parts:g} >= {absent.usual:g}\n"
            f"unless on ({', '.join(labels)}) {sum_increase(labels, handoffs, absent.window)} > 0"
        ),
        hold=absent.hold,
        severity="critical",
        view=named(asked_of),
        summary=f"No {subject(settings)} any more",
        description=(
            f"No {subject(settings)} was assessed in {absent.window}, where there usually are {{{{ $value | humanize"
            f" }}}} in that time: no stage is seen, and nothing is known about losses (cause: no data)."
        ),
    )


def _declared(settings: Settings) -> Iterator[Alert]:
    """Give one rule for the declared handoffs, which fires also where one was never seen; none where none is."""
    if not settings.handoffs:
        return
    absent, names, series = settings.absent, sorted(settings.handoffs), semconv.VERDICTS.prometheus
    seen = sum_increase(handoff_labels(settings), select(settings, series, one_of(HANDOFF, names)), absent.window)
    never = (
        f"or absent_over_time({select(settings, series, equal(HANDOFF, name))}[{absent.window}])" for name in names
    )
    yield Alert(
        name=ABSENT,
        expression="\n".join([f"{seen} == 0", *never]),
        hold=absent.hold,
        severity="critical",
        labels={"declared": "true"},
        view=named(asked_of),
        summary=f"No handoff {value_of(HANDOFF)}, which is declared to be there",
        description=(
            f"No {subject(settings)} was assessed in {absent.window}: no stage is seen, and nothing is known about"
            " losses (cause: no data)."
        ),
    )


def _errors(settings: Settings) -> list[Alert]:
    service = value_of(settings.service_label, otherwise="unknown")
    errors = growth((settings.service_label, WHERE), select(settings, semconv.SELF_ERRORS.prometheus), settings.errors)
    rejected = sum_increase(
        (settings.service_label,), select(settings, semconv.SELF_REJECTED.prometheus), settings.errors
    )
    return [
        Alert(
            name=ERRORS,
            expression=f"{errors} > 0",
            hold="1m",
            severity="warning",
            summary=f"The monitor in service {service} has errors in {value_of(WHERE)}",
            description=(
                f"Errors of the monitor of service {service} within {settings.errors}, at {value_of(WHERE)}:"
                f" {{{{ $value | humanize }}}}. They were kept from the application; some handoffs or stages"
                " may be missing from the numbers."
            ),
        ),
        Alert(
            name=ERRORS,
            expression=f"{rejected} > 0",
            hold="1m",
            severity="warning",
            labels={WHERE: "ledger"},
            summary=f"The monitor in service {service} turns handoffs away",
            description=(
                f"Handoffs of service {service} that were not monitored within {settings.errors}:"
                " {{ $value | humanize }}, because too many were open (cause: the cap on open handoffs)."
            ),
        ),
    ]


def pages(settings: Settings) -> list[Page]:
    """Return what the runbook says."""
    labels = handoff_labels(settings)
    handoffs = select(settings, semconv.VERDICTS.prometheus)
    return [
        Page(
            name=ABSENT,
            means=(
                f"A handoff that usually takes place has not been seen for {settings.absent.window}. Shares have no"
                " data then, and no other alert can fire. Missing data does not mean that all is well."
            ),
            see=(
                ("When did it stop?", sum_increase(labels, handoffs, settings.absent.window)),
                ("Does Prometheus reach the service?", "up"),
            ),
            attempts=(
                "Is the service up, and does Prometheus scrape it? Look at the targets page.",
                "Behind a collector: is its receiver reached, and does its exporter still answer?",
                (
                    "Was the handoff renamed, or is monitoring switched off"
                    f" (`{semconv.ENV_DISABLED}`)? With more handoff names than the cap it counts as `{semconv.OTHER}`."
                ),
                "Is no traffic normal, for instance at night? Use a longer window.",
            ),
        ),
        Page(
            name=ERRORS,
            means=(
                "The monitor caught an error of its own, or was used wrongly, or turned handoffs away. The application"
                " did not notice, but some numbers may be missing."
            ),
            see=(
                (
                    "Where?",
                    sum_increase(
                        (settings.service_label, WHERE), select(settings, semconv.SELF_ERRORS.prometheus), "1h"
                    ),
                ),
                (
                    "How many handoffs are open?",
                    f"sum by ({settings.service_label}) ({select(settings, semconv.SELF_OPEN.prometheus)})",
                ),
            ),
            attempts=(
                "Read the service's log: each kind of error is logged once, with its stack.",
                f"In a test, set `{semconv.ENV_STRICT}`: misuse then raises where it happens.",
                (
                    "Were handoffs turned away? If handoffs are opened and never ended, the number of open ones only"
                    f" grows. Otherwise raise `{semconv.ENV_MAX_OPEN}`."
                ),
            ),
        ),
    ]
