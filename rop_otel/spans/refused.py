"""Spans of a request that cannot be taken in while the others are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

TRACE_ID: Final = re.compile(r"(?!0+$)[0-9a-f]{32}", re.ASCII)
SPAN_ID: Final = re.compile(r"(?!0+$)[0-9a-f]{16}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """One span that is not taken in.

    Args:
        trace_id: Its trace, as it was written; it may be none.
        handoff_id: The handoff that it names; None where it names none.
        reason: Why, in a few words.
    """

    trace_id: str
    handoff_id: str | None
    reason: str
