"""The example's services as they are, but without FastAPI's own spans, which any OpenTelemetry set-up would have."""

from __future__ import annotations

import functools

import fastapi
from services.quiet import QUIET

fastapi.FastAPI = functools.partial(fastapi.FastAPI, telemetry=QUIET)  # type: ignore[assignment,misc]  # a class

from reader import app as reader  # type: ignore[import-not-found]  # noqa: E402
from retriever import app as retriever  # type: ignore[import-not-found]  # noqa: E402

__all__ = ["reader", "retriever"]
