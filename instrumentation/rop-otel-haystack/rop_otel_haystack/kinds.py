"""Which stage a component is, recognised by the name of its class: integrations name theirs after what they do."""

from __future__ import annotations

import re
from re import Pattern
from typing import Final

from rop_otel.instrumenting import kinds

RETRIEVER: Final = "retriever"
"""The custom source stage of a retriever whose name does not say how it searches."""

MADE: Final = "made"
ASKED: Final = "asked"
"""What becomes of a prompt in a component: it is made there, or a model is asked with it."""

ASKS: Final = ("prompt", "messages")
"""Where models take their prompt."""

_Names = tuple[tuple[Pattern[str], str], ...]

# The first that fits counts. What searches in several ways is of no one kind.
_SOURCES: Final[_Names] = (
    (re.compile("Multi|Hybrid|Sparse"), RETRIEVER),
    (re.compile("BM25|Keyword|FullText"), kinds.LEXICAL),
    (re.compile("EmbeddingRetriever"), kinds.VECTOR),
    (re.compile("Retriever$|WebSearch$"), RETRIEVER),
)
_BETWEEN: Final[_Names] = (
    (re.compile("LostInTheMiddle|GroupingRanker"), kinds.REORDER),
    (re.compile("DiversityRanker|MMR|MaximalMarginal"), kinds.MMR),
    (re.compile("Ranker$|Reranker$"), kinds.RERANK),
    (re.compile("Joiner$"), kinds.FUSION),
    (re.compile("Sampler$"), kinds.CANDIDATES),
    (re.compile("Retriever$"), kinds.EXPANSION),  # one that is handed documents: their neighbours, or their parents
)
_ROUTERS: Final = re.compile("Router$")
_AGENTS: Final = re.compile("^Agent$")  # what they retrieve, their tools do
_MODELS: Final = re.compile("Generator$|LLM$")
_PROMPTS: Final = re.compile("^(Chat)?PromptBuilder$")
_ANSWERS: Final = re.compile("^AnswerBuilder$|ExtractiveReader$")
_QUESTIONS: Final = frozenset({"query", "queries", "query_embedding", "question", "text"})


def kind_of(component: type, *, takes: bool, returns: bool, inputs: frozenset[str]) -> tuple[str, bool] | None:
    """Return the kind of stage that a component is, and whether it is a source; None where it is no stage.

    Args:
        component: Its class; the names of those that it inherits from count too.
        takes: Whether one of its inputs takes documents.
        returns: Whether it returns a list of documents, or hands on several.
        inputs: Names of all its inputs.
    """
    names = [each.__name__ for each in component.__mro__[:-1]]
    if any(_PROMPTS.search(name) for name in names):
        return kinds.PACKING, False
    if any(_ANSWERS.search(name) for name in names):
        return kinds.READER, False
    if not returns or is_agent(component):
        return None
    if takes:
        # A name that says nothing makes a custom stage. Its class is written in capitals and so never a kind of ours.
        return _first(_BETWEEN, names) or component.__name__, False
    kind = _first(_SOURCES, names) or (RETRIEVER if inputs & _QUESTIONS else None)
    return None if kind is None else (kind, True)


def prompt_of(component: type, *, inputs: frozenset[str], outputs: frozenset[str]) -> str | None:
    """Return ``made`` where a component makes a prompt, ``asked`` where it asks a model with one; None: neither.

    Args:
        component: Its class.
        inputs: Names of its inputs.
        outputs: Names of its outputs.
    """
    if is_agent(component) or is_router(component):
        return None
    if "prompt" in outputs:
        return MADE
    replies = "replies" in outputs and ("messages" in inputs or bool(_MODELS.search(component.__name__)))
    return ASKED if "prompt" in inputs or replies else None


def is_agent(component: type) -> bool:
    """Return whether a component asks a model by itself, and has it call tools."""
    return any(_AGENTS.search(each.__name__) for each in component.__mro__)


def has_references(component: type) -> bool:
    """Return whether the answers of a reader refer to documents by their numbers; others are parts of them."""
    return not any(each.__name__.endswith("ExtractiveReader") for each in component.__mro__)


def is_router(component: type) -> bool:
    """Return whether a component hands documents on by one of several outputs, where a condition holds."""
    return any(_ROUTERS.search(each.__name__) for each in component.__mro__)


def _first(rules: _Names, names: list[str]) -> str | None:
    return next((kind for name in names for pattern, kind in rules if pattern.search(name)), None)
