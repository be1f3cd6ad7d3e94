"""What looks wrong with how a handoff is watched, and what to change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from rop_otel.core.checkup.watched_facts import in_order
from rop_otel.core.handoff import Assessment, HandoffRecord, StageRecord, Verdict, kinds
from rop_otel.core.handoff.assessment import Basis, DropCause
from rop_otel.core.handoff.findings.making import named
from rop_otel.core.handoff.shown_list import UNSEEN, list_is_cut
from rop_otel.core.handoff.unverifiable import NOT_AT_HAND

_RANDOM: Final = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")
"""A random UUID (version 4)."""

_BEHIND: Final = re.compile(r"[#:/_@|.\-\s]")
"""What stands between the ID of a document and the number of its chunk."""


class SymptomCode(StrEnum):
    """What looks wrong.

    Args:
        code: The code.
        grave: Whether it makes the verdict meaningless.
        seen: What is seen, with places for values.
        advice: What to change.
    """

    grave: bool
    seen: str
    advice: str

    def __new__(cls, code: str, grave: bool, seen: str, advice: str) -> Self:
        """Return a code that knows its row."""
        row = str.__new__(cls, code)
        row._value_ = code
        row.grave, row.seen, row.advice = grave, seen, advice
        return row

    NO_STAGE = (
        "no_stage",
        True,
        "no stage ran in the handoff",
        "decorate the retrieval functions with @rop.stage, and run those in threads and executors by carry_context",
    )
    UNREADABLE = (
        "unreadable",
        True,
        "no ID could be read of what stage {stage} returned",
        "name where a document has its ID: id= at the stage, id_keys= in a package",
    )
    CHUNKS = (
        "chunks",
        True,
        "stage {stage} returns IDs such as {id}, but the selection is {selected}",
        "give a resolver that lists the chunks of each document, or read the document's ID with id= or id_keys=",
    )
    RANDOM_IDS = (
        "random_ids",
        True,
        "stage {stage} returns random IDs such as {id}, but the selection is {selected}",
        "name the key of the metadata that holds a lasting ID: id= at the stage, id_keys= in a package",
    )
    NEVER_SELECTED = (
        "never_selected",
        False,
        "nothing is selected, so that there is no verdict",
        "give selected= to the handoff, or selected_by= or selected_key= to the package",
    )
    EMPTY_SELECTION = (
        "empty_selection",
        True,
        "a selection was due and none came, or one that is no ID",
        "select an ID, or leave selected= out where no object is selected",
    )
    UNKNOWN_SELECTION = (
        "unknown_selection",
        True,
        "the resolver does not know the selection {selected}",
        "give the resolver of the corpus that is searched, or select one of its objects",
    )
    RESOLVER_ABSENT = (
        "resolver_absent",
        True,
        "the resolver that the handoff names was not given here",
        "give the resolver in force: resolver= or --resolver",
    )
    INVALID_TERMS = (
        "invalid_terms",
        True,
        "the mode, need, rule or cutoff of the handoff cannot be used",
        "see the arguments of rop.handoff, and the declaration in force",
    )
    NOT_IN_PROMPT = (
        "not_in_prompt",
        True,
        "the prompt holds no text of any document that stage {stage} packed",
        "look at the template and its variables; set shows=rewritten if the prompt shows documents in another form",
    )
    CUT = (
        "cut",
        True,
        "the list of stage {stage} was recorded in part, so that it does not decide",
        "raise max_ids, or the limit on the length of attribute values",
    )
    FAILED_PACKING = (
        "failed_packing",
        True,
        "what the reader was shown is not known: {note}",
        "let the packing stage end in the handoff, without an exception",
    )
    NO_PACKING = (
        "no_packing",
        False,
        "no packing stage ran, so that the last list counts as shown",
        "make the function that builds the prompt a packing stage, with stage.shown_in(prompt, documents)",
    )
    ASSUMED = (
        "assumed",
        False,
        "what the prompt shows is assumed, not seen",
        "leave shows=rewritten out where the prompt holds the documents' own text",
    )
    RESCUE_ALONE = (
        "rescue_alone",
        False,
        "a rescue ran without a packing",
        "make what builds the prompt a packing stage; a rescue adds to one",
    )
    READER_FIRST = (
        "reader_first",
        False,
        "a reader ran before any packing",
        "let the packing stage end before the answer is reported",
    )
    UNREAD_LABELS = (
        "unread_labels",
        False,
        "the answer cites {labels}, but no label of the prompt was read",
        "give labels= to the packing stage, or label_pattern= to the package",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One thing that looks wrong.

    Args:
        code: What.
        seen: What is seen, one sentence without its full stop.
    """

    code: SymptomCode
    seen: str


