from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.reference.models import default_encoder, model_in
from rop_otel.reference.query import analyse
from rop_otel.reference.selector import Selector
from rop_otel.reference.session import Session
from rop_otel.reference.stages import Hit, Passage, Placed
from rop_otel.reference.stages.extractive_reader import read
from rop_otel.reference.stages.ordering import expand, expand_all, reorder, select_sentences, shown_text
from rop_otel.reference.stages.packing import find_needles, pack, write_context
from rop_otel.reference.stages.reranking import CrossEncoder, LateInteraction, WordOverlap, diversify, rerank
from rop_otel.reference.stages.retrieval import boost_names, fuse, keep_scope
from rop_otel.reference.tools import Tools


def hit(name: str, score: float = 1.0) -> Hit:
    return Hit(name, score, "python")


def passage(name: str, rank: int, text: str) -> Passage:
    return Passage(id=name, scope="python", rank=rank, title=name, text=text)


def words(text: str) -> int:
    return len(text.split())


def test_fusion_adds_reciprocal_ranks_and_breaks_ties_by_id() -> None:
    """Each list gives 1 / (60 + rank)."""
    fused = fuse([[hit("c"), hit("a")], [hit("b"), hit("a")]])
    assert [(found.id, round(found.score, 9)) for found in fused] == [
        ("a", round(2 / 62, 9)),
        ("b", round(1 / 61, 9)),
        ("c", round(1 / 61, 9)),
    ]


def test_scope_filter_keeps_one_library() -> None:
    """Only passages of the library that is asked about pass."""
    assert keep_scope([hit("a"), Hit("b", 1.0, "pydantic")], "python") == [hit("a")]


def test_a_spelled_out_name_is_boosted(tools: Tools) -> None:
    """Passages of the object that the question names rise."""
    hits = [hit("json.loads#0", 1.0), hit("json.dumps#0", 0.9)]
    assert boost_names(tools.index, analyse("what does json.dumps do"), hits)[0].id == "json.dumps#0"
    assert boost_names(tools.index, analyse("what does it do"), hits) == hits


def test_reranking_orders_by_the_model_and_cuts(tools: Tools) -> None:
    """Late interaction and the word heuristic both put the matching passage first."""
    hits = [hit("heapq.merge#0"), hit("json.dumps#0"), hit("csv.Sniffer.sniff#0")]
    query = analyse("serialize an object to a JSON formatted string")
    for reranker in (LateInteraction(tools.index, tools.encoder), WordOverlap(tools.index, tools.stemmer)):
        ranked = rerank(tools.index, reranker, query, hits, 2)
        assert [ranked[0].id, len(ranked)] == ["json.dumps#0", 2]
    assert rerank(tools.index, LateInteraction(tools.index, tools.encoder), query, [], 2) == []


def test_any_cross_encoder_can_rerank(tools: Tools, tmp_path: Path) -> None:
    """A model named by its folder reads query and passage together, gives each pair a score, and stands in the name."""
    files = default_encoder()
    (tmp_path / "model.onnx").symlink_to(files.model)
    (tmp_path / "tokenizer.json").symlink_to(files.tokenizer)
    reranker = CrossEncoder(tools.index, Session(model_in(tmp_path, name="mine")))
    hits = [hit("heapq.merge#0"), hit("json.dumps#0")]
    ranked = rerank(tools.index, reranker, analyse("merge"), hits, 2)
    assert reranker.implementation.startswith("cross-encoder, mine (")
    assert {found.id for found in ranked} == {"heapq.merge#0", "json.dumps#0"}
    assert ranked[0].score > ranked[1].score
    assert ranked == rerank(tools.index, reranker, analyse("merge"), hits[::-1], 2)


def test_mmr_keeps_the_best_and_avoids_likeness(tools: Tools) -> None:
    """With weight 1 the ranking stays; with less, a near copy of the first gives way."""
    hits = [hit("textwrap.wrap#0", 0.9), hit("textwrap.fill#0", 0.89), hit("heapq.merge#0", 0.88)]
    assert diversify(tools.index, hits, 3, 1.0) == hits
    assert [found.id for found in diversify(tools.index, hits, 2, 0.1)] == ["textwrap.wrap#0", "heapq.merge#0"]
    assert diversify(tools.index, [], 3, 0.5) == []


def test_siblings_fill_only_what_is_left_of_the_budget(tools: Tools) -> None:
    """Ranked passages are never dropped for their siblings, which come last and only while they fit."""
    hits = [hit("shutil.copytree#1"), hit("csv.Sniffer.sniff#0")]
    ranked = [found.id for found in hits]
    cost = sum(tools.count(shown_text(tools.index, name)) for name in ranked)
    assert [placed.id for placed in expand(tools.index, hits, cost, tools.count)] == ranked
    widened = [placed.id for placed in expand(tools.index, hits, cost + 1000, tools.count)]
    assert widened[:2] == ranked
    assert {"shutil.copytree#0", "shutil.copytree#2", "csv.Sniffer#0"} <= set(widened[2:])
    unbounded = [placed.id for placed in expand_all(tools.index, hits)]
    assert unbounded.index("shutil.copytree#0") < unbounded.index("csv.Sniffer.sniff#0")


