"""The hybrid pipeline: its stages in order, each observed with the public API and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import rop_otel as rop
from rop_otel.core.handoff import kinds
from rop_otel.reference.corpus import Question
from rop_otel.reference.parts import Parts
from rop_otel.reference.query import Query, analyse
from rop_otel.reference.selector import Selector
from rop_otel.reference.stages import Answer, Hit, Packed, Passage, Placed
from rop_otel.reference.stages.extractive_reader import read
from rop_otel.reference.stages.ordering import reorder
from rop_otel.reference.stages.packing import find_needles, label
from rop_otel.reference.stages.reranking import WordOverlap, diversify, rerank
from rop_otel.reference.stages.retrieval import boost_names, fuse, search_vectors, search_words
from rop_otel.reference.tools import Tools

HANDOFF: Final = "docs-qa"

EXPECTED: Final = tuple(kind for kind in kinds.KINDS if kind != kinds.READER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one question.

    Args:
        question: The question.
        selected: The object that had to reach the reader; None: nothing was selected.
        answer: The reader's answer.
        assessment: The monitor's assessment.
    """

    question: Question
    selected: str | None
    answer: Answer
    assessment: rop.Assessment


class Pipeline:
    """Answers questions from an indexed corpus.

    Args:
        tools: Index, models, settings.
        selector: Picks the object that a question is about; None: the questions say what was selected.
        parts: The exchangeable parts.
    """

    def __init__(self, tools: Tools, *, selector: Selector | None = None, parts: Parts | None = None) -> None:
        self._tools = tools
        self._selector = selector
        self._parts = parts or Parts()
        self._reranker = self._parts.load_reranker(tools)
        self._fallback = WordOverlap(tools.index, tools.stemmer)
        self._scope = tools.index.corpus.scope

    def answer(self, question: Question) -> Outcome:
        """Answer one question in a handoff of its own."""
        expected = list(EXPECTED)
        with rop.handoff(
            HANDOFF, judged=question.judged, record_id=question.id, scope=self._scope, expected=expected
        ) as handoff:
            selected = self._select(question)
            if selected is not None or question.recorded or self._selector is not None:
                handoff.select(selected)
            query = self._query(question, selected)
            ranked = self._rank(query)
            expanded = self.expand(ranked)
            passages = self.select_sentences(query, self.reorder(expanded))
            shown, prompt = self._show(query, passages)
            answer = read(self._tools.index.lexical, self._tools.stemmer, query, prompt)
            sources = self._parts.sources(shown, expanded)
            labels = [passage.label for passage in shown][: len(sources)]
            handoff.answered(answer.text, sources=sources, labels=labels, abstained=answer.abstained)
        return Outcome(question=question, selected=selected, answer=answer, assessment=handoff.assessment)

    def _select(self, question: Question) -> str | None:
        if self._selector is not None and not question.recorded:
            return self._selector.link(question.text)
        return question.selected

    def _query(self, question: Question, selected: str | None) -> Query:
        if self._tools.settings.query == "title" and selected is not None:
            corpus = self._tools.index.corpus
            item = corpus.by_id.get(corpus.resolver.canonical(selected))
            if item is not None:
                return analyse(item.title, form="title")
        return analyse(question.text)

    def _rank(self, query: Query) -> list[Hit]:
        near, matching = self.search_vectors(query), self.search_words(query)
        candidates = self.cut(self.boost(query, self.fuse(near, matching)))
        return self.diversify(self._parts.hand_over(self.rerank(query, candidates)))

    def _show(self, query: Query, passages: list[Passage]) -> tuple[list[Packed], str]:
        packed, context = self.pack(passages)
        rescued, addition = self.rescue(query, packed)
        return [*packed, *rescued], "\n\n".join(filter(None, (query.text, context, addition)))

    def search_vectors(self, query: Query) -> list[Hit]:
        """Find passages by meaning."""
        index, encoder, depth = self._tools.index, self._tools.encoder, self._tools.settings.depth
        with rop.using_stage(kinds.VECTOR, scope="scope", data_source="passages") as stage:
            stage.query_form(query.form)
            stage.implementation(f"{index.vectors.implementation}, {encoder.implementation}")
            found = search_vectors(index, encoder, query, depth + self._margin)
            hits = self._parts.keep_scope(found, self._scope)[:depth]
            stage.returned(hits)
        return hits

    def search_words(self, query: Query) -> list[Hit]:
        """Find passages by their words."""
        index, depth = self._tools.index, self._tools.settings.depth
        with rop.using_stage(kinds.LEXICAL, scope="scope", data_source="passages") as stage:
            stage.query_form(query.form)
            stage.implementation(index.lexical.implementation)
            found = search_words(index, query, depth + self._margin)
            hits = self._parts.keep_scope(found, self._scope)[:depth]
            stage.returned(hits)
        return hits

    def fuse(self, near: list[Hit], matching: list[Hit]) -> list[Hit]:
        """Fuse both lists."""
        with rop.using_stage(kinds.FUSION, scope="scope") as stage:
            stage.input(near, matching)
            hits = fuse([near, matching])
            stage.returned(hits)
        return hits

    @rop.stage(kinds.BOOST, input_arg="hits", scope="scope")
    def boost(self, query: Query, hits: list[Hit]) -> list[Hit]:
        """Raise the passages of objects that the query names."""
        return boost_names(self._tools.index, query, hits)

    @rop.stage(kinds.CANDIDATES, input_arg="hits", scope="scope")
    def cut(self, hits: list[Hit]) -> list[Hit]:
        """Cut to what the reranker can read."""
        return hits[: self._tools.settings.candidates]

    def rerank(self, query: Query, hits: list[Hit]) -> list[Hit]:
        """Score the candidates anew."""
        with rop.using_stage(kinds.RERANK, input=hits, scope="scope") as stage:
            reranker = self._reranker or self._fallback
            stage.implementation(reranker.implementation, fallback=self._reranker is None)
            reranked = rerank(self._tools.index, reranker, query, hits, self._tools.settings.reranked)
            stage.returned(reranked)
        return reranked

    @rop.stage(kinds.MMR, input_arg="hits", scope="scope")
    def diversify(self, hits: list[Hit]) -> list[Hit]:
        """Choose relevant passages that differ."""
        settings = self._tools.settings
        return diversify(self._tools.index, hits, settings.diverse, settings.mmr_weight)

    @rop.stage(kinds.EXPANSION, input_arg="hits", scope="scope")
    def expand(self, hits: list[Hit]) -> list[Placed]:
        """Add the passages around them."""
        return self._parts.expand(self._tools, hits)

    @rop.stage(kinds.REORDER, input_arg="passages", scope="scope")
    def reorder(self, passages: list[Placed]) -> list[Placed]:
        """Put the best at both ends."""
        return reorder(passages)

    @rop.stage(kinds.SENTENCE_SELECTION, input_arg="passages", scope="scope")
    def select_sentences(self, query: Query, passages: list[Placed]) -> list[Passage]:
        """Choose what is shown of each passage."""
        return self._parts.select(self._tools, query, passages)

    def pack(self, passages: list[Passage]) -> tuple[list[Packed], str]:
        """Fill the context, and write it under labels."""
        with rop.using_stage(kinds.PACKING, input=passages, scope="scope") as stage:
            packed = self._parts.pack(self._tools, passages)
            context = self._parts.write_context(packed)
            tokens = sum(passage.tokens for passage in packed)
            budget = self._tools.settings.token_budget
            stage.shown_in(context, packed, text="text", tokens=tokens, token_budget=budget)
        return packed, context

    def rescue(self, query: Query, packed: list[Packed]) -> tuple[list[Packed], str]:
        """Add passages for rare words that the context lacks."""
        with rop.using_stage(kinds.RESCUE, input=packed, scope="scope") as stage:
            needles = find_needles(self._tools, query, packed, scope=self._scope)
            start = self._parts.first_rescue_label(packed) if needles else 1
            rescued = label(needles, start=start, count=self._tools.count)
            addition = self._parts.write_context(rescued)
            stage.shown_in(addition, rescued, text="text")
        return rescued, addition

    @property
    def _margin(self) -> int:
        """How many passages of other libraries could stand before those asked for."""
        return sum(len(item.chunks) for item in self._tools.index.corpus.neighbours)
