"""Functions in chains that take or give documents, or make text of them."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from langchain_core.runnables import Runnable, base

import rop_otel as rop
from rop_otel.instrumenting import Function, Kind, Patches, kinds, retrieved_outside
from rop_otel_langchain.carrying import is_under_way, resumed
from rop_otel_langchain.documents import (
    Documents,
    are_documents,
    documents_in,
    fields_of,
    same_documents,
    stored_documents,
)
from rop_otel_langchain.kinds import FUNCTION, RETRIEVER
from rop_otel_langchain.nodes import of_node
from rop_otel_langchain.texts import is_prompt, texts_of
from rop_otel_langchain.trail import trail_here
from rop_otel_langchain.watching import Below, Watching, ended, never_raising


def watch_functions(patches: Patches, watching: Watching) -> None:
    """Make a stage of what functions do to documents."""

    def wrap(original: Function) -> Function:
        @functools.wraps(original)
        def call(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
            if not _is_watched(watching, func):
                return original(func, input, *args, **kwargs)
            remember(watching, input)
            with watching.inside() as below:
                output = original(func, input, *args, **kwargs)
            observe(watching, func, input, output, below)
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

    patches.replace(base, "call_func_with_variable_args", wrap)
    patches.replace(base, "acall_func_with_variable_args", awrap)


async def _awaited(watching: Watching, func: Any, given: Any, coroutine: Any) -> Any:
    remember(watching, given)
    with watching.inside() as below:
        output = await coroutine
    observe(watching, func, given, output, below)
    return output


@never_raising
def _is_watched(watching: Watching, func: Any) -> bool:
    """Return whether a function is of the application: LangChain calls its own methods in the same way."""
    if not watching.on or not (is_under_way() or rop.current_handoff().id):
        return False
    if isinstance(getattr(func, "__self__", None), Runnable):
        return False
    return not str(getattr(func, "__module__", "")).startswith("langchain_core.runnables.")


@never_raising
def remember(watching: Watching, given: Any) -> None:
    """Take in the documents that a function is given: it may show what nothing that is watched has found."""
    trail = None if watching.in_stage else trail_here(watching)
    if trail is not None:
        stored = map(stored_documents, (fields_of(given) or {}).values())
        trail.remembered(document for each in documents_in(given) or stored for document in each)


@never_raising
def observe(watching: Watching, func: Any, given: Any, output: Any, below: Below) -> None:
    """Record what a function did to documents. Only now is it known, so a stage of it has no duration.

    Args:
        watching: The instrumentation's settings.
        func: The function.
        given: What it was given.
        output: What it returned.
        below: What ended inside of it.
    """
    with resumed():  # what ran inside may have been the first to retrieve
        _observe(watching, func, given, output, below)


def _observe(watching: Watching, func: Any, given: Any, output: Any, below: Below) -> None:
    trail = trail_here(watching)
    if watching.in_stage:
        return
    handed, name = documents_in(given), str(getattr(func, "__name__", ""))
    if trail is None:
        if not handed and not is_prompt(output) and documents_in(output):
            retrieved_outside("LangChain", name or "a function")
        return
    if is_prompt(output):
        documents = [document for each in handed for document in each]
        if documents and watching.kinds.of_function(name, kinds.PACKING) is not None:
            trail.formatted(watching, documents, texts_of(output))
        return
    results = [[]] if _kept_none(given, output) else documents_in(output)
    if len(results) != 1 or below.returned(results[0]):
        return  # what ended inside has said what became of them
    if below.holds(results[0]):
        handed = [below.last or []]  # what it was given beside is of an earlier pass, as in the state of a graph
    if not any(same_documents(results[0], each) for each in handed):
        _give(watching, name, handed, results[0], below)
    trail.moved(handed, results[0])


def _kept_none(given: Any, output: Any) -> bool:
    """Return whether a function gives an empty list in the place of the documents that it is given."""
    if are_documents(given):
        return isinstance(output, list) and not output
    taken, left = fields_of(given), fields_of(output)
    if taken is None or left is None:
        return False
    return any(
        are_documents(value) and isinstance(left.get(key), list) and not left[key] for key, value in taken.items()
    )


def _give(watching: Watching, name: str, handed: list[Documents], results: Documents, below: Below) -> None:
    source = not handed and not below.stages
    named = name if name.isidentifier() and name not in kinds.LABELLING else FUNCTION
    kind = watching.kinds.of_function(name, RETRIEVER if source else named)
    if kind is None:
        return
    with (
        of_node(watching, None if source else [each for those in handed for each in those]),
        watching.stage(Kind(kind, source)) as stage,
    ):
        if handed:
            stage.input(*handed)
        stage.returned(results)
    ended(results)
