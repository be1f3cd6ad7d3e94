"""Handoff rules over small corpora, against what anyone can compute by other means."""

from __future__ import annotations

import itertools
import re
import sqlite3
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rop_otel.core.ranking import Lost, Page, Query, Ranked, StudyRow
from rop_otel.errors import ConfigurationError
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.named_callable import NamedCallable
from rop_otel.reference.rules import RULES, Rules
from rop_otel.reference.rules import maxsim_rule as maxsim
from rop_otel.reference.rules import page_pool as pool

TEXTS = {
    "/otter": ("Otter", "Otters keep a favourite stone in a pouch and swim in rivers."),
    "/beaver": ("Beaver", "Beavers fell trees and build dams in rivers."),
    "/lynx": ("Lynx (animal)", "A cat with tufted ears that hunts hares in snow."),
    "/heron": ("Heron", "Herons hunt fish by standing still in rivers."),
    "/stork": ("Stork", "Storks nest on roofs and chimneys."),
    "/Stork": ("Stork (bird)", "Storks nest on roofs and chimneys."),
    "/empty": ("Empty page", ""),
}
PAGES = tuple(Page(id=key, title=title, text=text) for key, (title, text) in TEXTS.items())


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def rules(cache: Any) -> Rules:
    return Rules(PAGES)


def ask(text: str, selected: str | None = None) -> Query:
    title = TEXTS[selected][0] if selected in TEXTS else None
    return Query(text, StudyRow(id=text, selector="s", question=text, selected_id=selected, selected_title=title))


def ids(found: Ranked | Lost) -> list[str]:
    assert not isinstance(found, Lost), found.reason
    return [page for page, _ in found]


def recomputed(columns: Sequence[str], text: str, depth: int) -> list[tuple[str, float]]:
    """Return what a few lines of SQL give, over a table with the texts in it and in another order."""
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, {', '.join(columns)}, tokenize='unicode61')")
    for page in sorted(PAGES, key=lambda page: page.text):
        values = [page.id, *(getattr(page, column) for column in columns)]
        database.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(values))})", values)
    query = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text.lower())))
    rows = database.execute("SELECT id, -bm25(t) FROM t WHERE t MATCH ?", (query,)).fetchall()
    database.close()
    return sorted(rows, key=lambda hit: (-hit[1], hit[0]))[:depth]


@pytest.mark.parametrize(
    "text", ["rivers", "in in IN rivers 'quoted' AND (NOT) \"x\" *", "roofs_and chimneys", "Stork"]
)
@pytest.mark.parametrize(
    ("rule", "columns"),
    [("bm25_title", ["title"]), ("bm25_title_body", ["title", "text"]), ("bm25_body", ["text"])],
)
def test_bm25_is_what_sqlite_gives(rules: Rules, rule: str, columns: list[str], text: str) -> None:
    """Each projection has the scores of a table of its own, and its ties stand by ID in code point order."""
    (found,) = rules.find(rule).rank([ask(text)], 5)
    assert not isinstance(found, Lost)
    assert [page for page, _ in found] == [page for page, _ in recomputed(columns, text, 5)]
    assert [score for _, score in found] == pytest.approx([score for _, score in recomputed(columns, text, 5)])


def test_tie_at_the_cut_goes_to_the_first_id(rules: Rules) -> None:
    """Where more pages tie than the list has room for, the first IDs by code point are in it."""
    (found,) = rules.find("bm25_body").rank([ask("chimneys")], 1)
    assert ids(found) == ["/Stork"]


@pytest.mark.parametrize("rule", ["bm25_title", "bm25_title_body", "bm25_body"])
def test_bm25_without_a_word_is_lost(rules: Rules, rule: str) -> None:
    """A query in which BM25 finds no word is a row of its own in the accounting, not an empty list."""
    assert rules.find(rule).rank([ask("?! ...")], 5) == [Lost("empty_query")]


def test_long_query_runs(rules: Rules) -> None:
    """Thousands of words are a query as any other."""
    (found,) = rules.find("bm25_body").rank([ask(" ".join(f"w{n}" for n in range(5000)) + " dams")], 5)
    assert ids(found) == ["/beaver"]


def test_key_returns_the_selected_page_whatever_is_asked(rules: Rules) -> None:
    """The key rule knows rows, not texts: two rows of one text get two lists."""
    asked = [ask("rivers", "/lynx"), ask("rivers", "/stork"), ask("rivers"), ask("rivers", "/gone")]
    found = rules.find("key").rank(asked, 20)
    assert found == [[("/lynx", 1.0)], [("/stork", 1.0)], Lost("no_selection"), Lost("unresolved_selection")]


