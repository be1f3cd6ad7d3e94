"""The resolver and the reports as pydantic models, for their JSON Schemas; the code that makes them holds to these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rop_otel.core.profile.declaration_models import Sha256, Text
from rop_otel.core.profile.joint import Agreement
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
    agreement: Agreement | None
    trace_rank: Annotated[int, Field(ge=1)] | None
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
    MISSING: _Count


class Evaluator(_Shape):
    """What made the report."""

    name: Literal["rop-otel"]
    version: Text


class InputFile(_Shape):
    """A file that was assessed: its own name, and the size and hash of its bytes as stored."""

    file: Text
    bytes: _Count
    sha256: Sha256


class AgreementCounts(_Shape):
    """Records that pass or fail, by how the selection relates to the judged objects."""

    same: _Count
    different: _Count
    no_trace: _Count
    unresolvable: _Count


class OutcomeCounts(_Shape):
    """Records by what lies within a cutoff: the selection by the rule, any of the judged objects."""

    both: _Count
    selected_only: _Count
    trace_only: _Count
    neither: _Count


class JointAtCutoff(_Shape):
    """Outcomes of the records whose selection is a judged object, and of those whose selection is another."""

    same: OutcomeCounts
    different: OutcomeCounts


class JointOutcomes(_Shape):
    """Selections and judged objects in the same rankings."""

    field: Text
    sealed: bool
    agreement: AgreementCounts
    at: dict[str, JointAtCutoff]


class Failures(_Shape):
    """Records that fail at a cutoff, by why; of those past it the near ones, of the absent those with a short list."""

    past_cutoff: _Count
    near: _Count
    absent: _Count
    nonmatch: _Count | None


class Partition(_Shape):
    """Failures at each cutoff, and what they are counted by."""

    depth: Annotated[int, Field(ge=1)] | None
    sealed: bool | None
    near: Annotated[int, Field(ge=1)] | None
    at: dict[str, Failures]


class Diagnostics(_Shape):
    """What hard mode would give, in a report of another mode; it never decides a status."""

    expected: _Count | None
    verdicts: Verdicts
    evaluable: _Count
    pass_fraction: _Fraction | None
    missing_record_ids: list[str]
    duplicate_record_ids: list[str]
    unexpected_record_ids: list[str]


class RunReportDocument(_Shape):
    """The report of one run."""

    rop_version: Literal["rop/v1"]
    declaration_id: str | None
    manifest_sha256: Sha256 | None
    mode: str | None
    evaluator: Evaluator
    query_form: str | None
    inputs: list[InputFile]
    run_status: RunStatus
    expected: _Count | None
    observed: _Count
    verdicts: Verdicts
    evaluable: _Count
    pass_fraction: _Fraction | None
    joint: JointOutcomes | None
    partition: Partition | None
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
