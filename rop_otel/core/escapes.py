"""Text from files and callers, written so that a terminal shows it and does not act on it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

LONGEST_READ: Final = 200
"""Characters of an ID or a name that a person is shown."""

_WORDS: Final = re.compile(rf"\S{{{LONGEST_READ + 1},}}")


def printable(text: str) -> str:
    r"""Return text with what a terminal would act on written as escapes: control and bidirectional characters, say.

    >>> printable("d1\x1b[2J")
    'd1\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def readable(text: str, *, write: Callable[[str], str] = printable) -> str:
    """Return an ID or a name for a terminal: its beginning, and how long it is, where it is longer than anyone reads.

    Args:
        text: The whole ID.
        write: How characters are shown.

    >>> readable("d1"), readable("d1", write=repr)
    ('d1', "'d1'")
    >>> readable("d" * 1_000_000).removeprefix("d" * LONGEST_READ)
    '… (1,000,000 characters)'
    """
    more = f"… ({len(text):,} characters)" if len(text) > LONGEST_READ else ""
    return write(text[:LONGEST_READ]) + more


def readable_words(text: str) -> str:
    """Return a sentence for a terminal, in which each word, such as a name, is :func:`readable`."""
    return printable(_WORDS.sub(lambda word: readable(word[0], write=str), text))


def printable_lines(text: str) -> str:
    """Return text of several lines, each :func:`printable`."""
    return "\n".join(map(printable, text.split("\n")))


def printable_json(text: str) -> str:
    r"""Return a JSON document in which the same characters are JSON's own escapes, so that it means what it did.

    >>> printable_json('"d1\x9b2J"')
    '"d1\\u009b2J"'
    """
    if text.isprintable():
        return text
    lines = (line if line.isprintable() else "".join(map(_in_json, line)) for line in text.split("\n"))
    return "\n".join(lines)


def _in_json(char: str) -> str:
    return char if char.isprintable() else json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"
