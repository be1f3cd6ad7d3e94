"""Resolver files in our format."""

from __future__ import annotations

from rop_otel.core.profile.resolver import Resolver, parse_resolver_file
from rop_otel.errors import InputError, ResolverError
from rop_otel.evaluation.limits import DEFAULT_LIMITS, RAISE_FILE_BYTES, Limits
from rop_otel.safety.files import read_whole


def read_resolver(file: str, *, limits: Limits = DEFAULT_LIMITS) -> tuple[Resolver, bytes]:
    """Return a resolver and the exact bytes of its file.

    Args:
        file: Its name; ``.jsonl`` is JSON Lines.
        limits: How large the file may be.

    Raises:
        InputError: The file cannot be read, or is no resolver.
    """
    data = read_whole(file, most=limits.max_file_bytes, remedy=RAISE_FILE_BYTES)
    try:
        return parse_resolver_file(file, data), data
    except ResolverError as error:
        raise InputError(str(error), file=file) from None
