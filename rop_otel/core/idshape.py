"""What may be an ID and what is text: a function that returns passages as strings must not have them recorded."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

_LINE_BREAKS: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdShape:
    """How long and how wordy a string may be to count as an ID, a label or a name.

    Args:
        length: Characters at most.
        words: Words, with white space between them, at most.
        line_breaks: Whether it may have line breaks.
    """

    length: int = 200
    words: int = 12
    line_breaks: bool = False

    def fit(self, texts: Collection[str]) -> bool:
        r"""Return whether each of these strings may be an ID; the empty one, which stands for none, may.

        >>> IdShape().fit(["doc-1", "New York City"]), IdShape().fit(["doc-1", "a passage\nof two lines"])
        (True, False)
        """
        longest = max(map(len, texts)) if texts else 0
        if longest > self.length:
            return False
        together = "".join(texts)  # looked through at once: this runs for every list
        if not self.line_breaks:
            for mark in _LINE_BREAKS:
                if mark in together:
                    return False
        if longest <= 2 * self.words or len(together.split()) <= self.words:
            return True
        return all(len(text.split()) <= self.words for text in texts)


NAME: Final = IdShape()
"""What a name may be that the application gives in its code, whatever is set for its IDs."""
