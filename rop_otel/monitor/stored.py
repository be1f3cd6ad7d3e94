"""One assessed handoff in the form in which it is kept."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.core.handoff.sums import Sums
from rop_otel.core.handoff.totals import Spot
from rop_otel.monitor.store import NONE, StoredHandoff
from rop_otel.page.document import marked, marks_of, place_of, row_of

_LONGEST: Final = 256
"""Characters of a text that a row shows as a whole; of a longer one it shows the beginning and a hash."""

_MOST_ITEMS: Final = 100
"""Items of a list that a row shows; IDs beyond are not found, either."""


def stored_handoff(
    record: HandoffRecord, assessment: Assessment, *, service: str | None, observation: bytes | None = None
) -> StoredHandoff:
    """Return an assessed handoff as it is kept.

    Args:
        record: The facts.
        assessment: What they amount to.
        service: The service of the handoff's span; None where it has none.
        observation: Its line in the records of the declared run; None where it belongs to none.
    """
    row = bounded(row_of(assessment, record, service))
    marks = marks_of(assessment)
    spots = list(marks)
    spots[_MOST_ITEMS - 1 : -1] = ()  # the last is what the reader was shown
    row["stages"] = bounded([list(spot) for spot in spots])
    row |= marked(marks, spots)
    drop = assessment.drop
    return StoredHandoff(
        handoff_id=row["handoff_id"],
        trace_id=record.trace_id,
        name=row["handoff_name"],
        service=row["service"] or NONE,
        run_id=row["run_id"] or NONE,
        verdict=row["verdict"] or NONE,
        at=None if drop is None else place_of(Spot(*bounded([drop.stage, drop.name, drop.round]))) or NONE,
        cause=row["drop_cause"] or NONE,
        record_id=row["record_id"],
        objects=tuple(dict.fromkeys([*(row["selected"] or ()), *(row["judged"] or ())])),
        findings=tuple((code, stage) for code, stage in row["findings"]),
        row=row,
        sums=_sums(assessment),
        observation=observation,
    )


def short(text: str) -> str:
    """Return a text that a row has room for, another one for each text: where it is too long, it ends with a hash."""
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return f"{text[: _LONGEST - 34]}… {digest[:32]}"


def bounded(value: Any) -> Any:
    """Return a value of JSON with short texts, and with lists of so many items."""
    if isinstance(value, str):
        return short(value)
    if isinstance(value, dict):
        return {name: bounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [bounded(each) for each in value[:_MOST_ITEMS]]
    return value


def _sums(assessment: Assessment) -> Sums:
    sums = Sums.of(assessment)
    names = [(stage.stage, stage.name) for stage in assessment.stages]
    names += [(finding.stage, finding.name) for finding in assessment.findings]
    if max((len(text) for name in names for text in name if text), default=0) <= _LONGEST:
        return sums
    return Sums.from_list(_shortened(sums.as_list()))


def _shortened(value: Any) -> Any:
    if isinstance(value, list):
        return [_shortened(each) for each in value]
    return short(value) if isinstance(value, str) else value
