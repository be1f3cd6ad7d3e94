"""``rop-otel rules``: Prometheus rules and alerts, example routing and the runbook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rop_otel.cli.grafana import pairs, resolve_settings
from rop_otel.cli.terminal import say
from rop_otel.core.escapes import printable


def rules(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="The folder to write.")],
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings in TOML: names, targets, windows, labels.")
    ] = None,
    target: Annotated[
        float | None, typer.Option(help="Share of selected objects that must reach the reader; 0.95 by default.")
    ] = None,
    handoff: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TARGET", help="A handoff that must be there, with its own target; repeatable."),
    ] = None,
    service_label: Annotated[str | None, typer.Option(help="The label that names the service; job by default.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A label for every alert; repeatable.")
    ] = None,
    runbook: Annotated[
        str | None, typer.Option(metavar="URL", help="Where the runbook can be read; runbook.md by default.")
    ] = None,
) -> None:
    """Write recording rules, alerts, an example routing and the runbook, for your own names, targets and labels."""
    declared = pairs(handoff, option="--handoff", value="TARGET")
    settings = resolve_settings(
        config,
        target=target,
        handoffs=declared and {name: {"target": rate} for name, rate in declared.items()},
        service_label=service_label,
        labels=pairs(label, option="--label"),
        runbook=runbook,
    )
    from rop_otel_grafana import rule_files, write  # imported here: it needs an extra, which was looked for above

    files = rule_files(settings)
    write(folder, files)
    where = printable(str(folder))
    say(f"Wrote {', '.join(files)} to {where}. Name both rule files in prometheus.yml under rule_files.")
