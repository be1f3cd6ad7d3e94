"""Limits on the memory that a record file can use; each error names its setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rop_otel.safety.files import MAX_FILE_BYTES

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on memory, with defaults that real files do not reach.

    Args:
        max_line_bytes: Longest line of a record file.
        max_file_bytes: Largest file that is held in memory: a declaration, each file that it names, a resolver, a
            partial report; and what a file of spans may hold, unpacked.
        max_unpacked_bytes: Largest size of an unpacked record file, or of what a pipe delivers.
        max_anomalies: Malformed observations and distinct unexpected record IDs that a report may list.
    """

    max_line_bytes: int = 16 * _MIB
    max_file_bytes: int = MAX_FILE_BYTES
    max_unpacked_bytes: int = 16 * 1024 * _MIB
    max_anomalies: int = 1_000_000


RAISE_FILE_BYTES: Final = "raise --max-file-bytes to read it"
RAISE_UNPACKED_BYTES: Final = "raise --max-unpacked-bytes to read it"

DEFAULT_LIMITS: Final = Limits()
