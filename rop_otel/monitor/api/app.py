"""The API's routes."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Final

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import Field
from starlette.exceptions import HTTPException

from rop_otel.monitor.api.filters import Filters, TotalsFilters
from rop_otel.monitor.service import Monitor
from rop_otel.page.document import live_head
from rop_otel.version import installed_version

_MOST_LISTED: Final = 2000


class _Listed(Filters):
    limit: int = Field(50, ge=1, le=_MOST_LISTED, description="How many at most.")
    after: str | None = Field(None, description="Goes on where the page before ended: its `after`.")


def create_api(monitor: Monitor) -> FastAPI:
    """Return the API of a monitor."""
    api = FastAPI(
        title="rop-otel monitor",
        version=installed_version(),
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )

    @api.get("/api/head")
    async def head() -> Response:
        """Return what the page reads first."""
        return _json({**live_head(title="rop-otel monitor"), "live": True})

    @api.get("/api/handoffs")
    async def handoffs(asked: Annotated[_Listed, Query()]) -> Response:
        """Return a row for each handoff, the newest first."""
        return _json(await asyncio.to_thread(monitor.kept.rows, asked.wanted, limit=asked.limit, after=asked.after))

    @api.get("/api/handoffs/{handoff_id:path}")
    async def handoff(handoff_id: str) -> Response:
        """Return all that is known of one handoff."""
        found = await asyncio.to_thread(monitor.kept.detail, handoff_id)
        return JSONResponse({"error": "no such handoff"}, 404) if found is None else _json(found)

    @api.get("/api/summary")
    async def summary(asked: Annotated[TotalsFilters, Query()]) -> Response:
        """Return what the handoffs add up to."""
        found = await asyncio.to_thread(monitor.kept.summary, asked.wanted)
        return _json({**found, "open_traces": monitor.open_traces, "waiting_bytes": monitor.waiting_bytes})

    @api.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return JSONResponse({"error": _sentence(error)}, 400)

    @api.exception_handler(ValueError)
    async def refused(_: Request, error: ValueError) -> Response:
        return JSONResponse({"error": str(error)}, 400)

    @api.exception_handler(HTTPException)
    async def failed(_: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    return api


def _sentence(error: RequestValidationError) -> str:
    """Return in one sentence what is wrong with the first parameter that is."""
    first = error.errors()[0]
    name = str(first["loc"][-1])[:80]
    if first["type"] == "extra_forbidden":
        return f"unknown parameter {name!r}"
    if first["type"] == "string_too_short":
        return f"{name} is empty; leave it out"
    said = str(first["msg"]).removeprefix("Value error, ")
    return said if len(first["loc"]) == 1 else f"{name}: {said}"


def _json(value: Any) -> Response:
    return Response(json.dumps(value, ensure_ascii=True, allow_nan=False), media_type="application/json")
