"""Cutting a documentation text into passages."""

from __future__ import annotations

import re

MAX_CHARS = 480
"""About 110 tokens of documentation English: one passage stays below the encoder's limit with its title."""

MAX_CHUNKS = 8
"""Passages kept of one text; what follows in the longest texts is worked examples."""

_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`'\"(>])")
_BLANK = re.compile(r"\n\s*\n")


def split(text: str, *, max_chars: int = MAX_CHARS, max_chunks: int = MAX_CHUNKS) -> list[str]:
    r"""Cut a text into passages along its paragraphs, then its sentences.

    Args:
        text: The text; blank gives no passages.
        max_chars: Longest passage, in characters.
        max_chunks: Most passages; the rest of the text is left out.

    >>> split("One.\n\nTwo.", max_chars=4)
    ['One.', 'Two.']
    """
    passages: list[str] = []
    for piece in _pieces(text, max_chars):
        if passages and len(passages[-1]) + 1 + len(piece) <= max_chars:
            passages[-1] = f"{passages[-1]}\n{piece}"
        elif len(passages) < max_chunks:
            passages.append(piece)
        else:
            break
    return passages


def _pieces(text: str, max_chars: int) -> list[str]:
    pieces: list[str] = []
    for paragraph in _BLANK.split(text):
        stripped = paragraph.strip()
        if len(stripped) <= max_chars:
            pieces.extend([stripped] if stripped else [])
            continue
        for sentence in _SENTENCE_END.split(stripped):
            pieces.extend(sentence[start : start + max_chars] for start in range(0, len(sentence), max_chars))
    return pieces
