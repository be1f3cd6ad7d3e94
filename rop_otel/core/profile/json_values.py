"""Values as one line of JSON and back, with strings that have no UTF-8 form, such as some files' names."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")


def encode(value: object) -> bytes:
    """Return a value as JSON, without LF."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode()


def decode(line: bytes, kind: type[_T]) -> _T:
    """Read what :func:`encode` wrote.

    Raises:
        ValueError: The line is no JSON, or no such value.
        RecursionError: It is nested too deeply.
    """
    try:
        return _decoder(kind).decode(line)  # type: ignore[arg-type, no-any-return] # every type is hashable
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if b"\\u" not in line:
            raise
        return msgspec.convert(json.loads(line), kind)


@cache
def _decoder(kind: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
