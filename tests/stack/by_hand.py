"""``make stack``: the stack that the tests run, to look at, with a fault that Enter puts in and takes out."""

from __future__ import annotations

import signal
import sys
import tempfile
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import pytest

from tests.grafana.programs import GROUP, program
from tests.stack.alertmanager import Alert
from tests.stack.stack import FAULT, Stack, stack

_ADDRESSES = """
Prometheus    {prometheus}/ (its page Alerts)
Alertmanager  http://127.0.0.1:{alertmanager}/ (amtool --alertmanager.url=http://127.0.0.1:{alertmanager} alert)
Webhook       {webhook} (what it is told is shown below)
/metrics      http://127.0.0.1:{metrics}/metrics
Collector     http://127.0.0.1:{collector}/metrics (the same through OTLP), OTLP on {endpoint}
Monitor       {monitor}/metrics (the same once more, of the spans that the collector sends)
Page          {monitor}/
Traces        {traces}
Judge them    .venv/bin/rop-otel replay {traces} --resolver {resolver}

Enter puts the fault {fault} in, and takes it out again; Ctrl-C or Ctrl-D ends.
"""


def addresses(running: Stack, folder: Path) -> str:
    """Return where everything is."""
    return _ADDRESSES.format(
        prometheus=running.prometheus.url,
        alertmanager=running.alertmanager,
        webhook=running.webhook.url,
        metrics=running.port,
        collector=running.collector.metrics,
        endpoint=running.collector.endpoint,
        monitor=running.monitor.url,
        traces=running.collector.traces,
        resolver=folder / "resolver.json",
        fault=FAULT,
    )


def told(alert: Alert) -> str:
    """Return what the webhook was told of one alert, as a line, and where the page shows its handoffs."""
    labels, notes = alert["labels"], alert["annotations"]
    cause = f" ({labels['rop_drop_cause']})" if "rop_drop_cause" in labels else ""
    page = f"         {notes['page_url']}\n" if "page_url" in notes else ""
    return f"Webhook: {alert['status']} {labels['alertname']}: {notes['summary']}{cause}\n{page}"


def main() -> None:
    """Run until the input ends, or a signal asks for the end."""
    for asks in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(asks, signal.default_int_handler)
    try:
        for name in ("prometheus", "prometheus-alertmanager"):
            program(name)
    except (pytest.skip.Exception, pytest.fail.Exception) as missing:
        sys.exit(str(missing))
    with suppress(KeyboardInterrupt):
        run()
    say("Everything has been stopped.\n")


def run() -> None:
    """Start everything, tell where it is, and do what the input says."""
    GROUP.set(0)  # Ctrl-C is for this process alone, which ends the others in order
    say("Starting the application, the collector, the monitor, Prometheus and Alertmanager ...\n")
    with tempfile.TemporaryDirectory(prefix="rop-otel-stack-") as folder, stack(Path(folder)) as running:
        running.webhook.hearers.append(lambda alert: say(told(alert)))
        say(addresses(running, Path(folder)))
        for _, command in zip(sys.stdin, cycle([f"fault {FAULT}", "healthy"]), strict=False):
            running.application.ask(command)
            say(f"The application goes on: {command}.\n")


def say(text: str) -> None:
    """Write at once, also where the output is a file."""
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
