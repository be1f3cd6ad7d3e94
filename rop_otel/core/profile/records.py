"""One line of a record file: I-JSON in which the last of a repeated key counts, with a usable record ID."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec

from rop_otel.core.profile.fieldpath import ABSENT, FieldPath

_decode = msgspec.json.Decoder().decode


class RecordError(ValueError):
    """A line that is no observation; the message says why."""


def parse_record(line: bytes, record_field: FieldPath) -> tuple[str, dict[str, Any]]:
    """Return a line's record ID and record.

    Args:
        line: Without its LF.
        record_field: Where the record ID stands.

    Raises:
        RecordError: The line is no JSON object, or its record ID is missing, not a string or empty.
    """
    record = parse_object(line)
    return record_id_of(record, record_field), record


def record_id_of(record: object, record_field: FieldPath) -> str:
    """Return a record's ID.

    Raises:
        RecordError: It is missing, not a string or empty.
    """
    found = record_field.read(record)
    if isinstance(found, str) and found:
        return found
    why = "missing" if found is ABSENT else "empty" if found == "" else "not a string"
    raise RecordError(f"the record ID at {record_field.text!r} is {why}")


def parse_object(line: bytes) -> dict[str, Any]:
    """Return a line's JSON object.

    Raises:
        RecordError: It is none.
    """
    if not line.strip(b" \t\r"):
        raise RecordError("the line is blank")
    try:
        record = _decode(line)
    except msgspec.ValidationError:
        record = _with_far_numbers(line)
    except msgspec.DecodeError as error:
        raise RecordError(f"no JSON: {error}") from None
    except RecursionError:
        raise RecordError("nested too deeply") from None
    if not isinstance(record, dict):
        raise RecordError("not a JSON object")
    return record


def _with_far_numbers(line: bytes) -> Any:
    """Read a line with a number that no double holds, which JSON allows; which one it is decides nothing."""
    try:
        return json.loads(line.decode(), parse_int=float, parse_constant=_refuse)
    except RecursionError:
        raise RecordError("nested too deeply") from None
    except ValueError as error:
        raise RecordError(f"no JSON: {error}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")
