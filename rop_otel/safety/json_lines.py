"""JSON Lines, with errors that name file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rop_otel.errors import InputError
from rop_otel.safety.compressed_files import read_lines
from rop_otel.safety.digested_files import Digest

MAX_FILE_BYTES: Final = 1 << 40
"""Read line by line: the size of a file costs time and not memory."""


def read_objects(file: Path, *, digest: Digest | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number and object; blank lines are passed over.

    Args:
        file: Plain, gzip or zstd.
        digest: Takes in the bytes as they are stored, all of them once the last line has been read.

    Raises:
        InputError: The file cannot be read, or a line is no JSON object.
    """
    for line, data in read_lines(str(file), max_file_bytes=MAX_FILE_BYTES, digest=digest):
        if data.strip():
            yield line, _object(data, file=str(file), line=line)


def text_of(fields: dict[str, Any], key: str, *, file: str, line: int) -> str:
    """Return a field that has to be a non-empty string.

    Raises:
        InputError: It is missing or something else.
    """
    value = fields.get(key)
    if not isinstance(value, str) or not value.strip():
        what = f"{key!r} is missing" if key not in fields else f"{key!r} has to be a non-empty string, not {value!r}"
        raise InputError(what, file=file, line=line)
    if not is_unicode(value):
        raise InputError(f"{key!r} holds half of a surrogate pair, which is no text", file=file, line=line)
    return value


def is_unicode(text: str) -> bool:
    """Return whether a string can be written as UTF-8; JSON's escapes can name half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _object(data: bytes, *, file: str, line: int) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON: {error}", file=file, line=line) from error
    if not isinstance(value, dict):
        raise InputError(f"a JSON object is expected, not {type(value).__name__}", file=file, line=line)
    return value
