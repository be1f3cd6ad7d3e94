"""The rules ``bm25_title``, ``bm25_title_body`` and ``bm25_body``: SQLite's own BM25, which anyone can recompute."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from functools import cached_property

from rop_otel.core.ranking import Lost, Page, Query, Ranked
from rop_otel.reference.words import open_fts5

PROJECTIONS = {"bm25_title": ("title",), "bm25_title_body": ("title", "text"), "bm25_body": ("text",)}
"""What of a page each rule reads."""

_WORD = re.compile(r"\w+")


class Bm25Rule:
    """FTS5 with the tokenizer ``unicode61`` and the default ``bm25()``, over a table of its own.

    ``bm25()`` counts the length of the whole row: a column that is not searched would change every score. The query is
    every run of word characters, in lower case and each only once, in double quotes, joined by OR: FTS5 would count a
    repeated one twice. Ties stand by ID in code point order. SQLite's scores are better the lower they are; here they
    have the other sign.

    Args:
        name: One of ``PROJECTIONS``.
        pages: The corpus.
    """

    def __init__(self, name: str, pages: Iterable[Page]) -> None:
        self.name = name
        self._pages = sorted(pages, key=lambda page: page.id)

    @cached_property
    def _table(self) -> sqlite3.Connection:
        columns = PROJECTIONS[self.name]
        # Without the texts themselves, which bm25() does not read.
        table = open_fts5(
            f"CREATE VIRTUAL TABLE pages USING fts5({', '.join(columns)}, content='', tokenize='unicode61');"
        )
        marks = ", ".join("?" * len(columns))
        rows = ((place, *(getattr(page, column) for column in columns)) for place, page in enumerate(self._pages))
        with table:
            table.executemany(f"INSERT INTO pages(rowid, {', '.join(columns)}) VALUES (?, {marks})", rows)
        return table

    def rank(self, queries: Sequence[Query], depth: int) -> list[Ranked | Lost]:
        """Return the best pages that hold any word of a query; a query without a word is lost."""
        return [self.search(query.text, depth) for query in queries]

    def search(self, text: str, depth: int) -> list[tuple[str, float]] | Lost:
        """Return the best pages for one text."""
        expression = match_expression(text)
        if not expression:
            return Lost("empty_query")
        found = self._table.execute(
            "SELECT rowid, bm25(pages) AS score FROM pages WHERE pages MATCH ? ORDER BY score, rowid LIMIT ?",
            (expression, depth),
        )
        return [(self._pages[place].id, -score) for place, score in found]


def match_expression(text: str) -> str:
    """Return the FTS5 expression of a text; empty where it has no word.

    >>> match_expression("Who sang 'Hey Jude', and who wrote it?")
    '"who" OR "sang" OR "hey" OR "jude" OR "and" OR "wrote" OR "it"'
    """
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    return " OR ".join(f'"{word}"' for word in words)
