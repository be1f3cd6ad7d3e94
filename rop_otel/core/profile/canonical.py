"""Hashes over JSON values: SHA-256 of the canonical form of RFC 8785 (JCS)."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical_sha256(value: Any) -> str:
    """Return the SHA-256 of a JSON value's canonical form, 64 lower-case hex digits.

    Raises:
        ValueError: The value has no canonical form: an infinity, or an integer that no double holds exactly.
    """
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()
