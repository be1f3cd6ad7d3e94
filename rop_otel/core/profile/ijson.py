"""I-JSON (RFC 7493) without a BOM: JSON in which every reader sees the same thing."""

from __future__ import annotations

import json
from typing import Any, NoReturn


class IJsonError(ValueError):
    """Bytes that are no I-JSON; the message says why."""


def loads(data: bytes) -> Any:
    """Parse I-JSON bytes.

    Raises:
        IJsonError: Invalid UTF-8, a BOM, invalid JSON, a duplicate key, NaN or an infinity, a lone surrogate, or
            nesting too deep to read.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IJsonError(f"invalid UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise IJsonError("starts with a byte order mark")
    try:
        value = _parse(text)
    except json.JSONDecodeError as error:
        raise IJsonError(f"invalid JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise IJsonError("nested too deeply") from None
    if "\\u" in text:
        _refuse_surrogates(value)
    return value


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except (json.JSONDecodeError, IJsonError):
        raise
    except ValueError:
        # An integer of more digits than Python converts: JSON allows it, and it is beyond every range of ours.
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_int=float)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise IJsonError(f"duplicate key {key!r}")
            seen.add(key)
    return found


def _refuse(constant: str) -> NoReturn:
    raise IJsonError(f"{constant} is no JSON number")


def _refuse_surrogates(value: Any) -> None:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if any("\ud800" <= char <= "\udfff" for char in item):
                raise IJsonError(f"a lone surrogate in {item!r}")
        elif isinstance(item, dict):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
