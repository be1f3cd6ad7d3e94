"""Which documents a prompt shows."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.documents import Document
from rop_otel_langchain.documents import documents_in, shown_by

LONG = "A long beginning that several hundred characters follow, of which a prompt may show some and not all. " * 4

MARKED = 'Refunds are "paid"\n\n\tfor the café & the <b>shop</b>, in C:\\new, within ten days \N{GRINNING FACE}.'
OTHER = "A single line about parcels that no template changes."


def ids(text: str, *texts: str) -> Any:
    """Return the places of the documents, from 1, that a prompt shows, and their labels."""
    documents = [Document(each, id=str(place)) for place, each in enumerate(texts, 1)]
    found = shown_by(text, documents)
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


@pytest.mark.parametrize("write", [json.dumps, lambda texts: json.dumps(texts, ensure_ascii=False), repr])
def test_escapes_do_not_matter(write: Callable[[Sequence[str]], str]) -> None:
    """A prompt may hold documents as JSON or as they represent themselves, of which each is shown or is not."""
    assert ids(write([OTHER, MARKED]), MARKED, OTHER) == [("2", None), ("1", None)]
    assert ids(write([OTHER]), MARKED, OTHER) == [("2", None)]


def test_markup_is_escaped() -> None:
    """A prompt may hold documents inside of markup."""
    assert ids(f"<doc>{html.escape(MARKED)}</doc><doc>{OTHER}</doc>", MARKED, OTHER) == [("1", None), ("2", None)]


@pytest.mark.parametrize(
    "write",
    [
        str.lower,
        lambda text: text.replace("\n", "\n> "),
        lambda text: re.sub("<[^>]*>", "", text),
        lambda text: text.replace('"', "'"),
        lambda text: text[20:],
    ],
)
def test_another_writing(write: Callable[[str], str]) -> None:
    """Of a document that a prompt holds in part, or in another writing, it is not known whether it is shown."""
    assert ids(f"{write(MARKED)}\n{OTHER}", MARKED, OTHER) is None


def test_a_short_text_in_another_writing() -> None:
    """All words of a short text are as good as some of a long one."""
    assert ids(f"ONE, TWO\n{OTHER}", "one two", OTHER) is None
    assert ids(f"one, and two\n{OTHER}", "one two", OTHER) == [("2", None)]


A, B = Document("a", id="a"), Document("b", id="b")


@pytest.mark.parametrize(
    ("value", "lists"),
    [
        ([A, B], [[A, B]]),
        ((A,), [(A,)]),
        ({"one": [A], "two": [B], "other": {"deep": [A]}, "k": 3}, [[A], [B]]),
        ([[A], [], [B, A]], [[A], [B, A]]),
        ([(A, 0.5), (B, None)], [[A, B]]),
        ({"one": [(A, 0.5)], "two": [[B], [A]]}, [[A], [B], [A]]),
        ([[(A, 0.5)], [(B, 0.1)]], [[A], [B]]),
        ([(A, B), (B, A)], [(A, B), (B, A)]),
        ([], []),
        ([[]], []),
        ([[A], ["b"]], []),
        ([A, "b"], []),
        (["a", "b"], []),
        ("ab", []),
        (None, []),
    ],
)
def test_lists_of_documents(value: object, lists: object) -> None:
    """Documents are found in lists, mappings of them, lists of them and pairs with scores, and only where all are."""
    assert documents_in(value) == lists
