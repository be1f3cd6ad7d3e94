from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rop_otel.reference.corpus.chunking import split

texts = st.lists(st.sampled_from(["one.", "Two", "three!", "\n\n", "\n", "Four."]), max_size=60).map(" ".join)


@given(texts, st.integers(5, 60))
def test_no_character_is_lost_and_no_passage_is_too_long(text: str, most: int) -> None:
    """Passages hold the whole text in order, white space aside, each within the limit."""
    passages = split(text, max_chars=most, max_chunks=1000)
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(0 < len(passage) <= most for passage in passages)


def test_a_text_beyond_the_cap_is_cut() -> None:
    """At most so many passages are kept of one text."""
    assert split("a\n\nb\n\nc", max_chars=1, max_chunks=2) == ["a", "b"]


def test_paragraphs_that_fit_stay_together() -> None:
    """Short paragraphs share a passage."""
    assert split("a b\n\nc", max_chars=10) == ["a b\nc"]
