"""The files that a replay reads."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from rop_otel.core.profile import Resolver
from rop_otel.errors import InputError, ResolverError
from rop_otel.replay.report import Report, replay
from rop_otel.spans import read


def replay_files(files: Iterable[str], *, resolver: str | None = None) -> Report:
    """Judge the spans of recorded files.

    Args:
        files: Names of OTLP JSON files.
        resolver: Name of a resolver file, ``.jsonl`` for JSON Lines; None: an ID stands for itself.

    Raises:
        InputError: A file cannot be read as what it should be.
    """
    in_force = None if resolver is None else _read_resolver(resolver)
    return replay(chain.from_iterable(map(read, files)), resolver=in_force)


def _read_resolver(file: str) -> Resolver:
    try:
        return Resolver.parse(Path(file).read_bytes(), lines=file.endswith(".jsonl"))
    except ResolverError as error:
        raise InputError(str(error), file=file) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=file) from None
