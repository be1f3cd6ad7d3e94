"""Exact match and token F1 as HybridQA's evaluation script computes them."""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import Final

_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)


def normalise_answer(text: str) -> str:
    """Return a text in lower case, without punctuation and articles, with single blanks.

    >>> normalise_answer("The 230 square-kilometres.")
    '230 squarekilometres'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, reference: str) -> float:
    """Return 1 where both normalise to the same text, else 0.

    >>> exact_match("the Danube", "Danube")
    1.0
    """
    return float(normalise_answer(answer) == normalise_answer(reference))


def token_f1(answer: str, reference: str) -> float:
    """Return the F1 of the tokens that both have, each as often as it stands in both.

    Where one has no token, it is 1 if neither has one, else 0.

    >>> token_f1("the river Danube", "Danube")
    0.6666666666666666
    """
    given, wanted = normalise_answer(answer).split(), normalise_answer(reference).split()
    if not given or not wanted:
        return float(given == wanted)
    common = (Counter(given) & Counter(wanted)).total()
    if not common:
        return 0.0
    precision, recall = common / len(given), common / len(wanted)
    return 2 * precision * recall / (precision + recall)
