"""Prompts, and what models are given: the texts that show documents."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import BasePromptTemplate

from rop_otel_langchain.carrying import resumed
from rop_otel_langchain.documents import are_documents
from rop_otel_langchain.patching import Function, Patches, Wrap, given
from rop_otel_langchain.trail import trail_here
from rop_otel_langchain.watching import Watching, never_raising


def watch_prompts(patches: Patches, watching: Watching) -> None:
    """See which documents prompts and models are given."""
    patches.family(BasePromptTemplate, {"invoke": _sync(watching, made=True), "ainvoke": _async(watching, made=True)})
    models = {"invoke": _sync(watching), "ainvoke": _async(watching)}
    streams = {"stream": _sync(watching), "astream": _sync(watching)}
    # What the older chains call.
    generating = {"generate_prompt": _sync(watching), "agenerate_prompt": _async(watching)}
    patches.family(BaseLanguageModel, {**models, **streams, **generating})


def _sync(watching: Watching, *, made: bool = False) -> Wrap:
    """Wrap what is given a prompt or, where that is said, makes one."""

    def wrap(original: Function) -> Function:
        prompt = given(original)

        @functools.wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with resumed(args[1:], kwargs):
                if not made:
                    _observe(watching, prompt(args, kwargs))
                result = original(self, *args, **kwargs)
                if made:
                    _observe(watching, result)
                return result

        return call

    return wrap


def _async(watching: Watching, *, made: bool = False) -> Wrap:
    def wrap(original: Function) -> Function:
        prompt = given(original)

        @functools.wraps(original)
        async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with resumed(args[1:], kwargs):
                if not made:
                    _observe(watching, prompt(args, kwargs))
                result = await original(self, *args, **kwargs)
                if made:
                    _observe(watching, result)
                return result

        return call

    return wrap


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
