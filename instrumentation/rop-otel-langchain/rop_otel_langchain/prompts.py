"""Prompts, and what models are given: the texts that show documents."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseLanguageModel
from langchain_core.prompts import BasePromptTemplate

from rop_otel.instrumenting import Begin, Function, Patches, Take
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
    streams = {"stream": patches.called(takes), "astream": patches.called(takes)}
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
        with resumed(args[1:], kwargs):
            asked = _observe(watching, prompt(args, kwargs))
            try:
                yield functools.partial(_answered, asked)
            except BaseException:
                if asked is not None:
                    asked.failed = True
                raise

    return block


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
