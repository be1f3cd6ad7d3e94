"""One observed record, as a run hands it to the checks, and their result."""

from __future__ import annotations

from dataclasses import dataclass

from rop_otel.core.profile.declaration import Declaration
from rop_otel.core.profile.fieldpath import ABSENT, FieldPath
from rop_otel.core.profile.joint import Agreement
from rop_otel.core.profile.verdicts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The fields of one record that the checks read, whatever door they came through.

    Args:
        record_id: A non-empty string.
        selection: The selected key or a list of alternatives, or the witness; whatever the record holds there.
        witness_hash: What binds a witness to the record.
        returned: The returned IDs in rank order; whatever the record holds there.
        traced: The dataset's judged objects, one key or a list; whatever the record holds there.
        contradiction: Why it contradicts the declaration, for a handoff with other terms; None if it does not.
    """

    record_id: str
    selection: object = ABSENT
    witness_hash: object = ABSENT
    returned: object = ABSENT
    traced: object = ABSENT
    contradiction: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """The result of the checks on one record.

    Args:
        verdict: The first that applies.
        check: The name of the check that gave it.
        reason: One sentence with the values in it.
        rank: Length of the shortest prefix of the whole returned list on which the rule holds; PASS and FAIL only.
        object_id: The object that it holds for.
        agreement: How the selection relates to the judged objects; None without a trace set.
        trace_rank: As ``rank``, for one of the judged objects; None also where they are not known.
    """

    verdict: Verdict
    check: str
    reason: str
    rank: int | None = None
    object_id: str | None = None
    agreement: Agreement | None = None
    trace_rank: int | None = None


def observe(
    record: object, record_id: str, declaration: Declaration, *, trace_field: FieldPath | None = None
) -> Observation:
    """Read out of a parsed record what the checks of a declaration need, and its judged objects where a path is given.

    Args:
        record: As JSON gives it.
        record_id: Its ID.
        declaration: A valid one.
        trace_field: Where it carries its judged objects; None where there is no trace set.
    """
    witness = declaration.witness
    return Observation(
        record_id=record_id,
        selection=declaration.selection_field.read(record),
        witness_hash=ABSENT if witness is None else witness.hash_field.read(record),
        returned=declaration.output_field.read(record),
        traced=ABSENT if trace_field is None else trace_field.read(record),
    )
