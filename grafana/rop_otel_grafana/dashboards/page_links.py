"""Links from a panel to the page's handoffs that it counts."""

from __future__ import annotations

from rop_otel_grafana.page_views import View, address
from rop_otel_grafana.panels import Link
from rop_otel_grafana.settings import Settings

VARIABLE = "page"
"""The dashboard's variable of the page's address."""


def to_page(settings: Settings, view: View) -> tuple[Link, ...]:
    """Return the link to a view; none where the settings name no page."""
    return (Link(title="These handoffs", url=address(f"${{{VARIABLE}:raw}}", view)),) if settings.page_url else ()


def of_series(label: str) -> str:
    """Return what Grafana replaces by a label's value, in the link of a series.

    >>> of_series("rop_verdict")
    '${__field.labels.rop_verdict:percentencode}'
    """
    return f"${{__field.labels.{label}:percentencode}}"


def of_row(label: str) -> str:
    """Return the same for the link of a row of a table, whose columns are the labels."""
    return f"${{__data.fields.{label}:percentencode}}"
