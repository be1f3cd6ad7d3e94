"""Which documents a prompt shows."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from rop_otel_langchain.documents import shown_in

LONG = "A long beginning that several hundred characters follow, of which a prompt may show some and not all. " * 4


def ids(text: str, *texts: str) -> Any:
    """Return the places of the documents, from 1, that a prompt shows, and their labels."""
    documents = [Document(each, id=str(place)) for place, each in enumerate(texts, 1)]
    found = shown_in(text, documents)
    return found and [(document.id, label) for document, label in found]


@pytest.mark.parametrize(
    ("prompt", "texts", "shown"),
    [
        ("one two", ["one", "two"], [("1", None), ("2", None)]),
        ("two one", ["one", "two"], [("2", None), ("1", None)]),
        ("one", ["one", "two"], [("1", None)]),
        ("none of them", ["one", "two"], None),
        ("a timeout is long", ["timeout", "a timeout is long"], [("2", None)]),
        ("a timeout is long\n\ntimeout", ["timeout", "a timeout is long"], [("2", None), ("1", None)]),
        (LONG[:150], [LONG, "two"], [("1", None)]),
        (LONG[:50], [LONG, "two"], None),
        ("same", ["same", "same"], None),
        ("same same", ["same", "same"], [("1", None), ("2", None)]),
        (LONG + "end", [LONG + "end", LONG + "another end"], [("1", None)]),
        (LONG[:200], [LONG + "end", LONG + "another end"], None),
        ("one", ["one", ""], [("1", None)]),
        ("[S1] one [S2] two", ["one", "two"], [("1", "S1"), ("2", "S2")]),
        ("[1]: one\n[2]: two", ["one", "two"], [("1", "1"), ("2", "2")]),
        ("[S4] one", ["[S4] one"], [("1", "S4")]),
        ("[page 4] one", ["one"], [("1", None)]),
        ("[S1] one two", ["one", "two"], [("1", "S1"), ("2", None)]),
    ],
)
def test_shown(prompt: str, texts: list[str], shown: Any) -> None:
    """What is shown, in the order of the prompt, with its labels; None where that cannot be told."""
    assert ids(prompt, *texts) == shown


def test_white_space_does_not_matter() -> None:
    """A template may indent or wrap a text."""
    assert ids("  one\n   two  ", "one two") == [("1", None)]
