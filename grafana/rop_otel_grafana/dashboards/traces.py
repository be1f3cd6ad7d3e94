"""Links from a loss to its trace."""

from __future__ import annotations

import json
from collections.abc import Callable

from rop_otel import semconv
from rop_otel_grafana.panels import Link
from rop_otel_grafana.promql import CAUSE, HANDOFF
from rop_otel_grafana.settings import Settings


def from_series(settings: Settings) -> Link:
    """Return the link of a series, which has the labels itself."""
    return _link(settings, lambda label: f"${{__field.labels.{label}}}")


def from_row(settings: Settings) -> Link:
    """Return the link of a row of a table, whose columns are the labels."""
    return _link(settings, lambda label: f"${{__data.fields.{label}}}")


def _link(settings: Settings, value: Callable[[str], str]) -> Link:
    query = _traceql(value) if settings.traces == "tempo" else _jaeger(settings, value)
    source = {"type": settings.traces, "uid": "${traces}"}
    pane = {
        "datasource": "${traces}",
        "queries": [{"refId": "A", "datasource": source, **query}],
        "range": {"from": "${__from}", "to": "${__to}"},
    }
    panes = json.dumps({"rop": pane}, separators=(",", ":"), sort_keys=True)
    return Link(title="Traces of these losses", url=f"/explore?schemaVersion=1&orgId=1&panes={panes}")


def _traceql(value: Callable[[str], str]) -> dict[str, str]:
    name, cause = f"span.{semconv.HANDOFF_NAME}", f"span.{semconv.DROP_CAUSE}"
    query = f'{{ {name} = "{value(HANDOFF)}" }} && {{ {cause} = "{value(CAUSE)}" }}'
    return {"queryType": "traceql", "query": query}


def _jaeger(settings: Settings, value: Callable[[str], str]) -> dict[str, str]:
    tags = f'{semconv.DROP_CAUSE}="{value(CAUSE)}"'
    return {"queryType": "search", "service": value(settings.service_label), "tags": tags}