def test_title_is_found_to_the_letter(rules: Rules) -> None:
    """Another case is another title."""
    found = rules.find("title").rank([ask("Stork"), ask("stork"), ask("Lynx (animal)")], 20)
    assert found == [[("/stork", 1.0)], [], [("/lynx", 1.0)]]


def test_title_of_several_pages_returns_all_of_them() -> None:
    """A title that is not one-to-one cannot identify a page: all of them come, by ID."""
    pages = [Page(id=key, title="Twin", text="") for key in ("b", "a", "c")]
    assert [ids(one) for one in Rules(pages).find("title").rank([ask("Twin")], 2)] == [["a", "b"]]


def test_dense_is_the_inner_product_in_order(rules: Rules, encoder: Encoder) -> None:
    """Every page stands by the likeness of its vector, computed here without an index."""
    (found,) = rules.find("dense").rank([ask("a bird on a chimney")], 20)
    texts = [f"{page.title}. {page.text}" for page in PAGES]
    vectors = {one.place: one.vector for one in encoder.encode_passages(encoder.tokenize_passages(texts))}
    query = encoder.encode_query("a bird on a chimney").vector
    likeness = {page.id: round(float(vectors[place] @ query), 6) for place, page in enumerate(PAGES)}
    assert ids(found) == sorted(likeness, key=lambda key: (-likeness[key], key))


def test_dense_ties_beyond_the_cut_go_by_id() -> None:
    """Of many pages of one text, the list holds the first IDs, however many there are."""
    pages = [Page(id=f"p{number:03}", title="Same", text="the same text") for number in range(200)]
    (found,) = Rules(pages[::-1]).find("dense").rank([ask("anything")], 3)
    assert ids(found) == ["p000", "p001", "p002"]


def naive_maxsim(encoder: Encoder, text: str) -> dict[str, float]:
    query = encoder.encode_query(text).tokens
    texts = [f"{page.title}. {page.text}" for page in PAGES]
    encoded = encoder.encode_passages(encoder.tokenize_passages(texts))
    return {PAGES[one.place].id: float(np.mean((query @ one.tokens.T).max(axis=1))) for one in encoded}


