"""Retrievers, vector stores, compressors and transformers as stages."""

from __future__ import annotations

import functools
from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer
from langchain_core.retrievers import BaseRetriever
from langchain_core.stores import BaseStore
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

import rop_otel as rop
from rop_otel.instrumenting import Begin, Function, Patches, Take, no_matter, retrieved_outside
from rop_otel_langchain.carrying import resumed
from rop_otel_langchain.documents import are_documents, is_a
from rop_otel_langchain.feeding import Fed, plan
from rop_otel_langchain.nodes import of_node
from rop_otel_langchain.rounds import of_retriever
from rop_otel_langchain.trail import trail_here
from rop_otel_langchain.watching import Watching, ended, never_raising

_SEARCHES: Final = (
    "similarity_search",
    "max_marginal_relevance_search",
    "similarity_search_with_relevance_scores",
    "similarity_search_with_score",
)


def watch_components(patches: Patches, watching: Watching) -> None:
    """Make a stage of each call of a component."""
    finds, takes = functools.partial(_stages, watching, False), functools.partial(_stages, watching, True)
    patches.family(BaseRetriever, patches.pair(finds, "invoke", "ainvoke"))
    patches.family(BaseDocumentCompressor, patches.pair(takes, "compress_documents", "acompress_documents"))
    patches.family(BaseDocumentTransformer, patches.pair(takes, "transform_documents", "atransform_documents"))
    searches = [patches.pair(finds, name, f"a{name}") for name in _SEARCHES]
    patches.family(VectorStore, dict(ChainMap(*searches)))


def _stages(watching: Watching, takes: bool, original: Function) -> Begin:
    return functools.partial(_as_stage, watching, takes, original)


@contextmanager
def _as_stage(
    watching: Watching,
    takes: bool,
    original: Function,
    component: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Iterator[Take]:
    """Run a call as the stage that it is, if it is one; gives what takes the call's results."""
    retrieves = bool(_retrieves(watching, component))
    with (
        resumed(args[1:], kwargs, retrieves=retrieves),
        of_retriever(watching, component),
        of_node(watching, None if retrieves else _handed(args, kwargs)),
    ):
        _note_question(watching, args[:1] if retrieves else args[1:2])
        begun = _begun(watching, component, args, kwargs, takes=takes)
        if begun is None:
            yield no_matter
            return
        documents: Any = None

        def take(results: Any) -> None:
            nonlocal documents
            documents = _documents(results, original)
            begun.stage.returned(documents)

        with watching.inside(*begun.covers, planned=begun.planned), begun.stage:
            if begun.fallback:
                begun.stage.implementation(type(component).__name__, fallback=True)
            yield take
        _end(watching, begun.handed, documents)


def _handed(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return args[0] if args else kwargs.get("documents")


@never_raising
def _note_question(watching: Watching, given: tuple[Any, ...]) -> None:
    """Remember what is asked: a prompt may hold it beside documents."""
    trail = trail_here(watching) if watching.on and not watching.in_stage else None
    if trail is not None:
        trail.beside(each for each in given if is_a(each, str))


@never_raising
def _retrieves(watching: Watching, component: Any) -> bool:
    """Return whether a component finds documents, and no setting says that it is no stage."""
    return (
        watching.on and isinstance(component, BaseRetriever | VectorStore) and watching.kinds.of(component) is not None
    )


def _documents(results: Any, search: Function) -> Any:
    """Return the documents of a search, without scores of which it is not known whether the highest is the best."""
    if search.__name__.endswith("_with_score") and isinstance(results, list):
        return [each[0] if isinstance(each, tuple) and each else each for each in results]
    return results


class _Begun(NamedTuple):
    stage: rop.Stage
    handed: object
    covers: tuple[object, ...]
    planned: dict[int, Fed] | None
    fallback: bool


@never_raising
def _begun(
    watching: Watching, component: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, takes: bool
) -> _Begun | None:
    """Return the stage of a call; None where it is none, or belongs to one that is under way."""
    kind = watching.kinds.of(component) if watching.on else None
    if kind is None or watching.covered(component):
        return None
    if isinstance(component, BaseDocumentTransformer) and not rop.current_handoff().id:
        return None  # documents are transformed before they are indexed, too
    if not takes:
        retrieved_outside("LangChain", type(component).__name__, as_stage=True)
    handed = _handed(args, kwargs) if takes else None
    fed = watching.fed(component)
    planned = plan(component, watching.kinds) if fed is None else None
    fed = fed or (planned or {}).get(id(component)) or Fed(None)
    parent_id = _parent_id(watching, component)
    where = {} if parent_id is None else {"id": parent_id}
    stage = watching.stage(kind, component, input=handed, name=fed.name, fed_by=fed.fed_by, **where)
    return _Begun(stage, handed, _covers(component), planned, watching.falls_back(component))


@never_raising
def _end(watching: Watching, handed: object, documents: object) -> None:
    """Report what runs around a stage what it returned."""
    ended(documents)
    trail = None if watching.in_stage else trail_here(watching)
    if trail is not None:
        trail.moved([handed] if are_documents(handed) else [], documents)


def _covers(component: Any) -> tuple[object, ...]:
    """Return the components that a stage stands for: this one, and what only does its work."""
    plain = all(
        getattr(type(component), name, None) is getattr(VectorStoreRetriever, name)
        for name in ("_get_relevant_documents", "_aget_relevant_documents")
    )
    return (component, component.vectorstore) if plain else (component,)


def _parent_id(watching: Watching, component: Any) -> Any:
    """Return where small documents name the larger ones, where a search for them is a part of finding those."""
    around = watching.component
    if not isinstance(component, VectorStore) or not isinstance(getattr(around, "docstore", None), BaseStore):
        return None
    key = getattr(around, "id_key", None)
    return watching.id_by(key) if isinstance(key, str) and around.vectorstore is component else None
