"""Files of lines: text, JSON Lines and tab-separated rows, with bad lines named and good ones read on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rop_otel.safety.compressed_files import read_lines
from rop_otel.safety.digested_files import Digest
from rop_otel.safety.json_lines import MAX_FILE_BYTES
from rop_otel.study.importing.json_documents import refuse_markup
from rop_otel.study.importing.problems import Problems, Row


def read_text_lines(file: str, digest: Digest, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield each line's number and text, plain, gzip or zstd; blank ones are passed over.

    Raises:
        InputError: The file cannot be read, is cut short, or begins as a page in HTML does.
    """
    begun = False
    for line, data in read_lines(file, max_file_bytes=MAX_FILE_BYTES, digest=digest):
        try:
            text = data.decode().strip("\r\n")
        except UnicodeDecodeError as error:
            problems.add(file, line, f"no UTF-8 at byte {error.start}")
            continue
        if text.strip():
            if not begun:
                refuse_markup(text.lstrip()[0], file=file, line=line)
            begun = True
            yield line, text


def read_json_lines(file: str, digest: Digest, problems: Problems) -> Iterator[Row]:
    """Yield the JSON object of each line.

    Raises:
        InputError: The file cannot be read, is cut short, or begins as a page in HTML does.
    """
    for line, text in read_text_lines(file, digest, problems):
        fields = _object(text)
        if isinstance(fields, str):
            problems.add(file, line, fields)
        else:
            yield Row(file=file, line=line, fields=fields)


def _object(text: str) -> dict[str, Any] | str:
    """Return the object, or what is wrong."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"no JSON: {error}"
    return value if isinstance(value, dict) else f"a JSON object is expected, not {type(value).__name__}"
