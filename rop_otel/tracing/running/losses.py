"""Tells the application's log which handoffs went wrong, so that a terminal is all that it takes to see it."""

from __future__ import annotations

import logging
from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff import Assessment, Ids, Severity, Verdict

_logger = logging.getLogger("rop_otel.handoffs")
_LOST: Final = frozenset({Verdict.FAIL, Verdict.SELECTOR_ERROR})
_HANDOFF_ID: Final = semconv.label(semconv.HANDOFF_ID)
_MOST: Final = 3
"""Declared alternatives that a line names."""


def tell(assessment: Assessment, selected: Ids | None) -> None:
    """Log one line at INFO where the selected object is known not to have reached the reader, or never came.

    So too where a finding is an error: an object that arrives beside the passage of another tenant is a PASS.

    Args:
        assessment: What was concluded.
        selected: The selection as it was recorded: hashed where there is a key.
    """
    wrong = assessment.verdict in _LOST or any(each.severity is Severity.ERROR for each in assessment.findings)
    if wrong and _logger.isEnabledFor(logging.INFO):
        _logger.info("%s%s", assessment, _named(selected), extra={_HANDOFF_ID: assessment.handoff_id})


def _named(selected: Ids | None) -> str:
    if not selected:
        return ""
    more = len(selected) - _MOST
    return f"; selected: {', '.join(map(repr, selected[:_MOST]))}" + (f" and {more} more" if more > 0 else "")
