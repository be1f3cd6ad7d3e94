"""``rop-otel monitor``: take in spans of any number of services, and assess their handoffs.

Long because each option stands with its help where typer looks for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rop_otel.cli.run_report import FileBytesOption, limits_of
from rop_otel.cli.terminal import say
from rop_otel.errors import ConfigurationError

_DAY = 86_400.0


def monitor(
    store: Annotated[str, typer.Option(metavar="FILE", help="Where spans and handoffs are kept.")] = "rop-otel.db",
    resolver: Annotated[
        str | None, typer.Option(metavar="FILE", help="The resolver in force: .json, or .jsonl for JSON Lines.")
    ] = None,
    declaration: Annotated[
        str | None, typer.Option(metavar="FILE", help="The declaration of a run, by which its handoffs are assessed.")
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    grpc_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of OTLP over gRPC; 0 takes a free one.")
    ] = 4317,
    http_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of OTLP over HTTP, /metrics and the API; 0 takes a free one.")
    ] = 4318,
    token_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Holds the bearer token that each request has to bring."),
    ] = None,
    certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="Certificate chain in PEM, for TLS with --key.")
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="FILE", help="Private key in PEM.")] = None,
    open_to_anyone: Annotated[
        bool,
        typer.Option("--open-to-anyone", metavar="", help="Listen beyond loopback without a token."),
    ] = False,
    quiet: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="Assess when a trace has been quiet for so long.")
    ] = 10.0,
    patience: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="Settle a trace after so long, whatever is missing.")
    ] = 300.0,
    keep_days: Annotated[
        float, typer.Option(min=0.0, metavar="DAYS", help="Delete handoffs that are older; 0 keeps them.")
    ] = 7.0,
    keep_bytes: Annotated[
        int | None, typer.Option(min=1, metavar="BYTES", help="Delete the oldest handoffs above this.")
    ] = None,
    memory: Annotated[
        int, typer.Option(min=1, metavar="BYTES", help="Ask senders to try later when so much waits.")
    ] = 256 * 1024 * 1024,
    forward: Annotated[
        str | None, typer.Option(metavar="URL", help="Pass each request on to this OTLP endpoint, over HTTP.")
    ] = None,
    max_file_bytes: FileBytesOption = None,
) -> None:
    """Take in OTLP spans of any number of services, and assess each handoff when all of it has arrived.

    Applications set assess="monitor" and send their spans here, or have them sent by a collector. Needs the extra
    rop-otel[monitor]. Ends at SIGINT or SIGTERM; what has been acknowledged is in the store.
    """
    from rop_otel.evaluation.declaration_reader import read_declaration
    from rop_otel.evaluation.resolver_files import read_resolver  # imported here: --help need not wait for it
    from rop_otel.monitor.service import MonitorSettings
    from rop_otel.monitor.serving_monitor import Doors, serve
    from rop_otel.spans.conventions import Rules

    limits = limits_of(max_file_bytes=max_file_bytes)
    if resolver is not None and declaration is not None:
        raise ConfigurationError("a declaration brings its own resolver; leave --resolver out")
    scheme = "http" if certificate is None else "https"

    def ready(grpc_port: int, http_port: int) -> None:
        place = f"[{host}]" if ":" in host else host
        say(f"OTLP over gRPC   {place}:{grpc_port}")
        say(f"OTLP over HTTP   {scheme}://{place}:{http_port}/v1/traces")
        say(f"Metrics          {scheme}://{place}:{http_port}/metrics")
        say(f"Page             {scheme}://{place}:{http_port}/")
        say(f"Kept in          {store}")
        say("Ctrl-C ends it.", flush=True)

    serve(
        store,
        Doors(
            host=host,
            grpc_port=grpc_port,
            http_port=http_port,
            token=None if token_file is None else _token(token_file),
            certificate=certificate,
            key=key,
            open_to_anyone=open_to_anyone,
        ),
        resolver=None if resolver is None else read_resolver(resolver, limits=limits)[0],
        declaration=None if declaration is None else read_declaration(declaration, limits=limits),
        rules=Rules.of_environment(),
        settings=MonitorSettings(
            quiet_seconds=quiet,
            patience_seconds=patience,
            retention_seconds=keep_days * _DAY or None,
            retention_bytes=keep_bytes,
            max_waiting_bytes=memory,
        ),
        forward=forward,
        ready=ready,
    )


def _token(file: str) -> str:
    token = Path(file).read_text(encoding="utf-8").strip()
    if not token:
        raise ConfigurationError(f"{file!r} holds no token")
    return token
