"""Words, stems and sentences of questions and passages."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from rop_otel.errors import PipelineError

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"(>\[])|\n\s*(?=[-*>:])|\n\s*\n")

STOPWORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being between but by can could did do does
    doing done each for from get gets give given had has have having how i if in into is it its itself just like
    make makes many may me might more most much must my need no not of off on one only onto or other our out over
    own same shall she he should since so some such than that the their them then there these they this those
    through to too under until up use used using very want wants was way ways we were what when where which while
    who whom whose why will with within without would you your python
    """.split()
)
"""Words that say nothing about the subject of a question."""


def words(text: str) -> list[str]:
    """Return the lower-case words of a text; snake_case and CamelCase names are taken apart.

    >>> words("ThreadPoolExecutor, wait_for")
    ['thread', 'pool', 'executor', 'wait', 'for']
    """
    return [part.lower() for word in _WORD.findall(text) for part in _CAMEL.split(word)]


def content_words(text: str) -> list[str]:
    """Return the words of a text without stopwords and single letters, each once, in order."""
    return list(dict.fromkeys(word for word in words(text) if len(word) > 1 and word not in STOPWORDS))


def sentences(text: str) -> list[str]:
    """Cut a passage into sentences and list entries; line breaks inside one become spaces."""
    return [" ".join(piece.split()) for piece in _SENTENCE.split(text) if piece.strip()]


class Stemmer:
    """Porter stems, from SQLite's own tokenizer: the very stems that the word index matches by."""

    def __init__(self) -> None:
        self._database = open_fts5(
            "CREATE VIRTUAL TABLE words USING fts5(word, tokenize='porter unicode61');"
            "CREATE VIRTUAL TABLE stems USING fts5vocab(words, 'instance');"
        )
        self._known: dict[str, str] = {}

    def stems(self, text: str) -> frozenset[str]:
        """Return the stems of the content words of a text."""
        wanted = content_words(text)
        self._learn(word for word in wanted if word not in self._known)
        return frozenset(self._known[word] for word in wanted)

    def _learn(self, unknown: Iterable[str]) -> None:
        batch = list(unknown)
        if not batch:
            return
        self._database.execute("DELETE FROM words")
        self._database.executemany("INSERT INTO words(rowid, word) VALUES (?, ?)", enumerate(batch))
        self._known.update((word, word) for word in batch)
        for term, row in self._database.execute("SELECT term, doc FROM stems WHERE offset = 0"):
            self._known[batch[row]] = term


class _Database(sqlite3.Connection):
    """Closes itself once it is garbage: from Python 3.13 on, one that nobody closed is a warning."""

    def __del__(self) -> None:
        self.close()


def open_fts5(schema: str) -> sqlite3.Connection:
    """Open an in-memory database with full-text tables.

    Raises:
        PipelineError: This Python's SQLite was built without FTS5.
    """
    database = sqlite3.connect(":memory:", check_same_thread=False, factory=_Database)
    try:
        database.executescript(schema)
    except sqlite3.OperationalError as error:
        database.close()
        raise PipelineError(f"the word index needs SQLite with FTS5, which this Python's lacks ({error})") from error
    return database
