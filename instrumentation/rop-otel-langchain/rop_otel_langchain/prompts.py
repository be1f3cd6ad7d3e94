"""Prompts, and what models are given: the texts that show documents."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseLanguageModel
from langchain_core.prompts import BasePromptTemplate

from rop_otel.instrumenting import AsyncSteps, Begin, Function, Patches, Steps, Take, Wrap
from rop_otel_langchain.asking import Asked
from rop_otel_langchain.carrying import resumed
from rop_otel_langchain.containing import given
from rop_otel_langchain.documents import stored_documents
from rop_otel_langchain.texts import (
    asked_before,
    asked_in,
    literals_in,
    messages_in,
    refuses,
    said_before,
    said_by,
    texts_of,
)
from rop_otel_langchain.trail import Before, trail_here
from rop_otel_langchain.watching import Watching, never_raising


def watch_prompts(patches: Patches, watching: Watching) -> None:
    """See which documents prompts and models are given."""
    makes, takes = functools.partial(_makes, watching), functools.partial(_takes, watching)
    patches.family(BasePromptTemplate, patches.pair(makes, "invoke", "ainvoke"))
    models = patches.pair(takes, "invoke", "ainvoke")
    streams = {"stream": _streamed(patches, watching, Steps), "astream": _streamed(patches, watching, AsyncSteps)}
    # What the older chains call.
    generating = patches.pair(takes, "generate_prompt", "agenerate_prompt")
    patches.family(BaseLanguageModel, {**models, **streams, **generating})


def _makes(watching: Watching, original: Function) -> Begin:
    """Watch what makes a prompt."""

    @contextmanager
    def block(template: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Take]:
        with resumed(args[1:], kwargs):
            yield lambda prompt: _observe(watching, prompt, template)

    return block


def _takes(watching: Watching, original: Function) -> Begin:
    """Watch what is given a prompt, and what it answers."""
    prompt = given(original)

    @contextmanager
    def block(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Take]:
        with _asking(watching, prompt(args, kwargs), args, kwargs) as asked:
            yield functools.partial(_answered, asked)

    return block


@contextmanager
def _asking(watching: Watching, prompt: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Asked | None]:
    """Give a model a prompt; where it raises, nobody answered it."""
    with resumed(args[1:], kwargs):
        asked = _observe(watching, prompt)
        try:
            yield asked
        except BaseException:
            if asked is not None:
                asked.failed = True
            raise


class _Streaming:
    """Follows what a model streams, in which it may refuse to answer.

    Args:
        asked: What it was given.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def begin(self) -> None:
        """Begin; the stream is there already."""

    def step(self) -> AbstractContextManager[None]:
        """Return a block that changes nothing."""
        return nullcontext()

    @never_raising
    def add(self, piece: Any) -> None:
        """Take in a piece of the answer."""
        self._asked.refused = self._asked.refused or refuses(piece)

    def end(self, error: BaseException | None = None) -> None:
        """End; nothing is left to be known."""


def _streamed(patches: Patches, watching: Watching, steps: type[Steps | AsyncSteps]) -> Wrap:
    """Watch what is given a prompt, and what it streams."""

    def wrap(original: Function) -> Function:
        prompt = given(original)

        @functools.wraps(original)
        def stream(model: Any, /, *args: Any, **kwargs: Any) -> Any:
            if not patches.on:
                return original(model, *args, **kwargs)
            with _asking(watching, prompt(args, kwargs), args, kwargs) as asked:
                pieces = original(model, *args, **kwargs)
            return pieces if asked is None else steps(pieces, _Streaming(asked))

        return stream

    return wrap


@never_raising
def _answered(asked: Asked | None, result: Any) -> None:
    if asked is not None:
        asked.answered(said_by(result))
        asked.refused = refuses(result)


@never_raising
def _observe(watching: Watching, prompt: Any, template: Any = None) -> Asked | None:
    """Take in a prompt that a model is given or, where there is one, that a template made."""
    trail = trail_here(watching) if watching.on else None
    if trail is None or watching.in_stage:
        return None
    trail.remembered(_artifacts(prompt))
    if template is not None:
        trail.beside(literals_in(template))
    before = Before(said_before(prompt), asked_before(prompt))
    asked = trail.prompted(watching, texts_of(prompt), before, by_model=template is None)
    if asked is None:
        trail.beside(asked_in(prompt))
    return asked


def _artifacts(prompt: Any) -> Iterable[Document]:
    """Give the documents that tools left in messages beside their text, in earlier turns of the conversation too."""
    for message in messages_in(prompt):
        yield from stored_documents(getattr(message, "artifact", None))
