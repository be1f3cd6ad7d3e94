"""The reader packs a context and answers. Without a selector it also opens the handoff and asks the retriever."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from asking import in_trace, retrieve
from corpus import PASSAGES, QUESTIONS
from fastapi import FastAPI, Header, Query

import rop_otel as rop

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
        handoff.answered(cite(shown), sources=shown)
    verdict = handoff.assessment.verdict
    return {"verdict": verdict.value if verdict else None, "shown": " ".join(shown)}


@app.get("/read")
def read(key: Annotated[list[str], Query()], traceparent: Annotated[str, Header()]) -> dict[str, str | list[str]]:
    """Answer from passages that another service found, in its trace."""
    with in_trace(traceparent):
        shown = pack(key)
    return {"answer": cite(shown), "shown": shown}


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


def cite(shown: list[str]) -> str:
    """Return an answer that cites every passage."""
    return " ".join(f"[S{place + 1}]" for place in range(len(shown)))
