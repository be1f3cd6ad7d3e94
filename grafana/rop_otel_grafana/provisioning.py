"""What makes Grafana pick the dashboards up from a folder, with the data sources that they use."""

from __future__ import annotations

from rop_otel_grafana.settings import Settings

PROMETHEUS, TRACES = "rop-otel-prometheus", "rop-otel-traces"
"""Identifiers of the data sources."""


def dashboards(settings: Settings) -> dict[str, object]:
    """Return the provider of dashboards."""
    return {
        "apiVersion": 1,
        "providers": [
            {
                "name": "rop-otel",
                "folder": "Retrieval",
                "folderUid": "rop-otel",
                "type": "file",
                "allowUiUpdates": False,
                "disableDeletion": True,
                "options": {"path": settings.dashboards_path},
            }
        ],
    }


def datasources(settings: Settings) -> dict[str, object]:
    """Return the data sources: an exemplar on a miss leads to its trace."""
    return {
        "apiVersion": 1,
        "datasources": [
            {
                "name": "Retrieval metrics",
                "uid": PROMETHEUS,
                "type": "prometheus",
                "access": "proxy",
                "url": settings.prometheus_url,
                "jsonData": {
                    "httpMethod": "POST",
                    "timeInterval": settings.interval,
                    "exemplarTraceIdDestinations": [{"name": "trace_id", "datasourceUid": TRACES}],
                },
            },
            {
                "name": "Retrieval traces",
                "uid": TRACES,
                "type": settings.traces,
                "access": "proxy",
                "url": settings.traces_url,
            },
        ],
    }
