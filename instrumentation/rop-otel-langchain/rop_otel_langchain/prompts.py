"""Prompts, and what models are given: the texts that show documents."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import BasePromptTemplate

from rop_otel_langchain.carrying import resumed
from rop_otel_langchain.documents import are_documents
from rop_otel_langchain.patching import Block, Function, Patches, Tell, awaited, called, given, no_matter
from rop_otel_langchain.trail import trail_here
from rop_otel_langchain.watching import Watching, never_raising


def watch_prompts(patches: Patches, watching: Watching) -> None:
    """See which documents prompts and models are given."""
    makes, takes = functools.partial(_makes, watching), functools.partial(_takes, watching)
    patches.family(BasePromptTemplate, {"invoke": called(makes), "ainvoke": awaited(makes)})
    models = {"invoke": called(takes), "ainvoke": awaited(takes)}
    streams = {"stream": called(takes), "astream": called(takes)}
    # What the older chains call.
    generating = {"generate_prompt": called(takes), "agenerate_prompt": awaited(takes)}
    patches.family(BaseLanguageModel, {**models, **streams, **generating})


def _makes(watching: Watching, original: Function) -> Block:
    """Watch what makes a prompt."""

    @contextmanager
    def block(template: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Tell]:
        with resumed(args[1:], kwargs):
            yield functools.partial(_observe, watching)

    return block


def _takes(watching: Watching, original: Function) -> Block:
    """Watch what is given a prompt."""
    prompt = given(original)

    @contextmanager
    def block(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Tell]:
        with resumed(args[1:], kwargs):
            _observe(watching, prompt(args, kwargs))
            yield no_matter

    return block


@never_raising
def _observe(watching: Watching, prompt: Any) -> None:
    trail = trail_here() if watching.on else None
    if trail is not None and not watching.in_stage:
        trail.remembered(_artifacts(prompt))
        trail.prompted(watching, "\n".join(_texts(prompt)))


def _artifacts(prompt: Any) -> Iterator[Document]:
    """Give the documents that tools left in messages beside their text, in earlier turns of the conversation too."""
    messages = prompt.to_messages() if isinstance(prompt, PromptValue) else prompt
    for message in messages if isinstance(messages, list | tuple) else ():
        artifact = getattr(message, "artifact", None)
        if are_documents(artifact):
            yield from artifact


def _texts(prompt: Any) -> Iterator[str]:
    """Give the texts of whatever a model may be given."""
    if isinstance(prompt, str):
        yield prompt
    elif isinstance(prompt, PromptValue):
        yield from _texts(prompt.to_messages())
    elif isinstance(prompt, BaseMessage):
        yield from _texts(prompt.content)
    elif isinstance(prompt, dict):
        yield from _texts(prompt.get("content") or prompt.get("text"))
    elif isinstance(prompt, list | tuple):
        for each in prompt:
            yield from _texts(each)
