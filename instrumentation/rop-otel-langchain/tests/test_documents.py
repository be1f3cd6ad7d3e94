"""Documents in what functions take and give."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from rop_otel_langchain.documents import documents_in, stored_documents

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


def test_documents_that_were_stored() -> None:
    """A checkpointer may give documents back as mappings, with or without what LangChain writes around them."""
    plain = {"page_content": "a", "id": "a", "metadata": {"k": 1}, "type": "Document"}
    written = {"lc": 1, "type": "constructor", "id": ["langchain", "Document"], "kwargs": plain}
    for stored in (plain, written):
        (found,) = stored_documents([stored])
        assert (found.id, found.page_content, found.metadata) == ("a", "a", {"k": 1})
    assert stored_documents([plain, "text"]) == []
    assert stored_documents([{"page_content": None}]) == []
    assert stored_documents("ab") == []
