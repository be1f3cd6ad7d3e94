"""Query analysis: the words that matter in a question, and the names that it spells out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rop_otel.reference.words import content_words

QueryForm = Literal["question", "title"]

_NAME = re.compile(
    r"(?<!\w)(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|_*[A-Za-z]\w*_\w+|_*[A-Za-z]\w*(?=\())|[A-Z][a-z0-9]+[A-Z]\w*"
)  # from the start of a word: tried from every letter, a long word takes time by the square of its length
_QUOTED = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked for.

    Args:
        text: What the encoder and the reranker read.
        terms: Content words, each once.
        names: Identifiers in the text: dotted, with underscores, in camel case, called or in backquotes.
        form: Whether it is the question itself or the selected object's title.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    form: QueryForm


def analyse(text: str, *, form: QueryForm = "question") -> Query:
    """Take a query text apart.

    >>> analyse("Does wait_for cancel the `asyncio.Task`?").names
    ('asyncio.Task', 'wait_for')
    """
    names = [name.rstrip(".") for name in (*_QUOTED.findall(text), *_NAME.findall(text))]
    return Query(text=text, terms=tuple(content_words(text)), names=tuple(dict.fromkeys(names)), form=form)
