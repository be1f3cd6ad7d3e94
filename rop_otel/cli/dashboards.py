"""``rop-otel dashboards``: Grafana dashboards and provisioning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rop_otel.cli.grafana import resolve_settings
from rop_otel.cli.terminal import say
from rop_otel.core.escapes import printable
from rop_otel.errors import ConfigurationError, remedy


def dashboards(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="The folder to write.")],
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings in TOML: names, targets, windows, labels.")
    ] = None,
    target: Annotated[
        float | None, typer.Option(help="Share of selected objects that must reach the reader; 0.95 by default.")
    ] = None,
    service_label: Annotated[str | None, typer.Option(help="The label that names the service; job by default.")] = None,
    path: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where Grafana will find the dashboards.")] = None,
) -> None:
    """Write three Grafana dashboards, and the provisioning files with which Grafana loads them from a folder.

    Their panels show ratios that the rules of rop-otel rules record: give both verbs the same settings.
    """
    settings = resolve_settings(config, target=target, service_label=service_label, dashboards_path=path)
    from rop_otel_grafana import dashboard_files, write  # imported here: it needs an extra, which was looked for above

    try:
        files = dashboard_files(settings)
    except ImportError as error:
        raise ConfigurationError(f"{error.name} is missing: {remedy('grafana')}") from error
    write(folder, files)
    say(
        f"Wrote {', '.join(files)} to {printable(str(folder))}. Copy what is in provisioning to Grafana's own "
        f"provisioning folder; Grafana then looks for the dashboards in {printable(settings.dashboards_path)}."
    )
