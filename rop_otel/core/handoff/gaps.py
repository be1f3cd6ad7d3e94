"""Why spans of a handoff are known to be missing. Such a handoff is never a PASS: a stage may be among them."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Gap(StrEnum):
    """A reason, with what is said of it."""

    why: str

    REFUSED = "refused", "spans of its trace were refused by the monitor, and a stage may be among them"
    REPEATED = "repeated", "different spans of its trace have one span ID, so that a stage may be missing"
    STRIPPED = (
        "stripped",
        "a span of it lost attributes to a limit, and what it was to show, or a stage, may be among them",
    )

    def __new__(cls, code: str, why: str) -> Self:
        """Make a reason of its code and its words."""
        made = str.__new__(cls, code)
        made._value_ = code
        made.why = why
        return made


def why_incomplete(gaps: tuple[str, ...]) -> str:
    """Return in words why spans are missing; a reason that nobody here knows counts as refused."""
    known = [gap for gap in Gap if gap in gaps]
    return (known[0] if known else Gap.REFUSED).why
