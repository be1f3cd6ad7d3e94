"""What a study was made of: the name, size and hash of each file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One file, as it is stored.

    Args:
        name: Its name without its folder, so that the same file is the same wherever it lies.
        bytes: Its size.
        sha256: Its hash in hex.
    """

    name: str
    bytes: int
    sha256: str
