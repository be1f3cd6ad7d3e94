"""The resolver and the reports as pydantic models, for their JSON Schemas; the code that makes them holds to these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rop_otel.core.profile.models import Sha256, Text
from rop_otel.core.profile.verdicts import RunStatus, Verdict

_Count = Annotated[int, Field(ge=0)]
_Fraction = Annotated[float, Field(ge=0, le=1)]


def _absent() -> Any:
    return None


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ResolverObject(_Shape):
    """One object: its raw corpus IDs, and other names that resolve to it."""

    members: Annotated[list[Text], Field(min_length=1)]
    aliases: list[Text] = Field(default_factory=_absent)


class ResolverDocument(_Shape):
    """A resolver file; as JSON Lines the version stands on the first line and each object on a line of its own."""

    resolver_version: Text
    objects: dict[Text, ResolverObject]


class RecordReport(_Shape):
    """One observed record: its verdict and why."""

    record_id: Text
    verdict: Verdict
    rank: Annotated[int, Field(ge=1)] | None
    object_id: Text | None
    reason: str


class MalformedObservation(_Shape):
    """A line, or row, that is no observation."""

    file: str
    line: Annotated[int, Field(ge=1)]
    reason: str


class DeclarationError(_Shape):
    """One fault of the declaration."""

    code: Text
    path: str
    message: str


class Verdicts(_Shape):
    """Observed records by verdict, and expected ones never seen."""

    PASS: _Count
    FAIL: _Count
    SELECTOR_ERROR: _Count
    RESOLUTION_ERROR: _Count
    UNVERIFIABLE: _Count
    DECLARATION_INVALID: _Count
    NOT_APPLICABLE: _Count


class RunVerdicts(Verdicts):
    """The same with the expected records that were never observed."""

    MISSING: _Count


class Held(_Shape):
    """Evaluable records whose object is among the first k returned IDs."""

    held: _Count
    fraction: _Fraction | None


class TracedJointly(_Shape):
    """Selected and traced membership on the same rankings."""

    both: _Count
    selected_only: _Count
    traced_only: _Count
    neither: _Count


class Diagnostics(_Shape):
    """Beside the verdicts, never deciding one; the first three are what hard mode would give, in other modes only."""

    verdicts: Verdicts = Field(default_factory=_absent)
    evaluable: _Count = Field(default_factory=_absent)
    pass_fraction: _Fraction | None = Field(default_factory=_absent)
    past_cutoff: _Count
    absent: _Count
    membership: dict[str, Held]
    trace: dict[str, TracedJointly] = Field(default_factory=_absent)


class RunReportDocument(_Shape):
    """The report of one run."""

    rop_version: Literal["rop/v1"]
    declaration_id: str | None
    manifest_sha256: Sha256 | None
    mode: str | None
    run_status: RunStatus
    expected: _Count | None
    observed: _Count
    verdicts: RunVerdicts
    evaluable: _Count
    pass_fraction: _Fraction | None
    missing_record_ids: list[str]
    duplicate_record_ids: list[str]
    unexpected_record_ids: list[str]
    malformed_observations: list[MalformedObservation]
    declaration_errors: list[DeclarationError]
    diagnostics: Diagnostics = Field(default_factory=_absent)
    incomplete: Annotated[
        list[Text],
        Field(default_factory=_absent, description="Why a live run's report, or its journal, lacks something."),
    ]
    records: list[RecordReport] = Field(default_factory=_absent)
