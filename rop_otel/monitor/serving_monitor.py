"""The service with its doors, from start to end."""

from __future__ import annotations

import gc
import signal
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rop_otel.core.profile import Resolver
from rop_otel.core.profile.declaration import Opened
from rop_otel.errors import ConfigurationError
from rop_otel.meters.tally import Tally
from rop_otel.monitor.forwarding import Forwarder
from rop_otel.monitor.http_server import GRACE_SECONDS, HttpServer, is_loopback
from rop_otel.monitor.service import Monitor, MonitorSettings
from rop_otel.monitor.sqlite_store import SqliteStore
from rop_otel.spans.conventions import Rules

_GARBAGE_THRESHOLDS = (10_000, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """Where the service listens.

    Args:
        host: Address.
        grpc_port, http_port: Ports; 0 takes a free one.
        token: What each request has to bring as bearer token; None for none.
        certificate, key: Files in PEM; None for no TLS.
        open_to_anyone: Whether another address than loopback is right without a token.
    """

    host: str = "127.0.0.1"
    grpc_port: int = 4317
    http_port: int = 4318
    token: str | None = None
    certificate: str | None = None
    key: str | None = None
    open_to_anyone: bool = False


def collect_less() -> None:
    """Let the process look for unreachable objects less often.

    Spans hold no circles that last, and each search walks all that wait: with Python's own settings a third of the time
    in which handoffs are put together goes into it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)


def serve(
    store: str,
    doors: Doors,
    *,
    resolver: Resolver | None = None,
    declaration: Opened | None = None,
    rules: Rules | None = None,
    settings: MonitorSettings,
    forward: str | None = None,
    ready: Callable[[int, int], object],
) -> None:
    """Serve until the process is interrupted or terminated.

    Args:
        store: Name of the store's file.
        doors: Where to listen.
        resolver, declaration, rules, settings: See :class:`~rop_otel.monitor.service.Monitor`.
        forward: Address of an OTLP endpoint that gets each request, too; None for none.
        ready: Called with the ports of gRPC and HTTP when both are open.

    Raises:
        ConfigurationError: An address, a certificate or the store cannot be used, or libraries are missing.
    """
    from rop_otel.monitor.grpc_door import serve_grpc

    if not (doors.token or doors.open_to_anyone or is_loopback(doors.host)):
        raise ConfigurationError(
            f"without a token anyone who reaches {doors.host} could send and read; name a --token-file, "
            "or say --open-to-anyone"
        )
    pair = _certificate(doors)
    tally = Tally(places=("store", "assess"))
    forwarder = None if forward is None else Forwarder(forward, tally)
    monitor = Monitor(
        SqliteStore(store),
        tally,
        resolver=resolver,
        declaration=declaration,
        rules=rules,
        settings=settings,
        forwarder=forwarder,
    )
    # uvicorn hands the signal on when it has ended. By default SIGTERM then ends the process at once, and SIGINT only
    # asks asyncio for an end that it may have no more time to give.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    try:
        http_server = HttpServer(
            monitor,
            host=doors.host,
            port=doors.http_port,
            advice="choose another --http-port",
            token=doors.token,
            certificate=doors.certificate,
            key=doors.key,
        )
        grpc_server, grpc_port = serve_grpc(
            monitor, host=doors.host, port=doors.grpc_port, token=doors.token, certificate=pair
        )
        collect_less()
        monitor.start()
        ready(grpc_port, http_server.port)
        try:
            http_server.run()
        finally:
            grpc_server.stop(GRACE_SECONDS).wait()
    finally:
        monitor.close()


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _certificate(doors: Doors) -> tuple[bytes, bytes] | None:
    if (doors.certificate is None) != (doors.key is None):
        raise ConfigurationError("TLS needs both --certificate and --key")
    if doors.certificate is None or doors.key is None:
        return None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(doors.certificate, doors.key)
    except ssl.SSLError as error:
        raise ConfigurationError(f"{doors.certificate!r} and {doors.key!r} are no certificate and its key") from error
    return Path(doors.key).read_bytes(), Path(doors.certificate).read_bytes()
