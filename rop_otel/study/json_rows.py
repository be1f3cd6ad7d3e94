"""Files of our own in JSON Lines: a bad line ends the reading, since a smaller study is another study."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rop_otel.errors import InputError
from rop_otel.safety.compressed_files import read_lines
from rop_otel.safety.digested_files import Digest

MAX_FILE_BYTES = 1 << 40
"""Read line by line: the size of a file costs time and not memory."""


def read_rows(file: str, digest: Digest | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number and object, plain, gzip or zstd; blank lines are passed over.

    Raises:
        InputError: The file cannot be read, or a line is no JSON object.
    """
    for line, data in read_lines(file, max_file_bytes=MAX_FILE_BYTES, digest=digest):
        if not data.strip():
            continue
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise InputError(f"no JSON: {error}", file=file, line=line) from None
        if not isinstance(fields, dict):
            raise InputError(f"a JSON object is expected, not {type(fields).__name__}", file=file, line=line)
        yield line, fields
