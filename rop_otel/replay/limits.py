"""How much a record file may make us hold: settings, each named in the error that it leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on memory, with defaults that real files do not reach.

    Args:
        max_line_bytes: Longest line of a record file.
        max_file_bytes: Largest declaration, and largest file that one names.
        max_anomalies: Malformed observations and distinct unexpected record IDs that a report may list.
    """

    max_line_bytes: int = 16 * _MIB
    max_file_bytes: int = 1024 * _MIB
    max_anomalies: int = 1_000_000


DEFAULT_LIMITS: Final = Limits()
