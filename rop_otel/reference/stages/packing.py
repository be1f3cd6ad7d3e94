"""The reader's context: passages under labels, within a token budget; and the needles that it still lacks."""

from __future__ import annotations

from rop_otel.reference.query import Query
from rop_otel.reference.stages.hits import Packed, Passage
from rop_otel.reference.stages.ordering import shown_text
from rop_otel.reference.tools import CountTokens, Tools

RARE = 12
"""A word in at most this many passages is a needle: worth a passage of its own where nothing shown has it."""

MAX_RESCUED = 2


def pack(passages: list[Passage], budget: int, count: CountTokens) -> list[Packed]:
    """Fill the budget by rank, then label what fits in reading order.

    Filling stops at the first passage that does not fit, so that nothing of lower rank takes its place. The best
    passage is always in, cut to the budget where it has to be.
    """
    fitting: set[str] = set()
    left = budget
    for passage in sorted(passages, key=lambda passage: passage.rank):
        cost = count(passage.text)
        if cost > left and fitting:
            break
        fitting.add(passage.id)
        left -= cost
    kept = [passage for passage in passages if passage.id in fitting]
    return label([_clipped(passage, budget, count) for passage in kept], start=1, count=count)


def pack_prefix(passages: list[Passage], most: int, count: CountTokens) -> list[Packed]:
    """Take the first passages of the list as it is ordered."""
    return label(passages[:most], start=1, count=count)


def label(passages: list[Passage], *, start: int, count: CountTokens) -> list[Packed]:
    """Give each passage the next label: ``S1``, ``S2`` and so on."""
    return [
        Packed(
            id=passage.id,
            scope=passage.scope,
            label=f"S{number}",
            title=passage.title,
            text=passage.text,
            tokens=count(passage.text),
        )
        for number, passage in enumerate(passages, start)
    ]


def write_context(packed: list[Packed]) -> str:
    """Return the part of the prompt that holds the passages, each behind its label."""
    return "\n\n".join(f"[{passage.label}] {passage.text}" for passage in packed)


def find_needles(tools: Tools, query: Query, packed: list[Packed], *, scope: str) -> list[Passage]:
    """Find passages for rare words of the query that nothing packed holds, within the rescue budget.

    Args:
        tools: Where to look.
        query: What is looked for.
        packed: What the reader would see.
        scope: The library that may be used.
    """
    stems, index, left = tools.stemmer.stems, tools.index, tools.settings.rescue_budget
    shown = frozenset[str]().union(*(stems(f"{passage.title} {passage.text}") for passage in packed))
    taken = {passage.id for passage in packed}
    needles: list[Passage] = []
    for term in query.terms:
        if stems(term) <= shown or not 0 < index.lexical.frequency(term) <= RARE:
            continue
        for place, _ in index.lexical.search([term], RARE):
            chunk = index.corpus.chunks[place]
            text = shown_text(index, chunk.id)
            if chunk.scope == scope and chunk.id not in taken and tools.count(text) <= left:
                rank = len(packed) + len(needles)
                needles.append(Passage(id=chunk.id, scope=chunk.scope, rank=rank, title=chunk.title, text=text))
                taken.add(chunk.id)
                left -= tools.count(text)
                break
        if len(needles) == MAX_RESCUED:
            break
    return needles


def _clipped(passage: Passage, budget: int, count: CountTokens) -> Passage:
    text = passage.text
    while count(text) > budget and " " in text:
        text = text[: len(text) * budget // count(text)].rpartition(" ")[0] or text.partition(" ")[0]
    return Passage(id=passage.id, scope=passage.scope, rank=passage.rank, title=passage.title, text=text)
