"""Run reports as JSON, records streamed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rop_otel.core.escapes import printable_json
from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.report import RunReport

_CLOSE = "\n}"


def report_lines(
    report: RunReport, records: Iterable[Entry] | None, *, beside: Mapping[str, Any] | None = None
) -> Iterator[bytes]:
    """Yield a report's JSON document piece by piece.

    Args:
        report: The run's report.
        records: In the report's order; None leaves them out.
        beside: Further fields of the document.
    """
    head = json.dumps({**report.as_dict(), **(beside or {})}, ensure_ascii=False, allow_nan=False, indent=2)
    if records is None:
        yield _bytes(f"{head}\n")
        return
    yield _bytes(head.removesuffix(_CLOSE) + ',\n  "records": [')
    between = "\n    "
    for entry in records:
        yield _bytes(between + _record(entry))
        between = ",\n    "
    yield b"\n  ]\n}\n" if between.startswith(",") else b"]\n}\n"


def record_lines(records: Iterable[Entry]) -> Iterator[bytes]:
    """Yield records as JSON Lines."""
    for entry in records:
        yield _bytes(f"{_record(entry)}\n")


def _record(entry: Entry) -> str:
    return json.dumps(entry.as_dict(), ensure_ascii=False, allow_nan=False)


def _bytes(text: str) -> bytes:
    # Whoever shows a report in a terminal sees it. A file's name may hold bytes that are no UTF-8, too.
    return printable_json(text).encode()
