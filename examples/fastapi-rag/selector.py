"""The selector of three services: opens the handoff, and asks the retriever and the reader. The monitor assesses."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from asking import ask, retrieve
from corpus import QUESTIONS
from fastapi import FastAPI

import rop_otel as rop


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Watch from the worker's start to its end."""
    rop.configure(service_name="selector")
    yield
    rop.shutdown()  # sends what is left


app = FastAPI(lifespan=lifespan)


@app.get("/answer")
def answer(question: str, record: str | None = None) -> dict[str, str]:
    """Answer a question. Nobody here sees what became of the selected object: the reader is another service."""
    with rop.handoff("docs-qa", record_id=record) as handoff:
        handoff.select(QUESTIONS.get(question))
        said = ask(os.environ["READER"], "read", key=retrieve(question))
        handoff.answered(said["answer"], sources=said["shown"])
    return {"answer": said["answer"], "shown": " ".join(said["shown"])}
