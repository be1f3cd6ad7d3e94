"""What looks wrong with how recorded handoffs are watched, over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rop_otel.core.checkup import SymptomCode, symptoms, watched
from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.replay.handoff_report import Report


@dataclass(slots=True)
class _Seen:
    """One symptom over many handoffs: how many have it, and the first."""

    handoffs: int
    first: str
    seen: str


@dataclass(slots=True)
class NamedCheckup:
    """The handoffs of one name.

    Args:
        watched: What is seen of the first one, in words.
        handoffs: How many there are.
        verdicts: How many have each verdict.
        symptoms: What looks wrong.
    """

    watched: str
    handoffs: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    symptoms: dict[SymptomCode, _Seen] = field(default_factory=dict)

    def add(self, record: HandoffRecord, assessment: Assessment) -> None:
        """Add one handoff."""
        self.handoffs += 1
        self.verdicts[assessment.verdict.value if assessment.verdict else "none"] += 1
        for symptom in symptoms(record, assessment):
            known = self.symptoms.setdefault(symptom.code, _Seen(0, record.handoff_id, symptom.seen))
            known.handoffs += 1

    @property
    def grave(self) -> bool:
        """Whether something makes verdicts meaningless."""
        return any(map(self.is_grave, self.symptoms))

    def is_grave(self, code: SymptomCode) -> bool:
        """Return whether a symptom makes verdicts meaningless; a selection that is missing now and then does not."""
        if code is SymptomCode.EMPTY_SELECTION:
            return self.symptoms[code].handoffs == self.handoffs
        return code.grave

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON; the symptoms that most handoffs have, and the grave ones, first."""
        return {
            "watched": self.watched,
            "handoffs": self.handoffs,
            "verdicts": dict(sorted(self.verdicts.items())),
            "symptoms": [
                {
                    "code": code.value,
                    "grave": self.is_grave(code),
                    "handoffs": each.handoffs,
                    "first": each.first,
                    "seen": each.seen,
                    "advice": code.advice,
                }
                for code, each in self.ordered()
            ],
        }

    def ordered(self) -> list[tuple[SymptomCode, _Seen]]:
        """Return the symptoms, the grave ones first, then those of most handoffs."""
        return sorted(
            self.symptoms.items(), key=lambda each: (not self.is_grave(each[0]), -each[1].handoffs, each[0].value)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """Recorded handoffs by name, and what belongs to none.

    Args:
        names: By the handoffs' names, in the order of their first handoffs.
        orphan_stages: Stage spans that belong to no handoff.
        incomplete: IDs of handoffs whose own span is missing.
        duplicates: IDs of handoff spans whose ID another one had before.
        unreadable: Spans of others that cannot be read.
    """

    names: dict[str, NamedCheckup]
    orphan_stages: int = 0
    incomplete: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    unreadable: int = 0

    @property
    def grave(self) -> bool:
        """Whether there is no handoff, or something makes verdicts meaningless."""
        return not self.names or any(each.grave for each in self.names.values())

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "handoffs": [{"handoff_name": name, **each.as_dict()} for name, each in self.names.items()],
            "remarks": self.remarks(),
        }

    def remarks(self) -> list[str]:
        """Return what is to be said of spans that belong to no assessed handoff, a sentence each."""
        remarks = []
        if not self.names:
            remarks.append("There is no handoff: open one with rop.handoff around all that is done for one question.")
        if self.orphan_stages:
            remarks.append(
                f"Stages that belong to no handoff: {self.orphan_stages:,}. Open one around them, and carry the context"
                " into threads and other services."
            )
        if self.incomplete:
            remarks.append(
                f"Handoffs without a span of their own: {len(self.incomplete):,}. It was lost, or they never ended."
            )
        if self.duplicates:
            remarks.append(f"Handoff spans with an ID that another one had before: {len(self.duplicates):,}.")
        if self.unreadable:
            remarks.append(f"Spans of others that cannot be read: {self.unreadable:,}.")
        return remarks


def check_up(report: Report) -> Checkup:
    """Return what looks wrong with how the handoffs of a report are watched."""
    names: dict[str, NamedCheckup] = {}
    pairs: Iterable[tuple[HandoffRecord, Assessment]] = zip(report.handoffs, report.assessments, strict=True)
    for record, assessment in pairs:
        named = names.get(record.name)
        if named is None:
            named = names[record.name] = NamedCheckup(str(watched(record)))
        named.add(record, assessment)
    return Checkup(
        names=names,
        orphan_stages=report.orphan_stages,
        incomplete=report.incomplete,
        duplicates=report.duplicates,
        unreadable=report.unreadable,
    )
