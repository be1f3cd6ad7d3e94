"""Functions in chains that take or give documents, and the prompts that are made of documents."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Final

from langchain_core.documents import Document
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, base

import rop_otel as rop
from rop_otel_langchain.carrying import resumed
from rop_otel_langchain.documents import Documents, are_documents, documents_in, same_documents, shown_in
from rop_otel_langchain.kinds import FUNCTION, RETRIEVER
from rop_otel_langchain.labels import remember_labels
from rop_otel_langchain.patching import Function, Patches
from rop_otel_langchain.watching import Below, Watching, ended, never_raising

_RESERVED: Final = frozenset({"packing", "rescue", "reader"})
"""Kinds that say what the reader is shown, which a function's name does not."""


def watch_functions(patches: Patches, watching: Watching) -> None:
    """Make a stage of what functions and prompts do to documents."""

    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        def call(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
            if not _is_watched(watching, func):
                return original(func, input, *args, **kwargs)
            with watching.inside() as below:
                output = original(func, input, *args, **kwargs)
            _observe(watching, func, input, output, below)
            return output

        return call

    def awrap(original: Function) -> Function:
        @functools.wraps(original)
        def call(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A002
            awaited = original(func, input, *args, **kwargs)
            if not _is_watched(watching, func) or not inspect.iscoroutine(awaited):
                return awaited
            return _awaited(watching, func, input, awaited)

        return call

    patches.function(base, "call_func_with_variable_args", wrap)
    patches.function(base, "acall_func_with_variable_args", awrap)
    prompting = {"invoke": _prompting(watching), "ainvoke": _aprompting(watching)}
    patches.family(BasePromptTemplate, prompting)


async def _awaited(watching: Watching, func: Any, given: Any, coroutine: Any) -> Any:
    with watching.inside() as below:
        output = await coroutine
    _observe(watching, func, given, output, below)
    return output


@never_raising
def _is_watched(watching: Watching, func: Any) -> bool:
    """Return whether a function is of the application: LangChain calls its own methods in the same way."""
    if not watching.on or not rop.current_handoff().id:
        return False
    if isinstance(getattr(func, "__self__", None), Runnable):
        return False
    return not str(getattr(func, "__module__", "")).startswith("langchain_core.runnables.")


@never_raising
def _observe(watching: Watching, func: Any, given: Any, output: Any, below: Below) -> None:
    if watching.in_stage:
        return
    handed = documents_in(given)
    if isinstance(output, str):
        if handed:
            _pack(watching, func, handed, output)
        return
    results = documents_in(output)
    if len(results) != 1 or any(same_documents(results[0], each) for each in handed):
        return
    if not below.returned(results[0]):
        _give(watching, func, handed, results[0], below)


def _give(watching: Watching, func: Any, handed: list[Documents], results: Documents, below: Below) -> None:
    """Record that a function gave documents. Only now is it known to, so the stage has no duration."""
    name = _name(func)
    source = not handed and not below.stages
    named = name if name.isidentifier() and name not in _RESERVED else FUNCTION
    kind = watching.kinds.of_function(name, RETRIEVER if source else named)
    if kind is None:
        return
    with watching.stage(kind, source=source) as stage:
        if handed:
            stage.input(*handed)
        stage.returned(results)
    ended(results)


def _pack(watching: Watching, func: Any, handed: list[Documents], text: str) -> None:
    """Record which of the documents a function put into the text that it made of them."""
    given: list[Document] = [document for each in handed for document in each]
    found = shown_in(text, given)
    if found is None or watching.kinds.of_function(_name(func), "packing") is None:
        return
    shown = [document for document, _ in found]
    labels = [label for _, label in found if label is not None]
    labelled = len(labels) == len(shown)
    if labelled:
        remember_labels(rop.current_handoff(), shown, labels)
    with watching.stage("packing", input=given) as stage:
        stage.returned(shown, labels=labels if labelled else None)
    ended(shown)


def _name(func: Any) -> str:
    return str(getattr(func, "__name__", ""))


def _prompting(watching: Watching) -> Any:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        def invoke(self: Any, input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A002
            with resumed(args, kwargs):
                prompt = original(self, input, *args, **kwargs)
                _observe_prompt(watching, self, input, prompt)
                return prompt

        return invoke

    return wrap


def _aprompting(watching: Watching) -> Any:
    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        async def ainvoke(self: Any, input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A002
            with resumed(args, kwargs):
                prompt = await original(self, input, *args, **kwargs)
                _observe_prompt(watching, self, input, prompt)
                return prompt

        return ainvoke

    return wrap


@never_raising
def _observe_prompt(watching: Watching, template: Any, given: Any, prompt: Any) -> None:
    if not watching.on or not isinstance(given, dict) or watching.in_stage or not rop.current_handoff().id:
        return
    used = [given[key] for key in template.input_variables if are_documents(given.get(key))]
    if used and isinstance(prompt, PromptValue):
        # Documents that are formatted as they are stand there as their representations.
        _pack(watching, template, used, prompt.to_string().replace("\\n", " "))
