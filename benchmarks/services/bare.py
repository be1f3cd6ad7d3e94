"""The example's services without any instrumentation: the same functions, the same requests and answers."""

from __future__ import annotations

import inspect
import json
import os
from typing import Final
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import retriever as example  # type: ignore[import-not-found]  # of the example, which PYTHONPATH names
from corpus import PASSAGES  # type: ignore[import-not-found]
from fastapi import FastAPI
from services.quiet import QUIET

RETRIEVER: Final = os.environ["RETRIEVER"]
BUDGET: Final = 22

by_words, by_letters, fuse = (inspect.unwrap(stage) for stage in (example.by_words, example.by_letters, example.fuse))
"""The stages, without what decorates them."""

retriever = FastAPI(telemetry=QUIET)
reader = FastAPI(telemetry=QUIET)


@retriever.get("/search")
def search(question: str) -> list[str]:
    """Return the keys of passages, best first."""
    found: list[str] = fuse(by_words(question), by_letters(question))
    return found


@reader.get("/answer")
def answer(question: str) -> dict[str, str | None]:
    """Answer a question."""
    shown = pack(asked(question, {}))
    cited(shown)
    return {"verdict": None, "shown": " ".join(shown)}


def asked(question: str, headers: dict[str, str]) -> list[str]:
    """Return what the retriever finds."""
    with urlopen(Request(f"{RETRIEVER}/search?{urlencode({'question': question})}", headers=headers)) as response:
        found: list[str] = json.load(response)
    return found


def pack(keys: list[str]) -> list[str]:
    """Return the passages that fit into the context, from the front."""
    shown, used = [], 0
    for key in keys:
        used += len(PASSAGES[key].split())
        if used > BUDGET:
            break
        shown.append(key)
    return shown


def cited(shown: list[str]) -> str:
    """Return the answer."""
    return " ".join(f"[{label}]" for label in labels(shown))


def labels(shown: list[str]) -> list[str]:
    """Return the label of each passage that is shown."""
    return [f"S{place + 1}" for place in range(len(shown))]
