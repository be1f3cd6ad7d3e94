"""The word index: SQLite FTS5 with Porter stems, ranked by BM25."""

from __future__ import annotations

from collections.abc import Iterable

from rop_otel.reference.words import open_fts5, words

_TITLE_WEIGHT, _TEXT_WEIGHT = 2.0, 1.0
_SCHEMA = """
CREATE VIRTUAL TABLE passages USING fts5(title, body, tokenize='porter unicode61');
"""


class LexicalIndex:
    """Passages by their words.

    Args:
        passages: Title and text of each, in order; the title is empty where it is not to be searched.
    """

    implementation = "SQLite FTS5 bm25 (porter)"

    def __init__(self, passages: Iterable[tuple[str, str]]) -> None:
        self._database = open_fts5(_SCHEMA)
        rows = ((place, " ".join(words(title)), text) for place, (title, text) in enumerate(passages))
        with self._database:
            self._database.executemany("INSERT INTO passages(rowid, title, body) VALUES (?, ?, ?)", rows)
        (self._size,) = self._database.execute("SELECT count(*) FROM passages").fetchone()

    def __len__(self) -> int:
        return int(self._size)

    def search(self, terms: Iterable[str], k: int) -> list[tuple[int, float]]:
        """Return the places of the k best passages that hold any of the terms, best first, ties by place."""
        expression = " OR ".join(_quoted(term) for term in terms)
        if not expression:
            return []
        rows = self._database.execute(
            "SELECT rowid, -bm25(passages, ?, ?) AS score FROM passages WHERE passages MATCH ?"
            " ORDER BY score DESC, rowid LIMIT ?",
            (_TITLE_WEIGHT, _TEXT_WEIGHT, expression, k),
        )
        return [(int(place), float(score)) for place, score in rows]

    def frequency(self, term: str) -> int:
        """Return how many passages hold a term."""
        (count,) = self._database.execute(
            "SELECT count(*) FROM passages WHERE passages MATCH ?", (_quoted(term),)
        ).fetchone()
        return int(count)


def _quoted(term: str) -> str:
    """Return a term as an FTS5 string: raw text of a question can be a syntax error."""
    return '"' + term.replace('"', '""') + '"'
