"""The retriever: finds passages, and emits a span for each of its stages, in the trace of the asking service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from asking import in_trace
from corpus import PASSAGES
from fastapi import FastAPI, Header

import rop_otel as rop


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Watch from the worker's start to its end: each worker is a process, and has a monitor of its own."""
    rop.configure(service_name="retriever")
    yield
    rop.shutdown()  # sends what is left


app = FastAPI(lifespan=lifespan)


@app.get("/search")
def search(question: str, traceparent: Annotated[str, Header()]) -> list[str]:
    """Return the keys of passages, best first. The W3C header puts the stages into the asking service's trace."""
    with in_trace(traceparent):
        return fuse(by_words(question), by_letters(question))


@rop.stage("lexical")
def by_words(question: str) -> list[str]:
    """Return passages that share words with the question."""
    words = set(question.lower().strip("?").split())
    return _best({key: len(words & set(text.lower().split())) for key, text in PASSAGES.items()})


@rop.stage("vector")
def by_letters(question: str) -> list[str]:
    """Return passages that share three letters in a row with the question: a stand-in for a real model."""
    asked = _triples(question)
    return _best({key: len(asked & _triples(text)) for key, text in PASSAGES.items()})


@rop.stage("fusion")
def fuse(*arms: list[str]) -> list[str]:
    """Return what both found, by reciprocal rank."""
    scores = {key: sum(1 / (60 + arm.index(key)) for arm in arms if key in arm) for arm in arms for key in arm}
    return sorted(scores, key=lambda key: (-scores[key], key))


def _best(scores: dict[str, int]) -> list[str]:
    return sorted((key for key in scores if scores[key]), key=lambda key: (-scores[key], key))[:4]


def _triples(text: str) -> set[str]:
    return {text[place : place + 3].lower() for place in range(len(text) - 2)}
