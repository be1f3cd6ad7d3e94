"""Large JSON documents read member by member, with the line of each, in memory that one member needs."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any, Final, TextIO

from rop_otel.errors import InputError
from rop_otel.safety.compressed_files import unpacked, unpacking_errors
from rop_otel.safety.digested_files import Digest, digested, drain
from rop_otel.safety.files import open_input

MAX_MEMBER: Final = 64 * 1024 * 1024
"""Longest member, in characters."""

_PIECE: Final = 1024 * 1024
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()


def read_members(file: str, digest: Digest) -> Iterator[tuple[int, str | None, Any]]:
    """Read the members of the array or object that a file holds, plain, gzip or zstd.

    Args:
        file: Its name.
        digest: Takes in its bytes as they are stored.

    Yields:
        1-based line at which a member begins, its key (None in an array) and its value.

    Raises:
        InputError: The file cannot be read, is cut short, holds no JSON or no array or object.
    """
    window: _Window | None = None
    with (
        unpacking_errors(file, lambda: window.line if window else 1),
        open_input(file) as source,
        digested(source, digest) as plain,
        unpacked(plain) as stream,
        io.TextIOWrapper(stream, encoding="utf-8-sig") as text,
    ):
        window = _Window(text, file)
        yield from _members(window)
        drain(plain)


def refuse_markup(first: str, *, file: str, line: int) -> None:
    """Refuse a file that begins as a page does, which many servers send in place of a download.

    Raises:
        InputError: It does.
    """
    if first == "<":
        raise InputError("holds a page in HTML or XML, not data: was the download refused?", file=file, line=line)


def _members(window: _Window) -> Iterator[tuple[int, str | None, Any]]:
    opening = window.peek()
    refuse_markup(opening, file=window.file, line=window.line)
    if opening not in ("[", "{"):
        raise window.wrong("a JSON array or object is expected")
    closing = "]" if opening == "[" else "}"
    window.take(opening)
    while window.peek() != closing:
        line, key = window.line, None
        if opening == "{":
            if window.peek() != '"':
                raise window.wrong("a key in double quotes is expected")
            key = window.value()
            window.take(":")
        yield line, key, window.value()
        if window.peek() != closing:
            window.take(",")
            if window.peek() == closing:
                raise window.wrong("a comma stands before the end")
    window.take(closing)
    if window.peek():
        raise window.wrong("something stands behind the end of the JSON")


class _Window:
    """The part of a text that is looked at."""

    def __init__(self, text: TextIO, file: str) -> None:
        self.file = file
        self.line = 1
        self._text = text
        self._held = ""
        self._at = 0

    def peek(self) -> str:
        """Return the next character that is no blank, the empty string at the end."""
        while True:
            blanks = _BLANKS.match(self._held, self._at)
            self._advance(blanks.end() if blanks else self._at)
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._more():
                return ""

    def take(self, char: str) -> None:
        """Pass over a character, which has to stand here."""
        found = self.peek()
        if found != char:
            raise self.wrong(f"{char!r} is expected, not {found!r}")
        self._advance(self._at + 1)

    def value(self) -> Any:
        """Return the value that begins here."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except RecursionError:
                raise self.wrong("it is nested too deeply") from None
            except ValueError as error:
                offset = getattr(error, "pos", self._at) - self._at
                if len(self._held) - self._at > MAX_MEMBER or not self._more():
                    raise self._not_json(getattr(error, "msg", str(error)), self._at + offset) from None
                continue
            if end == len(self._held) and self._more():
                continue  # a number may go on in what was read now
            self._advance(end)
            return value

    def wrong(self, what: str) -> InputError:
        """Return the error that something else stands here."""
        if not self.peek():
            what = "the JSON is cut short"
        return InputError(what, file=self.file, line=self.line)

    def _not_json(self, message: str, place: int) -> InputError:
        line = self.line + self._held.count("\n", self._at, place)
        if message.startswith("Unterminated") or not self._held[place:].strip():
            message = "the JSON is cut short"
        return InputError(f"no JSON: {message}", file=self.file, line=line)

    def _advance(self, end: int) -> None:
        self.line += self._held.count("\n", self._at, end)
        self._at = end

    def _more(self) -> bool:
        """Hold more of the text, as much again as is held, so that reading a long member takes linear time."""
        piece = self._text.read(max(_PIECE, len(self._held) - self._at))
        self._held = self._held[self._at :] + piece
        self._at = 0
        return bool(piece)
