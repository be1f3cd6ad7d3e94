"""What the application says about a handoff when it opens one, checked so that every door judges it alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, cast

from rop_otel import semconv
from rop_otel.core.handoff import HandoffRecord, Ids, StageRecord
from rop_otel.core.idshape import NAME, IdShape
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.reading import Reader
from rop_otel.tracing.scalars import MOST_NAMED, as_count, as_id, as_name, as_score, plainly

Judged = str | Sequence[object] | Mapping[Any, object]
"""Judged objects: IDs or objects that carry one, or IDs with their grades."""

Complain = Callable[[str, str], None]

UNNAMED: Final = "unnamed"
"""A handoff whose name cannot be used."""

_READER = Reader()
_A_SHORT_TEXT: Final = "a non-empty string that is short enough for an ID, in one line"


@dataclass(slots=True, kw_only=True)
class Declared:
    """The facts of a handoff, in the words of :class:`HandoffRecord`; ``selected`` may still change."""

    name: str
    record_id: str | None = None
    run_id: str | None = None
    declaration_id: str | None = None
    declaration_sha256: str | None = None
    resolver_sha256: str | None = None
    mode: str | None = None
    selected: Ids | None = None
    rule: str | None = None
    cutoff: int | None = None
    judged: Ids | None = None
    grades: tuple[int, ...] = ()
    scope_id: str | None = None
    expected: tuple[str, ...] = ()
    starved_ratio: float | None = None
    complaints: dict[str, str] = field(default_factory=dict)
    """What was wrong with the arguments: one sentence for each that was."""

    def attributes(self) -> dict[str, str | int | float | tuple[str, ...] | tuple[int, ...]]:
        """Return the span attributes for what was said."""
        told = {
            semconv.RECORD_ID: self.record_id,
            semconv.RUN_ID: self.run_id,
            semconv.DECLARATION_ID: self.declaration_id,
            semconv.DECLARATION_SHA256: self.declaration_sha256,
            semconv.RESOLVER_SHA256: self.resolver_sha256,
            semconv.MODE: self.mode,
            semconv.SELECTED_IDS: self.selected,
            semconv.RULE: self.rule,
            semconv.CUTOFF: self.cutoff,
            semconv.JUDGED_IDS: self.judged,
            semconv.JUDGED_GRADES: self.grades or None,
            semconv.SCOPE_ID: self.scope_id,
            semconv.EXPECTED_STAGES: self.expected or None,
            semconv.STARVED_RATIO: self.starved_ratio,
        }
        return {name: value for name, value in told.items() if value is not None}

    def record(
        self,
        *,
        handoff_id: str,
        trace_id: str,
        span_id: str,
        stages: tuple[StageRecord, ...],
        start_ns: int,
        end_ns: int,
    ) -> HandoffRecord:
        """Return the facts beside what was observed of the handoff; the arguments are those of the record."""
        return HandoffRecord(
            name=self.name,
            handoff_id=handoff_id,
            trace_id=trace_id,
            span_id=span_id,
            record_id=self.record_id,
            run_id=self.run_id,
            declaration_id=self.declaration_id,
            declaration_sha256=self.declaration_sha256,
            resolver_sha256=self.resolver_sha256,
            mode=self.mode,
            selected=self.selected,
            rule=self.rule,
            cutoff=self.cutoff,
            judged=self.judged,
            grades=self.grades,
            scope_id=self.scope_id,
            expected=self.expected,
            starved_ratio=self.starved_ratio,
            stages=stages,
            start_ns=start_ns,
            end_ns=end_ns,
        )


def declare(
    name: object,
    *,
    cutoff: object = None,
    rule: object = None,
    mode: object = None,
    judged: Judged | None = None,
    grades: Sequence[object] | None = None,
    record_id: object = None,
    run_id: object = None,
    scope: object = None,
    expected: object = (),
    starved_ratio: object = None,
    shape: IdShape = NAME,
) -> Declared:
    """Return the facts, with a complaint for each argument that is none of the contract's.

    A mode, rule or cutoff of the wrong kind is kept as one that is invalid, so that the verdict says so; any other
    wrong argument is left out, and so is text where a name or an ID is meant: ``shape`` says what that may be.
    """
    named = as_name(name)
    declared = Declared(name=named or UNNAMED)
    complain = declared.complaints.__setitem__
    if named is None:
        complain("name", f"name is {plainly(name)}; it must be {_A_SHORT_TEXT}")
    declared.record_id = _text("record_id", record_id, complain, shape)
    declared.run_id = _text("run_id", run_id, complain, shape)
    declared.scope_id = _text("scope", scope, complain, shape)
    declared.mode = _choice("mode", mode, ("hard", "soft", "open"), complain)
    declared.rule = _choice("rule", rule, ("any", "all"), complain)
    declared.cutoff = _cutoff(cutoff, complain)
    declared.expected = _names(expected, complain)
    declared.starved_ratio = _ratio(starved_ratio, complain)
    declared.judged, declared.grades = _judged(judged, grades, complain, shape)
    return declared


def selected_ids(selected: object, shape: IdShape) -> Ids:
    """Return the selected key or its alternatives as IDs; empty for None, an empty string for one that is unreadable.

    Args:
        selected: An ID, an object that carries one, or a list of alternatives.
        shape: What an ID may be; text is unreadable.
    """
    return _without_text(_selected(selected), shape)


def _without_text(ids: Ids, shape: IdShape) -> Ids:
    return ids if shape.fit(ids) else tuple(raw if shape.fit((raw,)) else "" for raw in ids)


def _selected(selected: object) -> Ids:
    if selected is None:
        return ()
    if issubclass(type(selected), list | tuple | set | frozenset):
        try:
            given = list(islice(cast("Iterable[object]", selected), MOST_NAMED + 1))
            if len(given) > MOST_NAMED:
                return ("",)
            return tuple([each if type(each) is str else _READER.read_one(each)[0] for each in given])
        except BaseException as error:  # noqa: BLE001 - the collection's own code runs here
            raise_if_delivered(error)
            return ("",)
    return (_READER.read_one(selected)[0],)


def no_id_in(selected: object) -> str:
    """Return the complaint about a selection of which :func:`selected_ids` gives an empty string."""
    what = f"the selected {type(selected).__name__}"
    if issubclass(type(selected), list | tuple | set | frozenset) and len(cast("Sized", selected)) > MOST_NAMED:
        return f"{what} holds more than {MOST_NAMED:,} alternatives, and counts as unreadable"
    return f"no ID can be read in {what}; give an ID (a short text, a whole number) or an object that carries one"


def _text(what: str, value: object, complain: Complain, shape: IdShape) -> str | None:
    if value is None:
        return None
    text = as_name(as_id(value), shape)
    if text is None:
        complain(what, f"{what} is {plainly(value)}; it must be {_A_SHORT_TEXT}")
    return text


def _choice(what: str, value: object, choices: tuple[str, ...], complain: Complain) -> str | None:
    told = as_name(value) or ""
    if value is not None and told not in choices:
        complain(what, f"{what} is {plainly(value)}; it must be one of {', '.join(choices)}")
    return None if value is None else told


def _cutoff(value: object, complain: Complain) -> int | None:
    if value is None:
        return None
    number = as_count(value)
    if number is None or number < 1:
        complain("cutoff", f"cutoff is {plainly(value)}; it must be a whole number of at least 1")
    return 0 if number is None else number


def _names(value: object, complain: Complain) -> tuple[str, ...]:
    given = (value,) if type(value) is str else value
    if type(given) in (list, tuple):
        if len(cast("Sized", given)) > MOST_NAMED:
            complain("expected", f"expected has more than {MOST_NAMED:,} names, and is ignored")
            return ()
        names = [as_name(each) for each in cast("Sequence[object]", given)]
        if None not in names:
            return tuple(cast("list[str]", names))
    complain("expected", f"expected is {plainly(value)}; it must be names (else kinds) of stages")
    return ()


def _ratio(value: object, complain: Complain) -> float | None:
    number = as_score(value)
    if value is not None and number is None:
        complain("starved_ratio", f"starved_ratio is {plainly(value)}; it must be a number")
    return number


def _judged(
    judged: Judged | None, grades: Sequence[object] | None, complain: Complain, shape: IdShape
) -> tuple[Ids | None, tuple[int, ...]]:
    if judged is None:
        return None, ()
    given = marks = []
    try:
        if isinstance(judged, Mapping):
            given = list(islice(judged.keys(), MOST_NAMED + 1))
            marks = list(islice(judged.values(), len(given)))
        else:
            given = [judged] if isinstance(judged, str) else list(islice(judged, MOST_NAMED + 1))
            marks = [] if grades is None else list(islice(grades, len(given)))
    except BaseException as error:  # noqa: BLE001 - the collections' own code runs here
        raise_if_delivered(error)
        what, wrong = ("grades", grades) if given else ("judged", judged)
        complain(what, f"{what} are {plainly(wrong)}; they must be a list, or a mapping from IDs to grades")
    if len(given) > MOST_NAMED:
        complain("judged", f"more than {MOST_NAMED:,} objects are judged; they are all ignored")
        return None, ()
    ids, kept = [], []
    raws = tuple(each if type(each) is str else _READER.read_one(each)[0] for each in given)
    for place, raw in enumerate(_without_text(raws, shape)):
        if not raw:
            complain("judged", f"judged object {place + 1} has no readable ID and is ignored")
            continue
        ids.append(raw)
        kept.append(_grade(place, marks[place], complain) if place < len(marks) else 1)
    graded = tuple(kept) if any(grade != 1 for grade in kept) else ()
    return tuple(ids) or None, graded


def _grade(place: int, value: object, complain: Complain) -> int:
    number = as_count(value)
    if number is None:
        complain(
            "grades",
            f"the grade of judged object {place + 1} is {plainly(value)}; it must be a whole number, and counts as 1",
        )
    return 1 if number is None else number
