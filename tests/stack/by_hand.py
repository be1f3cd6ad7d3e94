"""``make stack``: the stack that the tests run, to look at, with a fault that Enter puts in and takes out."""

from __future__ import annotations

import signal
import sys
import tempfile
from contextlib import suppress
from itertools import cycle
from pathlib import Path

from tests.grafana.programs import GROUP
from tests.stack.stack import FAULT, Stack, stack

_ADDRESSES = """
Prometheus    {prometheus}/ (its page Alerts)
Alertmanager  http://127.0.0.1:{alertmanager}/
/metrics      http://127.0.0.1:{metrics}/metrics
Collector     http://127.0.0.1:{collector}/metrics (the same through OTLP), OTLP on {endpoint}
Traces        {traces}

Enter puts the fault {fault} in, and takes it out again; Ctrl-C or Ctrl-D ends.
"""


def addresses(running: Stack) -> str:
    """Return where everything is."""
    return _ADDRESSES.format(
        prometheus=running.prometheus.url,
        alertmanager=running.alertmanager,
        metrics=running.port,
        collector=running.collector.metrics,
        endpoint=running.collector.endpoint,
        traces=running.collector.traces,
        fault=FAULT,
    )


def main() -> None:
    """Run until the input ends, or a signal asks for the end."""
    for asks in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(asks, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        run()
    sys.stdout.write("Everything has been stopped.\n")


def run() -> None:
    """Start everything, tell where it is, and do what the input says."""
    GROUP.set(0)  # Ctrl-C is for this process alone, which ends the others in order
    sys.stdout.write("Starting the application, the collector, Prometheus and Alertmanager ...\n")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="rop-otel-stack-") as folder, stack(Path(folder)) as running:
        sys.stdout.write(addresses(running))
        sys.stdout.flush()
        for _, command in zip(sys.stdin, cycle([f"fault {FAULT}", "healthy"]), strict=False):
            running.application.ask(command)
            told = len(running.webhook.alerts)
            sys.stdout.write(f"The application goes on: {command}. The webhook was told {told} times so far.\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
