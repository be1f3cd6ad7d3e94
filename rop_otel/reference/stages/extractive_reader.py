"""An extractive reader: the sentences that answer best, each with the label it stands under."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from rop_otel.reference.index import Index
from rop_otel.reference.query import Query
from rop_otel.reference.stages.hits import Answer
from rop_otel.reference.words import Stemmer, sentences

THIN = 0.45
"""Evidence that covers less than this share of the question's weight is too thin to answer from."""

ABSTENTION = "The documents shown do not answer this."
MAX_QUOTED = 2

_LABELLED = re.compile(r"^\[(S\d+)\] ", re.MULTILINE)


def read(index: Index, stemmer: Stemmer, query: Query, prompt: str) -> Answer:
    """Quote the sentences that cover most of the question, weighing rare words higher, and cite each by its label."""
    weights = {stem: _weight(index, stem) for stem in stemmer.stems(query.text)}
    total = math.fsum(weights.values())
    pieces = [
        (label, sentence, stemmer.stems(f"{title} {sentence}"))
        for label, title, text in _passages(prompt)
        for sentence in sentences(text)
    ]
    covered: set[str] = set()
    quoted: list[str] = []
    while pieces and len(quoted) < MAX_QUOTED:
        gains = [math.fsum(weights.get(stem, 0.0) for stem in stems - covered) for _, _, stems in pieces]
        best = max(range(len(pieces)), key=lambda place: (gains[place], -place))
        if gains[best] <= 0:
            break
        label, sentence, stems = pieces.pop(best)
        covered |= stems & weights.keys()
        quoted.append(f"{sentence} [{label}]")
    if not quoted or math.fsum(weights[stem] for stem in covered) < THIN * total:
        return Answer(text=ABSTENTION, abstained=True)
    return Answer(text=" ".join(quoted), abstained=False)


def _passages(prompt: str) -> Iterator[tuple[str, str, str]]:
    """Give label, heading and text of each passage in a prompt."""
    _, *parts = _LABELLED.split(prompt)
    for label, text in zip(parts[::2], parts[1::2], strict=True):
        title, colon, _ = text.partition(": ")
        yield label, title if colon else "", text.strip()


def _weight(index: Index, stem: str) -> float:
    return math.log(1 + len(index.corpus.chunks) / (1 + index.lexical.frequency(stem)))
