"""How the API answers: JSON that a terminal may show, and one sentence for what cannot be answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException

from rop_otel.monitor.api.filters import MOST_LISTED

_LIMIT: Final = frozenset({"int_parsing", "int_parsing_size", "greater_than_equal", "less_than_equal"})


def in_json(value: Any) -> str:
    """Return JSON in ASCII without control characters."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("\x7f", "\\u007f")


def answer(value: Any, status: int = 200) -> Response:
    """Return an answer in JSON."""
    return _response(in_json(value), status)


async def answered(work: Callable[..., Any], *args: Any, **options: Any) -> Response:
    """Return what work in a thread of its own comes to; None is answered with 404.

    Raises:
        HTTPException: It is None.
    """

    def written() -> str | None:
        found = work(*args, **options)
        return None if found is None else in_json(found)

    text = await asyncio.to_thread(written)
    if text is None:
        raise HTTPException(404, "none is kept with this ID")
    return _response(text)


def _response(text: str, status: int = 200) -> Response:
    return Response(text, status, {"X-Content-Type-Options": "nosniff"}, "application/json")


async def failed(_: Request, error: Exception) -> Response:
    """Answer what went wrong in one sentence."""
    if isinstance(error, RequestValidationError):
        return answer({"error": sentence(error.errors())}, 400)
    if isinstance(error, HTTPException):
        response = answer({"error": error.detail}, error.status_code)
        response.headers.update(error.headers or {})
        return response
    return answer({"error": "this cannot be answered now; the monitor's log says why"}, 500)


def sentence(errors: Sequence[ErrorDetails]) -> str:
    """Return what is wrong with the first parameter that is."""
    first = errors[0]
    name = str(first["loc"][-1])[:80]
    if first["type"] == "extra_forbidden":
        return f"{name!r} is no parameter here"
    if first["type"] == "string_too_short":
        return f"{name} is empty; leave it out"
    if first["type"] in _LIMIT:
        return f"{name} must be 1 to {MOST_LISTED}"
    if first["type"] == "string_pattern_mismatch":
        return f"{name} is not from a page" if name == "after" else f"{name} is empty; leave it out"
    if first["type"] == "missing":
        return f"{name} is missing"
    return f"{name} {str(first['msg']).removeprefix('Value error, ')}"
