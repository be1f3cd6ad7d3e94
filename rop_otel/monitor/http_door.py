"""OTLP over HTTP, and what the service says of itself and of the handoffs that it keeps."""

from __future__ import annotations

import asyncio
import hmac
import io
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, fields
from functools import partial
from typing import Any, Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rop_otel.export.prometheus import TallyCollector
from rop_otel.monitor.otlp_answers import PROTOBUF, UNAVAILABLE, accepted, refused
from rop_otel.monitor.refusals import Answer
from rop_otel.monitor.requests import MAX_REQUEST_BYTES, Received, TooLargeError, received, unpacked
from rop_otel.monitor.service import BusyError, Monitor
from rop_otel.monitor.store import StoredHandoff, Wanted
from rop_otel.page import write_page

_JSON: Final = "application/json"
_RETRY: Final = {"Retry-After": "1"}
_IN_THE_LOOP: Final = 256 * 1024
"""Up to how many bytes a request is read where it arrives; a larger one would keep the others waiting."""

_LOOPBACK: Final = ["localhost", "127.0.0.1", "[::1]"]
_MOST_LISTED: Final = 500
_MOST_DRAWN: Final = 2000
_FILTERS: Final = frozenset(field.name for field in fields(Wanted))


def create_app(monitor: Monitor, *, token: str | None = None, only_loopback: bool = True) -> Starlette:
    """Return the service's HTTP side.

    Args:
        monitor: The service.
        token: What a request has to bring as bearer token; None for none. Health is given without.
        only_loopback: Whether it is listened on loopback, where a request for another host's name is refused: a web
            page may make a browser send it.
    """
    registry = CollectorRegistry()
    registry.register(TallyCollector(lambda: monitor.tally))
    guarded = partial(_guarded, token=token)
    return Starlette(
        routes=[
            Route("/v1/traces", guarded(partial(_export, monitor)), methods=["POST"]),
            Route("/", guarded(partial(_page, monitor)), methods=["GET"]),
            Route("/api/handoffs", guarded(partial(_handoffs, monitor)), methods=["GET"]),
            Route("/api/handoffs/{handoff_id:path}", guarded(partial(_handoff, monitor)), methods=["GET"]),
            Route("/api/summary", guarded(partial(_summary, monitor)), methods=["GET"]),
            Route("/healthz", partial(_health, monitor), methods=["GET"]),
            Route("/readyz", partial(_ready, monitor), methods=["GET"]),
            Route("/metrics", guarded(partial(_metrics, registry)), methods=["GET"]),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=_LOOPBACK)] if only_loopback else [],
    )


_Endpoint = Callable[[Request], Awaitable[Response]]


def _guarded(endpoint: _Endpoint, *, token: str | None) -> _Endpoint:
    async def answer(request: Request) -> Response:
        if token is not None and not is_allowed(request.headers.get("authorization", ""), token):
            return JSONResponse({"error": "a bearer token is needed"}, 401, {"WWW-Authenticate": "Bearer"})
        return await endpoint(request)

    return answer


def is_allowed(authorization: str, token: str) -> bool:
    """Return whether an ``Authorization`` field brings the token."""
    return hmac.compare_digest(authorization.encode("utf-8", "replace"), f"Bearer {token}".encode())


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
    return Response(refused(message), status, headers, media_type=PROTOBUF)


async def _page(monitor: Monitor, request: Request) -> Response:
    asked = _asked(request, limit="200", most=_MOST_DRAWN)
    if isinstance(asked, Response):
        return asked
    body = await asyncio.to_thread(_drawn, monitor, *asked)
    return Response(body, media_type="text/html")


def _drawn(monitor: Monitor, wanted: Wanted, limit: int) -> bytes:
    stream = io.BytesIO()
    write_page([monitor.kept.newest(wanted, limit=limit)], stream, title="rop-otel monitor")
    return stream.getvalue()


def _asked(request: Request, *, limit: str, most: int) -> tuple[Wanted, int] | Response:
    """Return the filters and the limit of a question; where they cannot be used, what is answered."""
    asked = {name: value for name, value in request.query_params.items() if name != "after"}
    limit = asked.pop("limit", limit)
    unknown = sorted(asked.keys() - _FILTERS)
    if unknown:
        return JSONResponse({"error": f"unknown filter {unknown[0]!r}"}, 400)
    if not (limit.isascii() and limit.isdecimal() and 1 <= int(limit[:9]) <= most):
        return JSONResponse({"error": f"limit must be 1 to {most}"}, 400)
    return Wanted(**asked), int(limit)


async def _handoffs(monitor: Monitor, request: Request) -> Response:
    asked = _asked(request, limit="50", most=_MOST_LISTED)
    if isinstance(asked, Response):
        return asked
    wanted, limit = asked
    after = request.query_params.get("after")
    try:
        page = await asyncio.to_thread(monitor.store.handoffs, wanted, limit=limit, after=after)
    except ValueError as error:
        return JSONResponse({"error": str(error)}, 400)
    return _json({"handoffs": [_row(each) for each in page.handoffs], "after": page.after})


async def _handoff(monitor: Monitor, request: Request) -> Response:
    found = await asyncio.to_thread(monitor.kept.detail, request.path_params["handoff_id"])
    if found is None:
        return JSONResponse({"error": "no such handoff"}, 404)
    return _json(found)


async def _summary(monitor: Monitor, request: Request) -> Response:
    asked = _asked(request, limit="1", most=_MOST_LISTED)
    if isinstance(asked, Response):
        return asked
    verdicts = await asyncio.to_thread(monitor.store.counts, asked[0])
    return _json({"verdicts": verdicts, "open_traces": monitor.open_traces, "waiting_bytes": monitor.waiting_bytes})


async def _metrics(registry: CollectorRegistry, request: Request) -> Response:
    encoder, content_type = choose_encoder(request.headers.get("accept", ""))
    return Response(await asyncio.to_thread(encoder, registry), headers={"Content-Type": content_type})


async def _health(monitor: Monitor, _: Request) -> Response:
    return JSONResponse({"status": "ok" if monitor.is_alive else "ended"}, 200 if monitor.is_alive else 503)


async def _ready(monitor: Monitor, _: Request) -> Response:
    is_ready = monitor.is_alive and monitor.failure is None
    return JSONResponse({"status": "ok" if is_ready else "the store failed"}, 200 if is_ready else 503)


def _row(handoff: StoredHandoff) -> dict[str, Any]:
    row = asdict(handoff)
    del row["assessment"]
    return row


def _json(value: object) -> Response:
    return Response(json.dumps(value, ensure_ascii=True, allow_nan=False), media_type=_JSON)
