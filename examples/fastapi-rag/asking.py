"""How one service asks another: W3C's ``traceparent`` goes along, so that the spans of all are in one trace."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from opentelemetry import context, propagate

import rop_otel as rop


@rop.stage("retriever", source=True)
def retrieve(question: str) -> list[str]:
    """Ask the retriever. What it returned is a stage here; its own stages are below it in the trace."""
    found: list[str] = ask(os.environ["RETRIEVER"], "search", question=question)
    return found


def ask(service: str, path: str, **parameters: str | list[str]) -> Any:
    """Return what a service answers; it puts its stages into the trace of this one."""
    headers: dict[str, str] = {}
    propagate.inject(headers)
    with urlopen(Request(f"{service}/{path}?{urlencode(parameters, doseq=True)}", headers=headers)) as response:
        return json.load(response)


@contextmanager
def in_trace(traceparent: str) -> Iterator[None]:
    """Put the stages inside the block into the trace of the service that asks, as its W3C header says."""
    token = context.attach(propagate.extract({"traceparent": traceparent}))
    try:
        yield
    finally:
        context.detach(token)
