"""The filters of the API, the same as in the page's address, read into what a store looks for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from rop_otel.core.handoff import FINDINGS, DropCause, Verdict
from rop_otel.monitor.store import Wanted

NONE: Final = "-"
"""Stands for a handoff that has no value there."""

_Text = Annotated[str, StringConstraints(min_length=1)]
_VERDICTS: Final = frozenset(verdict.value for verdict in Verdict)
_CAUSES: Final = frozenset(cause.value for cause in DropCause)
_CODES: Final = frozenset(code.value for code in FINDINGS)
_NS: Final = 1_000_000_000
_LATEST: Final = 2**63 / _NS


class TotalsFilters(BaseModel):
    """What totals are asked of."""

    model_config = ConfigDict(extra="forbid")

    name: _Text | None = Field(None, description="Name of the handoff.")
    service: _Text | None = Field(None, description="Service of the handoff's span; - for none.")
    run: _Text | None = Field(None, description="ID of the run; - for none.")
    since: _Text | None = Field(None, description="Settled at this time or later: Unix seconds or RFC 3339.")
    until: _Text | None = Field(None, description="Settled before this time.")

    @field_validator("since", "until")
    @classmethod
    def _is_time(cls, value: str | None) -> str | None:
        if value is not None:
            nanoseconds(value)
        return value

    @property
    def wanted(self) -> Wanted:
        """Return what the store looks for."""
        given: dict[str, Any] = {
            name: value for name in Filters.model_fields if (value := getattr(self, name, None)) is not None
        }
        return wanted_of(given)


class Filters(TotalsFilters):
    """Which handoffs are asked for: those for which all that is given holds."""

    q: _Text | None = Field(None, description="Part of an ID: of handoff, trace, record, run or object.")
    verdict: _Text | None = Field(None, description="The verdict; - for handoffs that were not assessed here.")
    at: _Text | None = Field(
        None, description="Where the selected object was lost: mmr, vector/titles, rerank/2; - for no stage."
    )
    cause: _Text | None = Field(None, description="Why it was lost; - for handoffs that lost none.")
    finding: _Text | None = Field(None, description="A finding's code, or code@stage.")
    record: _Text | None = Field(None, description="Part of the record's ID.")
    object: _Text | None = Field(None, description="Part of the ID of a selected or judged object.")

    @model_validator(mode="after")
    def _are_known(self) -> Self:
        for name, known in (("verdict", _VERDICTS), ("cause", _CAUSES)):
            value = getattr(self, name)
            if value is not None and value != NONE and value not in known:
                raise ValueError(f"{name} {value[:80]!r} is unknown; known are {', '.join(sorted(known))}")
        if self.finding is not None and self.finding.partition("@")[0] not in _CODES:
            raise ValueError(f"finding {self.finding[:80]!r} is unknown; known are {', '.join(sorted(_CODES))}")
        return self


def wanted_of(given: dict[str, Any]) -> Wanted:
    """Return filters as a store looks for them."""
    names = {"q": "text", "at": "dropped_at", "cause": "drop_cause", "record": "record_id", "run": "run_id"}
    return Wanted(
        **{names.get(name, name): value for name, value in given.items() if name not in ("since", "until", "object")}
    )


def nanoseconds(value: str) -> int:
    """Return a time, Unix seconds or RFC 3339, in nanoseconds.

    Raises:
        ValueError: It is neither.
    """
    try:
        seconds = float(value) if value[-1].isdecimal() and "T" not in value.upper() else _rfc3339(value)
        if not 0 <= seconds < _LATEST:
            raise ValueError
    except ValueError:
        raise ValueError(f"{value[:80]!r} is no time: Unix seconds, or RFC 3339 such as 2026-12-01T09:30:00Z") from None
    return int(seconds * _NS)


def _rfc3339(value: str) -> float:
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
