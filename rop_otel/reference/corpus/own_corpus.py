"""A corpus of one's own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from rop_otel.errors import InputError
from rop_otel.reference.corpus.chunking import split
from rop_otel.reference.corpus.chunks import Chunk, Corpus, Item
from rop_otel.reference.corpus.jsonlines import read_objects, text_of

SCOPE = "corpus"
"""Scope of a corpus read from files."""


def read_corpus(files: Iterable[Path]) -> Corpus:
    """Read pages from JSON Lines, plain, gzip or zstd: ``{id, title, text}``.

    A page keeps its one passage where it is short; a longer one is cut. Models read titles, the word index does not, so
    that a query by title has to find the words of a page's body.

    Raises:
        InputError: A file or line cannot be used; the message says where and why.
    """
    items: dict[str, Item] = {}
    digest = hashlib.sha256()
    named = list(files)
    for file in named:
        for line, fields in read_objects(file):
            key = text_of(fields, "id", file=str(file), line=line)
            title = text_of(fields, "title", file=str(file), line=line)
            text = text_of(fields, "text", file=str(file), line=line)
            if key in items:
                raise InputError(f"the id {key!r} is there twice", file=str(file), line=line)
            items[key] = _page(key, title, text)
            digest.update(f"{key}\0{title}\0{text}\0".encode("utf-8", "surrogatepass"))
    if not items:
        raise InputError("no page in it", file=", ".join(map(str, named)))
    version = f"corpus-{digest.hexdigest()[:12]}"
    return Corpus(scope=SCOPE, items=tuple(items.values()), titles_searched=False, version=version)


def _page(key: str, title: str, text: str) -> Item:
    texts = split(text, max_chars=_PAGE_CHARS, max_chunks=_PAGE_CHUNKS) or [text]
    chunks = tuple(
        Chunk(id=f"{key}#{place}", item=key, scope=SCOPE, title=title, text=piece) for place, piece in enumerate(texts)
    )
    return Item(id=key, title=title, kind="page", chunks=chunks)


_PAGE_CHARS = 2000
_PAGE_CHUNKS = 1000
