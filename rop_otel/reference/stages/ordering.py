"""From ranked passages to text: siblings, order, sentences."""

from __future__ import annotations

from rop_otel.reference.corpus.chunks import Chunk
from rop_otel.reference.index import Index
from rop_otel.reference.query import Query
from rop_otel.reference.stages.hits import Hit, Passage, Placed
from rop_otel.reference.tools import CountTokens
from rop_otel.reference.words import Stemmer, sentences

WHOLE_SENTENCES = 3
"""A passage of at most this many sentences is kept whole."""


def expand(index: Index, hits: list[Hit], budget: int, count: CountTokens) -> list[Placed]:
    """Add the neighbours of ranked passages in their own documents, as far as the token budget goes.

    The ranked passages themselves are never gated: only what is left of the budget is filled.
    """
    expanded = {hit.id: hit.scope for hit in hits}
    left = budget - sum(count(shown_text(index, hit.id)) for hit in hits)
    for hit in hits:
        for sibling in _siblings(index, hit):
            cost = count(shown_text(index, sibling.id))
            if sibling.id not in expanded and cost <= left:
                expanded[sibling.id] = sibling.scope
                left -= cost
    return _placed(expanded)


def expand_all(index: Index, hits: list[Hit]) -> list[Placed]:
    """Put every neighbour of a ranked passage right behind it, whatever the budget."""
    expanded: dict[str, str] = {}
    for hit in hits:
        expanded.setdefault(hit.id, hit.scope)
        for sibling in _siblings(index, hit):
            expanded.setdefault(sibling.id, sibling.scope)
    return _placed(expanded)


def _placed(scopes: dict[str, str]) -> list[Placed]:
    return [Placed(name, scope, rank) for rank, (name, scope) in enumerate(scopes.items())]


def _siblings(index: Index, hit: Hit) -> list[Chunk]:
    """Return the passages next to a hit in its document, then the opening of the object around it."""
    chunk = index.chunk(hit.id)
    item = index.corpus.by_id[chunk.item]
    place = item.chunks.index(chunk)
    near = [item.chunks[other] for other in (place - 1, place + 1) if 0 <= other < len(item.chunks)]
    parent = index.corpus.by_id.get(item.parent) if item.parent else None
    return [*near, *(parent.chunks[:1] if parent else ())]


def shown_text(index: Index, chunk_id: str) -> str:
    """Return a whole passage as the reader would see it."""
    chunk = index.chunk(chunk_id)
    return f"{chunk.title}: {chunk.text}"


def reorder(passages: list[Placed]) -> list[Placed]:
    """Put the best passages at both ends, where long contexts are read best: the best last, nearest to the question.

    >>> [passage.rank for passage in reorder([Placed(name, "", rank) for rank, name in enumerate("abcde")])]
    [1, 3, 4, 2, 0]
    """
    return [*passages[1::2], *reversed(passages[0::2])]


def select_sentences(index: Index, stemmer: Stemmer, query: Query, passages: list[Placed]) -> list[Passage]:
    """Keep of each passage the sentences that share a stem with the query; a heading's match counts for its opening.

    A passage without any match keeps its opening: it was retrieved for its meaning.
    """
    wanted = stemmer.stems(query.text)
    selected = []
    for passage in passages:
        chunk = index.chunk(passage.id)
        parts = sentences(chunk.text)
        inherited = bool(wanted & stemmer.stems(chunk.title))
        kept = [
            part
            for place, part in enumerate(parts)
            if len(parts) <= WHOLE_SENTENCES or (place == 0 and inherited) or wanted & stemmer.stems(part)
        ]
        text = f"{chunk.title}: {' '.join(kept or parts[:1])}"
        selected.append(_selected(passage, chunk, text))
    return selected


def select_literally(index: Index, query: Query, passages: list[Placed]) -> list[Passage]:
    """Keep only sentences that hold every word of the query as it is written; without one, a section label is left."""
    selected = []
    for passage in passages:
        chunk = index.chunk(passage.id)
        kept = [part for part in sentences(chunk.text) if all(term in part.lower() for term in query.terms)]
        text = " ".join(kept) or chunk.item.partition(".")[0]
        selected.append(_selected(passage, chunk, text))
    return selected


def _selected(passage: Placed, chunk: Chunk, text: str) -> Passage:
    return Passage(id=passage.id, scope=passage.scope, rank=passage.rank, title=chunk.title, text=text)
