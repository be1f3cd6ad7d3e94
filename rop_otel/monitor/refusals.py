"""What is refused of a request, answered to its sender, and kept beside the spans that were taken in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rop_otel import semconv
from rop_otel.core.handoff.gaps import Gap
from rop_otel.spans import Span
from rop_otel.spans.refused import TRACE_ID, Refused

FULL: Final = "a trace has more spans than are kept of one"
"""Why spans are refused that can be read."""


class Answer(NamedTuple):
    """What a sender is answered whose request was taken in.

    Args:
        rejected: How many of its spans were refused.
        message: Why; empty where none was.
    """

    rejected: int = 0
    message: str = ""


def answer_to(refused: Sequence[Refused]) -> Answer:
    """Return the answer to a request of which spans are refused; there may be none."""
    return Answer(len(refused), "; ".join(sorted({each.reason for each in refused})))


def gaps_of(refused: Iterable[Refused]) -> list[Span]:
    """Return the spans that say that spans are missing: one for each trace, and for each handoff that they name.

    They are kept like any other span, so that a verdict knows of the gap whenever and by whomever it is worked out. A
    span that neither has a trace nor names a handoff belongs to nothing, and leaves none.
    """
    places = dict.fromkeys((each.trace_id, each.handoff_id) for each in refused)
    return [
        _gap(trace_id if TRACE_ID.fullmatch(trace_id) else _digits(f"gap {handoff_id}", 32), handoff_id)
        for trace_id, handoff_id in places
        if handoff_id is not None or TRACE_ID.fullmatch(trace_id)
    ]


def is_gap(span: Span) -> bool:
    """Return whether a span says that others are missing."""
    return span.name == semconv.SPAN_GAP


def _gap(trace_id: str, handoff_id: str | None) -> Span:
    named = {} if handoff_id is None else {semconv.HANDOFF_ID: handoff_id}
    return Span(
        trace_id=trace_id,
        span_id=_digits(f"gap {trace_id} {handoff_id}", 16),
        name=semconv.SPAN_GAP,
        kind=1,
        scope=semconv.SCOPE_NAME,
        attributes={semconv.GAPS: [Gap.REFUSED.value], **named},
    )


def _digits(text: str, count: int) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:count]
