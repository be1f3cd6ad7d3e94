"""Keyed hashing of IDs, so that they can leave the process without naming a document."""

from __future__ import annotations

import hmac
import re
from typing import Final

from rop_otel.core.profile.resolver import Resolver

DIGITS: Final = 32
_NUMBERED: Final = re.compile(r"\W?[A-Za-z]?[0-9]{1,3}\W?")


def hash_id(key: bytes, raw: str) -> str:
    """Return the HMAC-SHA256 of an ID as 32 hex digits; the empty string, an unreadable ID, stays as it is.

    >>> hash_id(b"key", "doc-1") == hash_id(b"key", "doc-1") != hash_id(b"other", "doc-1")
    True
    """
    return hmac.digest(key, raw.encode("utf-8", "surrogatepass"), "sha256").hex()[:DIGITS] if raw else raw


def hash_label(key: bytes, label: str) -> str:
    """Return a citation label, hashed like an ID unless it is a number with at most a letter before it.

    >>> hash_label(b"key", "[S12]"), hash_label(b"key", "doc-1") == hash_id(b"key", "doc-1")
    ('[S12]', True)
    """
    return label if _NUMBERED.fullmatch(label) else hash_id(key, label)


def hash_resolver(key: bytes, resolver: Resolver) -> Resolver:
    """Return a resolver of the hashed IDs: object IDs, members and aliases are hashed, who owns whom is kept."""
    objects = resolver.objects()
    aliases = {name: resolver.aliases(name) for name in objects}
    return Resolver(
        {hash_id(key, name): [hash_id(key, raw) for raw in resolver.members(name)] for name in objects},
        aliases={hash_id(key, name): [hash_id(key, raw) for raw in raws] for name, raws in aliases.items() if raws},
        version=resolver.version,
    )