@pytest.mark.parametrize("block", [1, 2, 128])
def test_maxsim_is_each_tokens_best_match(
    rules: Rules, encoder: Encoder, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """The score is the mean over query tokens of their best match, whatever the blocks and the other queries."""
    monkeypatch.setattr(maxsim, "_BLOCK", block)
    rule = maxsim.MaxSimRule(rules._pool, [])
    for text, found in zip(texts := ["who builds dams", "cat"], rule.rank([ask(t) for t in texts], 20), strict=True):
        assert not isinstance(found, Lost)
        assert dict(found) == pytest.approx(naive_maxsim(encoder, text), abs=0.01)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_maxsim_over_a_large_pool_scores_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above its limit only the first pages of BM25 and dense are scored, with the same scores, and a note says so."""
    whole = Rules(PAGES).find("maxsim").rank([ask("rivers")], 20)[0]
    monkeypatch.setattr(maxsim, "WHOLE_POOL", 3)
    monkeypatch.setattr("rop_otel.reference.rules.every_rule.WHOLE_POOL", 3)
    monkeypatch.setattr(maxsim, "CANDIDATES", 3)
    monkeypatch.setattr("rop_otel.reference.rules.every_rule.CANDIDATES", 3)
    large = Rules(PAGES)
    (found,) = large.find("maxsim").rank([ask("rivers")], 20)
    assert not isinstance(found, Lost)
    assert not isinstance(whole, Lost)
    assert 3 <= len(found) < len(PAGES)
    assert dict(found) == pytest.approx({page: dict(whole)[page] for page, _ in found}, abs=1e-5)
    assert large.notes() == ("maxsim scores the first 3 of bm25_body and of dense together",)


def test_pages_beyond_one_shard_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoding in parts changes no list, whichever rule reads the parts."""
    monkeypatch.setattr(pool, "SHARD", 2)
    parts, whole = Rules(PAGES), Rules(PAGES)
    for name in ("dense", "maxsim", "rrf_rerank"):
        monkeypatch.setattr(pool, "SHARD", 2)
        in_parts = parts.find(name).rank([ask("birds in rivers")], 20)
        monkeypatch.setattr(pool, "SHARD", 2048)
        assert [ids(one) for one in in_parts] == [
            ids(one) for one in whole.find(name).rank([ask("birds in rivers")], 20)
        ]


def test_rrf_adds_reciprocal_ranks(rules: Rules) -> None:
    """A page's score is the sum over the arms of 1 / (60 + rank); an arm without a query adds nothing."""
    for text in ("birds in rivers", "!?"):
        sums: dict[str, float] = {}
        for name in ("bm25_body", "dense", "maxsim"):
            (arm,) = rules.find(name).rank([ask(text)], 100)
            for rank, page in enumerate([] if isinstance(arm, Lost) else ids(arm), 1):
                sums[page] = sums.get(page, 0) + 1 / (60 + rank)
        (found,) = rules.find("rrf").rank([ask(text)], 20)
        assert not isinstance(found, Lost)
        assert dict(found) == pytest.approx(sums)


def test_reranking_orders_what_was_fused(rules: Rules) -> None:
    """The fused pages come back in MaxSim's order."""
    fused, reranked, whole = (
        rules.find(name).rank([ask("birds in rivers")], 20)[0] for name in ("rrf", "rrf_rerank", "maxsim")
    )
    assert sorted(ids(reranked)) == sorted(ids(fused))
    assert ids(reranked) == ids(whole)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_reserved_slot_holds_the_selection(rules: Rules, rule: str) -> None:
    """The selected page is first, the others follow in the rule's order, the list is no longer, scores fall."""
    asked = ask("rivers", "/lynx")
    (plain,), (found,) = rules.find(rule).rank([asked], 2), rules.find(f"reserved:{rule}").rank([asked], 2)
    assert not isinstance(found, Lost)
    assert ids(found) == ["/lynx", *(page for page in ids(plain) if page != "/lynx")][:2]
    assert all(one[1] > other[1] for one, other in itertools.pairwise(found))


@pytest.mark.parametrize("selected", [None, "/gone"])
def test_slot_without_a_selection_is_the_rules_own(rules: Rules, selected: str | None) -> None:
    """Where there is no page to reserve for, the list is the rule's."""
    asked = [ask("rivers", selected)]
    assert rules.find("reserved:bm25_body").rank(asked, 3) == rules.find("bm25_body").rank(asked, 3)


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        (lambda text, depth: ["/lynx", "/otter"], [("/lynx", 1.0), ("/otter", 0.5)]),
        (lambda text, depth: iter([("/lynx", 3), ("/otter", 2.5)]), [("/lynx", 3.0), ("/otter", 2.5)]),
        (lambda text, depth: [], []),
        (lambda text, depth: ["/lynx", "/otter", "/heron"], Lost("wrong_number")),
        (lambda text, depth: ["/lynx", "/lynx"], Lost("wrong_number")),
        (lambda text, depth: ["/gone"], Lost("rule_failed: unknown page")),
        (lambda text, depth: [("/lynx", float("nan"))], Lost("rule_failed: ValueError")),
        (lambda text, depth: [7], Lost("rule_failed: TypeError")),
        (lambda text, depth: None, Lost("rule_failed: TypeError")),
        (lambda text, depth: text.absent, Lost("rule_failed: AttributeError")),
        (lambda text, depth: sys.exit(3), Lost("rule_failed: SystemExit")),
    ],
)
def test_own_rule_loses_only_its_row(rules: Rules, returned: Any, found: Any) -> None:
    """A rule of one's own gives IDs, or IDs with scores; whatever else it does has a reason."""
    own = {"mine": NamedCallable(name="mine", call=returned, sha256=None)}
    assert Rules(PAGES).find("mine", own).rank([ask("rivers")], 2) == [found]


def test_rule_without_a_model_loads_none() -> None:
    """BM25 and the exact rules ask for no model."""
    some = Rules(PAGES)
    for name in ("key", "title", "bm25_title", "bm25_title_body", "bm25_body", "reserved:bm25_body"):
        some.find(name)
    assert some.models == {}


@pytest.mark.parametrize("name", ["bm25", "reserved:", "reserved:nothing"])
def test_unknown_rule_is_named(rules: Rules, name: str) -> None:
    """A rule that does not exist is an error that lists those that do."""
    with pytest.raises(ConfigurationError, match="there are key, title, bm25_title"):
        rules.find(name)
