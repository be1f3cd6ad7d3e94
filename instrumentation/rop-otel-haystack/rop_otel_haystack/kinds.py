"""Which stage a component is, told by the name of its class: integrations name theirs after what they do."""

from __future__ import annotations

import re
from re import Pattern
from typing import Final

from rop_otel.instrumenting import kinds

RETRIEVER: Final = "retriever"
"""The custom source stage of a retriever whose name does not say how it searches."""

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
_PROMPTS: Final = re.compile("^(Chat)?PromptBuilder$")
_ANSWERS: Final = re.compile("^AnswerBuilder$")
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
    if not returns or any(_AGENTS.search(name) for name in names):
        return None
    if takes:
        # What has no telling name is a custom stage. Its class is written in capitals and so never a kind of ours.
        return _first(_BETWEEN, names) or component.__name__, False
    kind = _first(_SOURCES, names) or (RETRIEVER if inputs & _QUESTIONS else None)
    return None if kind is None else (kind, True)


def is_router(component: type) -> bool:
    """Return whether a component hands documents on by one of several outputs, where a condition holds."""
    return any(_ROUTERS.search(each.__name__) for each in component.__mro__)


def _first(rules: _Names, names: list[str]) -> str | None:
    return next((kind for name in names for pattern, kind in rules if pattern.search(name)), None)
