"""The page: its files never change while the service runs; what they show comes from the API."""

from __future__ import annotations

from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rop_otel.page import POLICY, ServedFile, served_files

_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def page_routes() -> list[Route]:
    """Return the routes of the page and of its files."""
    return [Route(file.path, partial(_answer, file), methods=["GET"]) for file in served_files()]


async def _answer(file: ServedFile, request: Request) -> Response:
    headers = {**_HEADERS, "ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
