"""The HTTP server of the service."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import Final

from rop_otel.errors import ConfigurationError, remedy
from rop_otel.monitor.service import Monitor

GRACE_SECONDS: Final = 2.0
"""How long requests that are being answered may take when the service ends."""


def is_loopback(host: str) -> bool:
    """Return whether an address reaches this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class HttpServer:
    """OTLP over HTTP, the API and the page, on a port that is open from the start.

    Args:
        monitor: The service.
        host, port: Where to listen; port 0 takes a free one.
        advice: What to do where that cannot be.
        token: See :func:`~rop_otel.monitor.http_door.create_app`.
        certificate, key: Files in PEM; None for no TLS.

    Attributes:
        port: The port.

    Raises:
        ConfigurationError: The address cannot be listened on, or libraries are missing.
    """

    def __init__(
        self,
        monitor: Monitor,
        *,
        host: str,
        port: int,
        advice: str,
        token: str | None = None,
        certificate: str | None = None,
        key: str | None = None,
    ) -> None:
        try:
            import uvicorn  # imported here: it belongs to an extra

            from rop_otel.monitor.http_door import create_app
        except ImportError as error:
            raise ConfigurationError(f"{error.name} is missing: {remedy('monitor')}") from error
        config = uvicorn.Config(
            create_app(monitor, token=token, only_loopback=is_loopback(host)),
            log_level="warning",
            access_log=False,
            lifespan="off",
            ssl_certfile=certificate,
            ssl_keyfile=key,
            timeout_graceful_shutdown=int(GRACE_SECONDS),
        )
        self._server = uvicorn.Server(config)
        self._listener = _listening(host, port, advice)
        self.port: int = self._listener.getsockname()[1]

    def run(self) -> None:
        """Answer until :meth:`end`; in the main thread, until a signal."""
        self._server.run(sockets=[self._listener])

    def end(self) -> None:
        """Have :meth:`run` return soon."""
        self._server.should_exit = True


def _listening(host: str, port: int, advice: str) -> socket.socket:
    """Return a socket that listens; uvicorn would end the process where it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # so that the port can be used as soon as it is known
    except OSError as error:
        listener.close()
        raise ConfigurationError(f"{host}:{port} cannot be listened on ({error}); {advice}") from error
    return listener
