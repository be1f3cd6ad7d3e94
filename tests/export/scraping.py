"""Scraping ``/metrics`` from the outside, as Prometheus does."""

from __future__ import annotations

from urllib.request import Request, urlopen

from prometheus_client import parser
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.samples import Sample

PLAIN = "text/plain"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def fetch(port: int, accept: str = PLAIN) -> tuple[str, str]:
    """Return the content type and the text of a scrape."""
    request = Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urlopen(request, timeout=60) as response:
        return response.headers["Content-Type"], response.read().decode()


def scrape(port: int, accept: str = PLAIN) -> list[Family]:
    """Return the families of a scrape, as the parser of that format reads them."""
    text = fetch(port, accept)[1]
    read = openmetrics if accept == OPENMETRICS else parser
    return list(read.text_string_to_metric_families(text))


def samples(port: int, accept: str = PLAIN) -> dict[str, list[Sample]]:
    """Return the samples of a scrape by their name."""
    found: dict[str, list[Sample]] = {}
    for family in scrape(port, accept):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample)
    return found


def value(port: int, name: str, **labels: str) -> float | None:
    """Return the value of one series by its labels' last words (``verdict`` for ``rop_verdict``); None: not there."""
    for sample in samples(port).get(name, []):
        if all(
            any(key.endswith(label) and got == text for key, got in sample.labels.items())
            for label, text in labels.items()
        ):
            return sample.value
    return None
