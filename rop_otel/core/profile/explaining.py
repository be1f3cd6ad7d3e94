"""Why a record got its verdict: its selection, its returned IDs, and the check that decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rop_otel.core.escapes import readable
from rop_otel.core.profile.declaration import Declaration
from rop_otel.core.profile.fieldpath import ABSENT
from rop_otel.core.profile.joint import Comparison
from rop_otel.core.profile.judge import RECORD_CHECKS, Case, judge
from rop_otel.core.profile.observation import Judgment, Observation
from rop_otel.core.profile.verdicts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One returned ID.

    Args:
        rank: 1-based.
        raw: As it was returned; None where it is no string.
        object_id: What it resolves to, None where nothing owns it.
        acceptable: Whether that is a selected object.
    """

    rank: int
    raw: str | None
    object_id: str | None
    acceptable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One observed record explained.

    Args:
        record_id: The record.
        selection: The values of the selection field, none, one or several, each with the object to which it resolves.
        returned: Every returned ID in rank order; empty where there is no list.
        cutoff: How many of them the reader sees; None for an invalid declaration.
        rule: The membership rule; None likewise.
        judged: The judged objects under a sealed trace set, likewise; empty without one.
        judgment: The verdict and the check that gave it; under a trace set with the agreement and trace rank that the
            report has of a PASS or FAIL.
        hard_judgment: What hard mode gives, where the mode is another.
    """

    record_id: str
    selection: tuple[tuple[str, str | None], ...]
    returned: tuple[Slot, ...]
    judged: tuple[tuple[str, str | None], ...]
    cutoff: int | None
    rule: str | None
    judgment: Judgment
    hard_judgment: Judgment | None

    def lines(self) -> Iterator[str]:
        """Yield the explanation in words, for a terminal."""
        yield f"{readable(self.record_id)}: {self.judgment.verdict}"
        yield f"  because {self.judgment.reason} (check: {self.judgment.check})"
        if self.hard_judgment is not None:
            yield f"  in hard mode: {self.hard_judgment.verdict}, because {self.hard_judgment.reason}"
        for given, object_id in self.selection:
            yield f"  selected {_resolved(given, object_id)}"
        for given, object_id in self.judged:
            yield f"  judged {_resolved(given, object_id)}"
        if self.judgment.agreement is not None:
            at = "" if self.judgment.trace_rank is None else f", a judged object at rank {self.judgment.trace_rank}"
            yield f"  agreement of selected and judged: {self.judgment.agreement}{at}"
        if self.cutoff is None:
            return
        yield f"  returned, rule {self.rule!r}:"
        for slot in self.returned:
            mark = "*" if slot.acceptable else " "
            raw, what = _quoted(slot.raw), "no object" if slot.object_id is None else _quoted(slot.object_id)
            yield f"  {mark} {slot.rank:>4}  {raw} → {what}"
            if slot.rank == self.cutoff:
                yield f"    ---- cutoff {self.cutoff}: the reader sees nothing below ----"

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON shape."""
        return {
            "record_id": self.record_id,
            "verdict": str(self.judgment.verdict),
            "check": self.judgment.check,
            "reason": self.judgment.reason,
            "rank": self.judgment.rank,
            "hard_verdict": None if self.hard_judgment is None else str(self.hard_judgment.verdict),
            "selection": [{"given": given, "object_id": object_id} for given, object_id in self.selection],
            "judged": [{"given": given, "object_id": object_id} for given, object_id in self.judged],
            "agreement": self.judgment.agreement,
            "trace_rank": self.judgment.trace_rank,
            "rule": self.rule,
            "cutoff": self.cutoff,
            "returned": [
                {"rank": slot.rank, "id": slot.raw, "object_id": slot.object_id, "acceptable": slot.acceptable}
                for slot in self.returned
            ],
        }


def _resolved(given: str, object_id: str | None) -> str:
    return f"{_quoted(given)} → {_quoted(object_id)}" if object_id else f"{readable(given)} → no object"


def _quoted(raw: str | None) -> str:
    return repr(raw) if raw is None else readable(raw, write=repr)


def explain(observation: Observation, declaration: Declaration | None) -> Explanation:
    """Explain one record.

    Args:
        observation: What the record holds.
        declaration: None where it is invalid.
    """
    judgment = judge(observation, declaration)
    if declaration is None:
        return Explanation(
            record_id=observation.record_id,
            selection=(),
            returned=(),
            judged=(),
            cutoff=None,
            rule=None,
            judgment=judgment,
            hard_judgment=None,
        )
    case = Case(observation, declaration)
    judgment = _compared(case, judgment)
    applies = judgment.verdict is not Verdict.NOT_APPLICABLE
    return Explanation(
        record_id=observation.record_id,
        selection=tuple(_selection(case)),
        returned=tuple(_slots(case)),
        judged=tuple(_judged(case)),
        cutoff=declaration.cutoff,
        rule=declaration.rule,
        judgment=judgment,
        hard_judgment=None if applies else judge(observation, declaration, checks=RECORD_CHECKS),
    )


def _selection(case: Case) -> Iterator[tuple[str, str | None]]:
    keys = iter(case.keys)
    for item in case.given:
        if item is ABSENT:
            return
        text = isinstance(item, str)
        object_id = case.declaration.resolver.resolve(next(keys)) if text else None
        yield (item if isinstance(item, str) else repr(item)), object_id


def _judged(case: Case) -> Iterator[tuple[str, str | None]]:
    found = case.observation.traced
    for item in found if isinstance(found, list) else [found]:
        if item is not ABSENT:
            text = item if isinstance(item, str) else repr(item)
            yield text, case.declaration.resolver.resolve(item) if isinstance(item, str) else None


def _compared(case: Case, judgment: Judgment) -> Judgment:
    """Return a judgment with how it compares under a sealed trace set."""
    declaration = case.declaration
    if declaration.trace_field is None or judgment.verdict not in {Verdict.PASS, Verdict.FAIL}:
        return judgment
    comparison = Comparison(declaration.resolver)
    rank = judgment.rank or 0
    agreement, _, trace_rank = comparison.compare(case.keys, case.observation.traced, case.returned, rank=rank)
    return replace(judgment, agreement=agreement, trace_rank=trace_rank or None)


def _slots(case: Case) -> Iterator[Slot]:
    found = case.observation.returned
    resolver = case.declaration.resolver
    accepted = {resolver.resolve(key) for key in case.keys} - {None}
    for rank, item in enumerate(found if isinstance(found, list) else (), 1):
        raw = item if isinstance(item, str) else None
        object_id = None if raw is None else resolver.resolve(raw)
        yield Slot(rank=rank, raw=raw, object_id=object_id, acceptable=object_id in accepted)
