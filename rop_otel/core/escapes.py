"""Text from files and callers, written so that a terminal shows it and does not act on it."""

from __future__ import annotations

import json


def printable(text: str) -> str:
    r"""Return text with what a terminal would act on written as escapes: control and bidirectional characters, say.

    >>> printable("d1\x1b[2J")
    'd1\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


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
