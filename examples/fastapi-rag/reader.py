"""The reader: opens and assesses the handoff, asks the retriever, packs a context and answers."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from corpus import PASSAGES, QUESTIONS
from fastapi import FastAPI
from opentelemetry import propagate

import rop_otel as rop

RETRIEVER = os.environ["RETRIEVER"]
BUDGET = 22
"""Words of context."""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Watch from the worker's start to its end: each worker is a process, and has a monitor of its own."""
    rop.configure(service_name="reader")
    yield
    rop.shutdown()  # sends what is left


app = FastAPI(lifespan=lifespan)


@app.get("/answer")
def answer(question: str) -> dict[str, str | None]:
    """Answer a question, and report the verdict on the selected object."""
    with rop.handoff("docs-qa") as handoff:
        handoff.select(QUESTIONS.get(question))
        shown = pack(retrieve(question))
        handoff.answered(" ".join(f"[S{place + 1}]" for place in range(len(shown))), sources=shown)
    verdict = handoff.assessment.verdict
    return {"verdict": verdict.value if verdict else None, "shown": " ".join(shown)}


@rop.stage("retriever", source=True)
def retrieve(question: str) -> list[str]:
    """Ask the retriever. What it returned is a stage here; its own stages are below it in the trace."""
    headers: dict[str, str] = {}
    propagate.inject(headers)
    with urlopen(Request(f"{RETRIEVER}/search?{urlencode({'question': question})}", headers=headers)) as response:
        found: list[str] = json.load(response)
    return found


@rop.stage("packing")
def pack(keys: list[str]) -> list[str]:
    """Return the passages that fit into the context, from the front."""
    shown, used = [], 0
    for key in keys:
        used += len(PASSAGES[key].split())
        if used > BUDGET:
            break
        shown.append(key)
    rop.current_handoff().running_stage.returned(shown, labels=[f"S{place + 1}" for place in range(len(shown))])
    return shown
