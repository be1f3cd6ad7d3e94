"""The result of the checks on one handoff: verdict, loss, findings, scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Final, Self

from rop_otel.core.handoff.frozen import dataclass
from rop_otel.core.profile.verdicts import Verdict as Verdict

Scores = Mapping[str, float]
"""Measure name (``recall@5``, ``rr``, ``ndcg@10``, ``precision@5``) to value; empty where nothing is scored."""


class DropCause(StrEnum):
    """Why a selected object did not reach the reader.

    Args:
        code: The cause, for programs.
        words: What happened, as a part of a sentence.
    """

    words: str

    def __new__(cls, code: str, words: str) -> Self:
        """Return a cause that knows its words."""
        row = str.__new__(cls, code)
        row._value_ = code
        row.words = words
        return row

    NO_TEXT = "no_text", "none of its text was shown"
    BELOW_CUTOFF = "below_cutoff", "it was shown, but past the cutoff"
    UNOBSERVED_STAGE = "unobserved_stage", "the stage was not seen, or its IDs were not read"
    BEYOND_RECORDED_DEPTH = "beyond_recorded_depth", "the list is longer than what was recorded of it"
    NEVER_RETRIEVED = (
        "never_retrieved",
        "no list holds it; compare the IDs first, they may be random or those of chunks",
    )
    UNUSED = "unused", "nothing took the list that holds it"
    SILENT_CUT = "silent_cut", "code before the stage cut the list"
    FUSED_OUT = "fused_out", "fusion left it out"
    TRUNCATED = "truncated", "the cut left it out"
    RERANKED_AWAY = "reranked_away", "the reranker put it too low"
    DIVERSIFIED_AWAY = "diversified_away", "passages that differ were preferred"
    DISPLACED = "displaced", "expansion displaced it"
    REORDERED_AWAY = "reordered_away", "the reorder dropped it"
    NO_SENTENCE_KEPT = "no_sentence_kept", "no sentence of it was kept"
    OVER_BUDGET = "over_budget", "packing left it out"
    DROPPED = "dropped", "the stage dropped it"


class Basis(StrEnum):
    """How a shown list is known, the strongest first."""

    RECORDED = "recorded"
    PROMPT = "prompt"
    ASSUMED = "assumed"
    LAST_LIST = "last_list"


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Joint(StrEnum):
    """Which of both targets the shown list holds: the selected object, a judged one."""

    BOTH = "both"
    SELECTED_ONLY = "selected_only"
    JUDGED_ONLY = "judged_only"
    NEITHER = "neither"


class FindingCode(StrEnum):
    """What a finding is about; each family of findings is an enumeration of its own, with one row for each code.

    Args:
        code: The code.
        severity: How much it matters, unless a finding says otherwise.
        message: One sentence, with places for the stage, the IDs, the labels and other values.
    """

    severity: Severity
    message: str

    def __new__(cls, code: str, severity: Severity, message: str) -> Self:
        """Return a code that knows its row."""
        row = str.__new__(cls, code)
        row._value_ = code
        row.severity, row.message = severity, message
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, or should be checked, at one stage.

    Args:
        code: The code of its kind.
        severity: How much it matters.
        stage: Kind of the stage (or the declared stage that is missing).
        name, round: Of the stage; None where not known.
        ids, labels: Sorted by code point.
        message: One sentence with the values in it.
        span_id: The span of that stage; None where no stage ran. It is no part of the contract.
    """

    code: FindingCode
    severity: Severity
    stage: str
    name: str | None = None
    round: int | None = None
    ids: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    message: str
    span_id: str | None = field(default=None, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract."""
        return {
            "code": self.code.value,
            "severity": self.severity.value,
            "stage": self.stage,
            "name": self.name,
            "round": self.round,
            "ids": list(self.ids),
            "labels": list(self.labels),
            "message": self.message,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Where and why an object was lost.

    Args:
        cause: The drop cause.
        stage, name, round: The stage at which it was lost; None where no stage can be blamed.
        span_id: The span of that stage; None where no stage ran. It is no part of the contract.
    """

    cause: DropCause
    stage: str | None = None
    name: str | None = None
    round: int | None = None
    span_id: str | None = field(default=None, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract."""
        return {
            "dropped_at": self.stage,
            "dropped_at_name": self.name,
            "dropped_at_round": self.round,
            "drop_cause": self.cause.value,
        }


_NO_DROP: Final = {"dropped_at": None, "dropped_at_name": None, "dropped_at_round": None, "drop_cause": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLoss:
    """A judged object that the reader was not shown.

    Args:
        id: The first of its IDs that was judged relevant.
        drop: Where and why it was lost.
    """

    id: str
    drop: Drop

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract."""
        return {"id": self.id, **self.drop.as_dict()}


@dataclass(frozen=True, slots=True, kw_only=True)
class StageScores:
    """One execution of a stage, with the size and scores of its list.

    Args:
        stage, name, round: Kind, name and round of the stage.
        returned: True count of returned IDs; None where unreadable.
        present: Whether the recorded list holds the selected object; None without a usable selection, where the
            list is unreadable, or where it is cut and the recorded part does not hold it.
        implementation: What really ran, None where not recorded.
        fallback: Whether the stage ran its fallback.
        query_form: How a source's query was built, None where not recorded.
        selected, judged: Scores; empty where nothing is scored.
    """

    stage: str
    name: str | None = None
    round: int | None = None
    returned: int | None = None
    present: bool | None = None
    implementation: str | None = None
    fallback: bool = False
    query_form: str | None = None
    selected: Scores = field(default_factory=dict)
    judged: Scores = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract."""
        return {
            "stage": self.stage,
            "name": self.name,
            "round": self.round,
            "returned": self.returned,
            "implementation": self.implementation,
            "fallback": self.fallback,
            "query_form": self.query_form,
            "selected": dict(self.selected),
            "judged": dict(self.judged),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The known part of what the reader was shown.

    Args:
        ids: In order; empty where nothing usable was shown.
        basis: How the list is known; None where none is usable.
        selected, judged: Scores of it; empty where nothing is scored.
    """

    ids: tuple[str, ...] = ()
    basis: Basis | None = None
    selected: Scores = field(default_factory=dict)
    judged: Scores = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract."""
        return {
            "ids": list(self.ids),
            "basis": self.basis.value if self.basis else None,
            "selected": dict(self.selected),
            "judged": dict(self.judged),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceShown:
    """How much of the shown list one source returned.

    Args:
        stage, name: Kind and name of the source.
        shown: How many different IDs of the known shown list it returned.
        only: How many of them no other source returned.
    """

    stage: str
    name: str | None = None
    shown: int = 0
    only: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationCounts:
    """Citations of the answer by outcome, repeats counted."""

    resolved: int = 0
    unresolved: int = 0
    misattributed: int = 0
    unattached: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The assessment of one handoff. ``str()`` of it is one sentence.

    Args:
        handoff_name, handoff_id, trace_id, record_id, run_id: Identify the handoff.
        mode: The mode in force; as recorded where it is invalid.
        verdict: None where the handoff was not assessed here.
        selected_rank: Rank in the known shown list, 1-based; None where it has none.
        drop: Where it was lost; for a FAIL only.
        agreement: Whether a selected object is a judged one; None without a usable selection or judged objects.
        joint: Which of both targets the shown list holds; None where one is absent or undecided.
        judged_losses: The judged objects that the shown list lacks; None where this is not known.
        findings: By stage order, then code.
        stages: In order, without readers and without stages left out.
        shown: The known shown list.
        citations: Citations by outcome.
        note: Why there is no verdict, or why it is ``UNVERIFIABLE``.
    """

    handoff_name: str
    handoff_id: str = ""
    trace_id: str = ""
    record_id: str | None = None
    run_id: str | None = None
    mode: str = "open"
    verdict: Verdict | None = None
    selected_rank: int | None = None
    drop: Drop | None = None
    agreement: bool | None = None
    joint: Joint | None = None
    judged_losses: tuple[JudgedLoss, ...] | None = None
    findings: tuple[Finding, ...] = ()
    stages: tuple[StageScores, ...] = ()
    shown: Shown = field(default_factory=Shown)
    sources: tuple[SourceShown, ...] = ()
    citations: CitationCounts = field(default_factory=CitationCounts)
    note: str | None = None

    @property
    def dropped_at(self) -> str | None:
        """Kind of the stage at which the selected object was lost; None for anything but such a FAIL."""
        return self.drop.stage if self.drop else None

    @property
    def drop_cause(self) -> DropCause | None:
        """Why it was lost; None for anything but a FAIL."""
        return self.drop.cause if self.drop else None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract."""
        return {
            "handoff_id": self.handoff_id,
            "trace_id": self.trace_id,
            "handoff_name": self.handoff_name,
            "record_id": self.record_id,
            "run_id": self.run_id,
            "mode": self.mode,
            "verdict": self.verdict.value if self.verdict else None,
            "selected_rank": self.selected_rank,
            **(self.drop.as_dict() if self.drop else _NO_DROP),
            "findings": [finding.as_dict() for finding in self.findings],
            "agreement": self.agreement,
            "joint": self.joint.value if self.joint else None,
            "judged_losses": None if self.judged_losses is None else [each.as_dict() for each in self.judged_losses],
            "stages": [stage.as_dict() for stage in self.stages],
            "shown": self.shown.as_dict(),
        }

    def __str__(self) -> str:
        return f"{self.handoff_name}: {self._verdict_words()}{self._finding_words()}"

    def _verdict_words(self) -> str:
        if self.verdict is None:
            return f"not assessed, {self.note}"
        if self.verdict is Verdict.PASS:
            where = f" at rank {self.selected_rank}" if self.selected_rank else ""
            return f"PASS, {VERDICT_WORDS[self.verdict]}{where}"
        if self.verdict is Verdict.FAIL:
            place = f" at {self.dropped_at}" if self.dropped_at else ""
            why = f": {self.drop_cause.words}" if self.drop_cause else ""
            return f"FAIL, the selected object was lost{place}{why}"
        return f"{self.verdict.value}, {self.note or VERDICT_WORDS[self.verdict]}"

    def _finding_words(self) -> str:
        if not self.findings:
            return ""
        named = ", ".join(f"{finding.code} at {finding.stage}" for finding in self.findings[:3])
        more = len(self.findings) - 3
        return f"; findings: {named}" + (f" and {more} more" if more > 0 else "")


VERDICT_WORDS: Final = {
    Verdict.PASS: "the selected object reached the reader",
    Verdict.FAIL: "the selected object did not reach the reader, for certain",
    Verdict.DECLARATION_INVALID: "mode, need, rule or cutoff is not allowed, or is not the one of the declaration",
    Verdict.NOT_APPLICABLE: "no selected object was required to reach the reader",
    Verdict.SELECTOR_ERROR: "a selection was due and no usable one came",
    Verdict.RESOLUTION_ERROR: "the resolver does not know the selected object",
    Verdict.UNVERIFIABLE: "what the reader was shown is not known well enough",
}
