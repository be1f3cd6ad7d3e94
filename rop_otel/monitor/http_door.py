"""OTLP over HTTP, and what the service says of itself and of the handoffs that it keeps."""

from __future__ import annotations

import asyncio
import hmac
from base64 import b64decode
from collections.abc import Mapping
from functools import partial
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from rop_otel.export.prometheus import TallyCollector
from rop_otel.monitor.api import create_api
from rop_otel.monitor.otlp_answers import PROTOBUF, UNAVAILABLE, accepted, failed
from rop_otel.monitor.page_door import page_routes
from rop_otel.monitor.refusals import Answer
from rop_otel.monitor.requests import MAX_REQUEST_BYTES, Received, TooLargeError, received, unpacked
from rop_otel.monitor.service import BusyError, Monitor

_JSON: Final = "application/json"
_RETRY: Final = {"Retry-After": "1"}
_IN_THE_LOOP: Final = 256 * 1024
"""Up to how many bytes a request is read where it arrives; a larger one would keep the others waiting."""

_LOOPBACK: Final = ["localhost", "127.0.0.1", "[::1]"]
_FREE: Final = frozenset({"/healthz", "/readyz"})
_CHALLENGES: Final = ("Bearer", 'Basic realm="rop-otel", charset="UTF-8"')


def create_app(monitor: Monitor, *, token: str | None = None, only_loopback: bool = True) -> Starlette:
    """Return the application that the HTTP server runs.

    Args:
        monitor: The service.
        token: What a request has to bring as bearer token; None for none. Health is given without.
        only_loopback: Whether it is listened on loopback, where a request for another host's name is refused: a web
            page may make a browser send it.
    """
    registry = CollectorRegistry()
    registry.register(TallyCollector(lambda: monitor.tally))
    app = Starlette(
        routes=[
            Route("/v1/traces", partial(_export, monitor), methods=["POST"]),
            *page_routes(),
            Route("/healthz", partial(_health, monitor), methods=["GET"]),
            Route("/readyz", partial(_ready, monitor), methods=["GET"]),
            Route("/metrics", partial(_metrics, registry), methods=["GET"]),
        ],
        middleware=[
            *([Middleware(TrustedHostMiddleware, allowed_hosts=_LOOPBACK)] if only_loopback else []),
            *([Middleware(_Guard, token=token)] if token is not None else []),
        ],
    )
    app.router.default = create_api(monitor)
    return app


class _Guard:
    """Lets only those in who bring the token; health is given to everybody."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        guarded = scope["type"] == "http" and scope["path"] not in _FREE
        if guarded and not is_allowed(Headers(scope=scope).get("authorization", ""), self._token):
            challenged = JSONResponse({"error": "the token is needed"}, 401)
            for challenge in _CHALLENGES:
                challenged.headers.append("WWW-Authenticate", challenge)
            await challenged(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def is_allowed(authorization: str, token: str) -> bool:
    """Return whether an ``Authorization`` field brings the token: as bearer token, or as password of any user."""
    scheme, _, brought = authorization.partition(" ")
    if scheme.lower() == "basic":
        try:
            brought = b64decode(brought, validate=True).decode().partition(":")[2]
        except ValueError:
            return False
    elif scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(brought.encode("utf-8", "replace"), token.encode())


async def _export(monitor: Monitor, request: Request) -> Response:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (PROTOBUF, _JSON):
        return _refused(_JSON, 415, f"Content-Type must be {PROTOBUF} or {_JSON}")
    encoding = request.headers.get("content-encoding", "").strip().lower()
    try:
        packed = await _body(request)
        read = partial(_read, packed, encoding, is_json=kind == _JSON)
        body, (spans, refused) = read() if len(packed) < _IN_THE_LOOP else await asyncio.to_thread(read)
        answer = await asyncio.wrap_future(monitor.submit(spans, refused=refused, size=len(body)))
        monitor.forward(body, kind, len(spans))
    except TooLargeError as error:
        return _refused(kind, 413, str(error))
    except LookupError:
        return _refused(kind, 415, "Content-Encoding must be gzip, deflate or identity")
    except ValueError as error:
        return _refused(kind, 400, str(error))
    except BusyError as error:
        return _refused(kind, 429, str(error), _RETRY)
    except ClientDisconnect:
        return Response(status_code=400)
    except Exception:  # noqa: BLE001 - the store failed, which the service has logged
        return _refused(kind, 503, UNAVAILABLE, _RETRY)
    return _accepted(kind, answer)


def _read(packed: bytes, encoding: str, *, is_json: bool) -> tuple[bytes, Received]:
    body = unpacked(packed, encoding)
    return body, received(body, is_json=is_json)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for block in request.stream():
        body += block
        if len(body) > MAX_REQUEST_BYTES:
            raise TooLargeError(f"more than {MAX_REQUEST_BYTES:,} bytes")
    return bytes(body)


def _accepted(kind: str, answer: Answer) -> Response:
    if kind == _JSON:
        partial_success = {"rejectedSpans": str(answer.rejected), "errorMessage": answer.message}
        return JSONResponse({"partialSuccess": partial_success} if answer.rejected else {})
    return Response(accepted(answer), media_type=PROTOBUF)


def _refused(kind: str, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return OTLP's answer to a request that failed: a ``google.rpc.Status`` in the form of the request."""
    if kind == _JSON:
        return JSONResponse({"message": message}, status, headers)
    return Response(failed(message), status, headers, media_type=PROTOBUF)


async def _metrics(registry: CollectorRegistry, request: Request) -> Response:
    encoder, content_type = choose_encoder(request.headers.get("accept", ""))
    return Response(await asyncio.to_thread(encoder, registry), headers={"Content-Type": content_type})


async def _health(monitor: Monitor, _: Request) -> Response:
    return JSONResponse({"status": "ok" if monitor.is_alive else "ended"}, 200 if monitor.is_alive else 503)


async def _ready(monitor: Monitor, _: Request) -> Response:
    is_ready = monitor.is_alive and monitor.failure is None
    return JSONResponse({"status": "ok" if is_ready else "the store failed"}, 200 if is_ready else 503)
