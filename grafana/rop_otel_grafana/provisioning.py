"""What makes Grafana pick the dashboards up from a folder, with the data sources that they use."""

from __future__ import annotations

from dataclasses import dataclass

from rop_otel_grafana.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A data source.

    Args:
        name: As people see it.
        uid: As dashboards name it.
    """

    name: str
    uid: str


METRICS = Source(name="Retrieval metrics", uid="rop-otel-prometheus")
TRACES = Source(name="Retrieval traces", uid="rop-otel-traces")


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
                "name": METRICS.name,
                "uid": METRICS.uid,
                "type": "prometheus",
                "access": "proxy",
                "url": settings.prometheus_url,
                "jsonData": {
                    "httpMethod": "POST",
                    "timeInterval": settings.interval,
                    "exemplarTraceIdDestinations": [{"name": "trace_id", "datasourceUid": TRACES.uid}],
                },
            },
            {
                "name": TRACES.name,
                "uid": TRACES.uid,
                "type": settings.traces,
                "access": "proxy",
                "url": settings.traces_url,
            },
        ],
    }