def symptoms(record: HandoffRecord, assessment: Assessment) -> tuple[Symptom, ...]:
    """Return what looks wrong with how a handoff is watched, the worst first; empty where nothing does.

    Args:
        record: The facts.
        assessment: Their assessment.
    """
    found = [*_of_terms(record, assessment), *_of_stages(record, assessment), *_of_labels(record)]
    order = list(SymptomCode)
    unique = {symptom.code: symptom for symptom in reversed(found)}
    return tuple(sorted(unique.values(), key=lambda each: (not each.code.grave, order.index(each.code))))


def _symptom(code: SymptomCode, **values: str) -> Symptom:
    return Symptom(code=code, seen=code.seen.format(**values))


def _of_terms(record: HandoffRecord, assessment: Assessment) -> Iterator[Symptom]:
    """Yield what looks wrong with the selection and with the terms of its assessment."""
    verdict = assessment.verdict
    if verdict is Verdict.SELECTOR_ERROR:
        yield _symptom(SymptomCode.EMPTY_SELECTION)
    elif record.selected is None:
        yield _symptom(SymptomCode.NEVER_SELECTED)
    elif verdict is Verdict.RESOLUTION_ERROR:
        yield _symptom(SymptomCode.UNKNOWN_SELECTION, selected=named(record.selected[0]))
    if verdict is Verdict.DECLARATION_INVALID:
        yield _symptom(SymptomCode.INVALID_TERMS)
    if verdict is Verdict.UNVERIFIABLE and (assessment.note or "").endswith(NOT_AT_HAND):
        yield _symptom(SymptomCode.RESOLVER_ABSENT)


def _of_stages(record: HandoffRecord, assessment: Assessment) -> Iterator[Symptom]:
    """Yield what looks wrong with what the stages returned."""
    stages = [stage for stage in in_order(record.stages) if stage.kind != kinds.READER]
    if not stages:
        yield _symptom(SymptomCode.NO_STAGE)
        return
    showing = [stage for stage in stages if stage.kind in kinds.SHOWING]
    for stage in stages:
        if stage.returned is None and not stage.failed:
            yield _symptom(SymptomCode.UNREADABLE, stage=_name(stage))
    for stage in showing:
        if stage.basis == UNSEEN:
            yield _symptom(SymptomCode.NOT_IN_PROMPT, stage=_name(stage))
    if assessment.shown.basis is Basis.ASSUMED:
        yield _symptom(SymptomCode.ASSUMED)
    yield from _of_packing(record, assessment, showing)
    if assessment.drop_cause is DropCause.NEVER_RETRIEVED:
        yield from _of_ids(record, stages)


def _of_packing(record: HandoffRecord, assessment: Assessment, showing: list[StageRecord]) -> Iterator[Symptom]:
    packings = [stage for stage in showing if stage.kind == kinds.PACKING]
    if not showing:
        yield _symptom(SymptomCode.NO_PACKING)
    elif not packings:
        yield _symptom(SymptomCode.RESCUE_ALONE)
    readers = [stage for stage in record.stages if stage.kind == kinds.READER and stage.end_ns is not None]
    if packings and readers:
        first = min(stage.end_ns or 0 for stage in readers)
        if all(stage.end_ns is None or stage.end_ns > first for stage in packings):
            yield _symptom(SymptomCode.READER_FIRST)
    if assessment.verdict is Verdict.UNVERIFIABLE:
        if packings and all(stage.failed or stage.end_ns is None or stage.end_ns > record.end_ns for stage in packings):
            yield _symptom(SymptomCode.FAILED_PACKING, note=assessment.note or "its packing failed")
        cut = next(
            (stage for stage in showing or record.stages if stage.returned is not None and list_is_cut(stage)), None
        )
        if cut is not None:
            yield _symptom(SymptomCode.CUT, stage=_name(cut))


def _of_ids(record: HandoffRecord, stages: list[StageRecord]) -> Iterator[Symptom]:
    """Yield what looks wrong with the IDs, where no stage returned what was selected."""
    for selected in record.selected or ():
        for stage in stages:
            ids = stage.returned or ()
            chunk = next((raw for raw in ids if raw.startswith(selected) and _BEHIND.match(raw, len(selected))), None)
            if chunk is not None:
                values = {"stage": _name(stage), "id": named(chunk), "selected": named(selected)}
                yield _symptom(SymptomCode.CHUNKS, **values)
            if ids and not _RANDOM.fullmatch(selected) and all(map(_RANDOM.fullmatch, filter(None, ids))):
                values = {"stage": _name(stage), "id": named(ids[0]), "selected": named(selected)}
                yield _symptom(SymptomCode.RANDOM_IDS, **values)


def _of_labels(record: HandoffRecord) -> Iterator[Symptom]:
    cited: tuple[str, ...] = next((stage.citations for stage in record.stages if stage.citations), ())
    if cited and not any(stage.labels for stage in record.stages if stage.kind != kinds.READER):
        shown = ", ".join(map(named, dict.fromkeys(cited[:3])))
        yield _symptom(SymptomCode.UNREAD_LABELS, labels=shown)


def _name(stage: StageRecord) -> str:
    return stage.name or stage.kind
