"""The filters of the API, the same as in the page's address, read into what a store looks for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from rop_otel.core.handoff import FINDINGS, DropCause, Verdict
from rop_otel.monitor.store import NONE, Wanted

MOST_LISTED: Final = 2000
"""Handoffs that one answer lists, and that each side of a comparison has."""

_VERDICTS: Final = (*(verdict.value for verdict in Verdict), NONE)
_CAUSES: Final = (*(cause.value for cause in DropCause), NONE)
_CODES: Final = tuple(code.value for code in FINDINGS)
_NS: Final = 1_000_000_000
_LAST_SECOND: Final = 9_000_000_000


def nanoseconds(value: str) -> int:
    """Return a time, Unix seconds or RFC 3339, in nanoseconds.

    Raises:
        ValueError: It is neither, or is before 1970 or after 2255.
    """
    try:
        seconds = _rfc3339(value) if value[:1].isdecimal() and "-" in value else float(value)
        if not 0 <= seconds <= _LAST_SECOND:
            raise ValueError
    except ValueError:
        raise ValueError(f"{value[:80]!r} is no time: Unix seconds, or RFC 3339 such as 2026-12-01T09:30:00Z") from None
    return int(seconds * _NS)


def _rfc3339(value: str) -> float:
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _one_of(*known: str) -> AfterValidator:
    def check(value: str) -> str:
        if value not in known:
            raise ValueError(f"{value[:80]!r} is unknown; known are {', '.join(known)}")
        return value

    return AfterValidator(check)


def _is_time(value: str) -> str:
    nanoseconds(value)
    return value


def _is_finding(value: str) -> str:
    code, separator, stage = value.partition("@")
    if code not in _CODES or (separator and not stage):
        raise ValueError(f"{value[:80]!r} is unknown; known are {', '.join(_CODES)}, and each with @ and a stage")
    return value


_SECONDS: Final = {"type": "number", "minimum": 0, "maximum": _LAST_SECOND}
_Text = Annotated[str, StringConstraints(min_length=1)]
_Part = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True), Field(pattern=r"\S")]
_Verdict = Annotated[_Text, _one_of(*_VERDICTS), Field(json_schema_extra={"enum": list(_VERDICTS)})]
_Cause = Annotated[_Text, _one_of(*_CAUSES), Field(json_schema_extra={"enum": list(_CAUSES)})]
_Finding = Annotated[
    _Text, AfterValidator(_is_finding), Field(json_schema_extra={"pattern": f"^({'|'.join(_CODES)})(@.+)?$"})
]
_Time = Annotated[
    _Text,
    AfterValidator(_is_time),
    Field(json_schema_extra={"anyOf": [_SECONDS, {"type": "string", "format": "date-time"}]}),
]


class SummaryFilters(BaseModel):
    """Which handoffs totals are asked of."""

    model_config = ConfigDict(extra="forbid")

    name: _Text = Field("", description="Name of the handoff.")
    service: _Text = Field("", description="Service of the handoff's span; - for none.")
    run: _Text = Field("", description="ID of the run; - for none.")
    since: _Time = Field("", description="Settled then or later: Unix seconds, or RFC 3339.")
    until: _Time = Field("", description="Settled before: Unix seconds, or RFC 3339.")

    @field_validator("until")
    @classmethod
    def _is_later(cls, until: str, given: ValidationInfo) -> str:
        since = given.data.get("since")
        if since and until and nanoseconds(until) < nanoseconds(since):
            raise ValueError(f"{until!r} is before since")
        return until

    def wanted(self, **more: str) -> Wanted:
        """Return what the store looks for."""
        given: dict[str, Any] = {"name": self.name, "service": self.service, "run": self.run, **more}
        return Wanted(
            **{name: value for name, value in given.items() if value},
            since_ns=nanoseconds(self.since) if self.since else 0,
            until_ns=nanoseconds(self.until) if self.until else None,
        )


class Filters(SummaryFilters):
    """Which handoffs are asked for: those for which all that is given holds."""

    q: _Part = Field("", description="Part of an ID: of handoff, trace, record, run or object.")
    verdict: _Verdict = Field("", description="The verdict; - for handoffs that were not assessed here.")
    at: _Text = Field(
        "",
        description="Where the selected object was lost: mmr, vector/titles, rerank/2; rerank/* for every place of a"
        " kind, whatever its name and round; - for no stage.",
    )
    cause: _Cause = Field("", description="Why it was lost; - for handoffs that lost none.")
    finding: _Finding = Field("", description="A finding's code, or code@stage.")
    record: _Part = Field("", description="Part of the record's ID.")
    object: _Part = Field("", description="Part of the ID of a selected or judged object.")

    def wanted(self, **more: str) -> Wanted:
        """Return what the store looks for."""
        given = {name: getattr(self, name) for name in ("verdict", "at", "cause", "finding", "record", "object")}
        return super().wanted(text=self.q, **given, **more)


class Listed(Filters):
    """A page of handoffs."""

    limit: int = Field(50, ge=1, le=MOST_LISTED, description="How many at most.")
    after: str = Field("", pattern="^[0-9]{1,19}$", description="Goes on where the page before ended: its `after`.")


def filters_in(query: str) -> Wanted:
    """Return what a query string looks for; an empty one looks for everything.

    Raises:
        ValueError: A filter is unknown, given twice, or has a value that it cannot have.
    """
    pairs = parse_qsl(query, keep_blank_values=True)
    return Filters(**unique(pairs)).wanted()


def unique(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return parameters by name.

    Raises:
        ValueError: One is given twice.
    """
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name[:80]!r} is given twice")
        found[name] = value
    return found
