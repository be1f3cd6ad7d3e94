"""What an import writes: JSON Lines, each complete or not there at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rop_otel.errors import InputError
from rop_otel.study.importing.problems import Problems, Row
from rop_otel.study.ranking_file import json_line


def json_document(value: object) -> bytes:
    """Return a value as indented JSON that ends with LF."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"


def write_file(file: Path, pieces: Iterable[bytes]) -> dict[str, Any]:
    """Write a file under another name first, so that a half-written one is never taken for whole.

    Returns:
        Its name without folder, its bytes and their SHA-256.

    Raises:
        InputError: It cannot be written.
    """
    digest, size, part = hashlib.sha256(), 0, file.with_name(file.name + ".part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "wb") as stream:
            for piece in pieces:
                digest.update(piece)
                size += stream.write(piece)
        os.replace(part, file)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=str(file)) from None
    finally:
        part.unlink(missing_ok=True)
    return {"name": file.name, "bytes": size, "sha256": digest.hexdigest()}


def unique_lines(rows: Iterable[Row], problems: Problems, *, same_is_fine: bool = False) -> Iterable[bytes]:
    """Yield each row as a line; the second row of an ID is a problem.

    Args:
        rows: Rows with an ``id``.
        problems: Where a row is named that cannot be written.
        same_is_fine: Whether a second row that says the same as the first is passed over without a word.
    """
    seen: dict[str, bytes] = {}
    for row in rows:
        key = row.fields["id"]
        try:
            line = json_line(row.fields)
        except UnicodeEncodeError:
            problems.add(row.file, row.line, "it holds half of a surrogate pair, which is no text")
            continue
        print_of = hashlib.blake2b(line, digest_size=8).digest()
        if key not in seen:
            seen[key] = print_of
            yield line
        elif not (same_is_fine and seen[key] == print_of):
            problems.add(row.file, row.line, f"the id {key!r} is there twice; the first row is kept")
