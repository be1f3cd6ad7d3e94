"""The closed sets of ROP v1: one verdict per observed record, one status per run, each in the order of its checks."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """ROP's seven record verdicts, in the order in which they are checked."""

    DECLARATION_INVALID = "DECLARATION_INVALID"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    SELECTOR_ERROR = "SELECTOR_ERROR"
    RESOLUTION_ERROR = "RESOLUTION_ERROR"
    UNVERIFIABLE = "UNVERIFIABLE"
    PASS = "PASS"
    FAIL = "FAIL"


class RunStatus(StrEnum):
    """ROP's five run statuses, in the order in which they are checked."""

    RUN_INVALID = "RUN_INVALID"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    RUN_FAIL = "RUN_FAIL"
    RUN_UNVERIFIABLE = "RUN_UNVERIFIABLE"
    RUN_PASS = "RUN_PASS"
