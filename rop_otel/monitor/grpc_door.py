"""OTLP over gRPC."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import grpc

from rop_otel.errors import ConfigurationError
from rop_otel.monitor.http_door import is_allowed
from rop_otel.monitor.otlp_answers import PROTOBUF, UNAVAILABLE, accepted, refused_for_now
from rop_otel.monitor.requests import MAX_REQUEST_BYTES, received
from rop_otel.monitor.service import BusyError, Monitor

_SERVICE: Final = "opentelemetry.proto.collector.trace.v1.TraceService"
_THREADS: Final = 16


def serve_grpc(
    monitor: Monitor,
    *,
    host: str,
    port: int,
    token: str | None = None,
    certificate: tuple[bytes, bytes] | None = None,
) -> tuple[grpc.Server, int]:
    """Start to serve.

    Args:
        monitor: The service.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.
        token: What a request has to bring as bearer token; None for none.
        certificate: Private key and certificate chain in PEM; None for no TLS.

    Returns:
        The server, and its port.

    Raises:
        ConfigurationError: The address cannot be listened on.
    """
    server = grpc.server(
        ThreadPoolExecutor(_THREADS, thread_name_prefix="rop_otel.grpc"),
        options=[("grpc.max_receive_message_length", MAX_REQUEST_BYTES), ("grpc.so_reuseport", 0)],
    )
    export = grpc.unary_unary_rpc_method_handler(partial(_export, monitor, token))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {"Export": export}),))
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        if certificate is None:
            bound = server.add_insecure_port(address)
        else:
            bound = server.add_secure_port(address, grpc.ssl_server_credentials([certificate]))
    except RuntimeError:
        raise ConfigurationError(f"{host}:{port} cannot be listened on; choose another --grpc-port") from None
    server.start()
    return server, bound


def _export(monitor: Monitor, token: str | None, request: bytes, context: Any) -> bytes:
    if token is not None:
        given = dict(context.invocation_metadata()).get("authorization", "")
        if not is_allowed(given, token):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "a bearer token is needed")
    try:
        spans, refused = received(request, is_json=False)
    except ValueError as error:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
    try:
        answer = monitor.submit(spans, refused=refused, size=len(request)).result()
    except BusyError as error:
        _ask_again(context, grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
    except Exception:  # noqa: BLE001 - the store failed, which the service has logged
        _ask_again(context, grpc.StatusCode.UNAVAILABLE, UNAVAILABLE)
    monitor.forward(request, PROTOBUF, len(spans))
    return accepted(answer)


def _ask_again(context: Any, code: grpc.StatusCode, message: str) -> None:
    """Refuse a request in the way that OTLP calls retryable."""
    status = refused_for_now(code.value[0], message)
    context.set_trailing_metadata((("grpc-status-details-bin", status),))
    context.abort(code, message)
