from __future__ import annotations

import time

import pytest

from rop_otel.reference.index.lexical import LexicalIndex
from rop_otel.reference.query import analyse
from rop_otel.reference.words import Stemmer, content_words, sentences


def test_word_forms_share_a_stem() -> None:
    """The forms of a word that the word index treats as one are one for sentence selection too."""
    stemmer = Stemmer()
    assert stemmer.stems("reprocessing") == stemmer.stems("Reprocessed!") == {"reprocess"}


def test_stems_are_those_that_the_word_index_matches_by() -> None:
    """What the stemmer calls equal is found, and nothing else."""
    index = LexicalIndex([("", "waiting for futures")])
    assert index.search(["waits"], 5)
    assert not index.search(["weight"], 5)
    assert Stemmer().stems("waits") <= Stemmer().stems("waiting for futures")


def test_stopwords_are_no_content() -> None:
    """Words that every question has are not looked for."""
    assert content_words("How do I use the JSONDecoder?") == ["json", "decoder"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("it's a-b foo:bar", [1]), ('say "hi"', [1]), ("NEAR(", [1]), ("*", []), ("a OR b AND", [1]), ("'", [])],
)
def test_raw_text_is_no_syntax_to_the_word_index(text: str, found: list[int]) -> None:
    """Quotes, colons and operators in a question are searched for as words."""
    index = LexicalIndex([("", "some text"), ("", text)])
    assert [place for place, _ in index.search(text.split(), 5)] == found


def test_word_index_ranks_ties_by_place_and_counts_passages() -> None:
    """Equal passages keep their order; titles count."""
    index = LexicalIndex([("", "same words"), ("", "same words"), ("same", "else")])
    assert [place for place, _ in index.search(["words"], 5)] == [0, 1]
    assert index.frequency("same") == 3
    assert index.search([], 5) == []


def test_sentences_are_cut_at_ends_and_list_entries() -> None:
    """Line breaks inside a sentence are spaces; a list entry is a sentence."""
    assert sentences("One\ntwo. Three!\n\n- four\n- five") == ["One two.", "Three!", "- four", "- five"]


def test_names_in_a_question_are_recognised() -> None:
    """Dotted, called, camel-case, snake-case and quoted names count; plain words do not."""
    query = analyse("Does json.dumps or a ThreadPoolExecutor call wait_for, foo() or `bar`? No.")
    assert set(query.names) == {"json.dumps", "ThreadPoolExecutor", "wait_for", "foo", "bar"}


@pytest.mark.parametrize("unit", ["w", "_", "w_", "1w", "éw", "Aa", "a.", "`w", "(", "\n", ". "])
def test_long_questions_are_taken_apart_in_time(unit: str) -> None:
    """No text, such as one endless word, takes time by the square of its length."""
    started = time.process_time()
    analyse(unit * 50_000)
    sentences(unit * 50_000)
    assert time.process_time() - started < 2.0