@given(st.integers(0, 30))
def test_reorder_keeps_everything_and_puts_the_best_at_the_ends(count: int) -> None:
    """The best stands last, the second best first, the worst in the middle."""
    placed = [Placed(str(rank), "python", rank) for rank in range(count)]
    ordered = [found.rank for found in reorder(placed)]
    assert sorted(ordered) == list(range(count))
    assert ordered[-1:] == [0][:count]
    assert ordered[:1] == ([1] if count > 1 else [0][:count])


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("similarities of unixes", ['This is similar to the Unix "mv" command.']),
        ("copy_function", ["Recursively move a file or directory to another location."]),
        ("zebra", ["Recursively move a file or directory to another location."]),
    ],
)
def test_sentences_are_kept_for_their_stems_and_their_heading(tools: Tools, question: str, kept: list[str]) -> None:
    """Another form of a word keeps its sentence; a heading's word keeps the opening; no passage is left empty."""
    place = [Placed("shutil.move#0", "python", 0)]
    (selected,) = select_sentences(tools.index, tools.stemmer, analyse(question), place)
    assert selected.text == f"{tools.index.chunk(selected.id).title}: {' '.join(kept)}"


def test_packing_fills_by_rank_and_labels_in_reading_order() -> None:
    """What does not fit ends the filling, so that nothing of lower rank displaces it."""
    passages = [
        passage("second", 1, "b b"),
        passage("third", 2, "c c c"),
        passage("fourth", 3, "d"),
        passage("best", 0, "a"),
    ]
    packed = pack(passages, 5, words)
    assert [(found.id, found.label, found.tokens) for found in packed] == [("second", "S1", 2), ("best", "S2", 1)]


def test_the_best_passage_is_always_in() -> None:
    """Where it alone is too long, it is cut to the budget."""
    packed = pack([passage("second", 1, "b"), passage("best", 0, "a " * 50)], 10, words)
    assert [found.id for found in packed] == ["best"]
    assert 0 < packed[0].tokens <= 10


def test_needles_are_passages_for_rare_words_that_nothing_shown_has(tools: Tools) -> None:
    """A rare word of the question that the context lacks brings its passage, once, within the rescue budget."""
    query = analyse("sniff the delimiter")
    packed = pack([passage("json.dumps#0", 0, "text")], 100, words)
    found = find_needles(tools, query, packed, scope="python")
    assert found
    assert all(needle.id.startswith("csv.") for needle in found)
    assert not find_needles(tools, analyse("the object"), packed, scope="python")
    assert not find_needles(tools, query, packed, scope="elsewhere")
    poor = replace(tools, settings=replace(tools.settings, rescue_budget=3))
    assert not find_needles(poor, query, packed, scope="python")


def test_the_reader_quotes_and_cites_by_label(tools: Tools) -> None:
    """An answer is made of shown sentences, each with the label that it stands under."""
    shown = pack(
        [passage("b", 1, "Queues are first in, first out."), passage("a", 0, "Heaps merge inputs.")], 99, words
    )
    answer = read(tools.index, tools.stemmer, analyse("how are inputs merged in heaps"), write_context(shown))
    assert answer.text == "Heaps merge inputs. [S2]"
    assert not answer.abstained


@pytest.mark.parametrize("text", ["Nothing of that kind.", ""])
def test_the_reader_abstains_on_thin_evidence(tools: Tools, text: str) -> None:
    """Without evidence for most of the question there is no answer and no citation."""
    shown = pack([passage("a", 0, text)], 99, words)
    answer = read(tools.index, tools.stemmer, analyse("how are inputs merged in heaps"), write_context(shown))
    assert answer.abstained
    assert "[S" not in answer.text


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("What does csv.Sniffer.sniff return?", "csv.Sniffer.sniff"),
        ("What is queue.LifoQueue.put good for?", "queue.Queue.put"),
        ("Why would nlargest() be slow?", "heapq.nlargest"),
        ("Which context manager suppresses exceptions?", "contextlib.suppress"),
        ("Ancient Roman pottery in Gaul", None),
    ],
)
def test_the_selector_links_by_name_else_by_words(tools: Tools, question: str, key: str | None) -> None:
    """A name decides, then words and meaning; a question about something else selects nothing."""
    selector = Selector(tools.index, tools.encoder, tools.stemmer)
    assert selector.link(question) == key
