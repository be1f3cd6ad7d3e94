"""The arguments with which an application opens a handoff, checked so that every door assesses it alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from itertools import islice
from typing import Any, Final, NamedTuple, TypedDict, cast

from rop_otel.core.handoff import HandoffRecord, Ids, values
from rop_otel.core.handoff.fact import Fact
from rop_otel.core.handoff.record import HANDOFF_FACTS, UNNAMED
from rop_otel.core.idshape import NAME, IdShape
from rop_otel.errors import refuse_unknown
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.results.result_reader import Reader
from rop_otel.tracing.results.scalars import MOST_NAMED, as_count, as_id, as_name, as_score, plainly

Judged = str | Sequence[object] | Mapping[Any, object]
"""Judged objects: IDs, objects that carry an ID, or a mapping from IDs to grades."""

Complaints = dict[str, str]
"""What was wrong with the arguments: one sentence for each that was."""

_READER = Reader()
_A_SHORT_TEXT: Final = "a non-empty string that is short enough for an ID, in one line"


class Declared(TypedDict, total=False):
    """The arguments with which an application opens a handoff.

    Args:
        cutoff: How many of the shown documents count; None: all.
        rule: ``any`` (default): one ID of the selected object has to be shown. ``all``: every member of it, as the
            resolver lists them; of several alternatives, every member of one.
        mode: ``hard``, ``soft`` or ``open``; None: ``hard`` if a selection is due, else ``open``.
        selected: What was selected, if it is known already; see :meth:`Handoff.select`.
        need: ``one`` (default): any of the selected keys suffices. ``every``: each of them is needed.
        witness: Instead of ``selected``, what the declaration of its run decodes to the selected key.
        witness_sha256: The hash that binds the witness to this record.
        judged: The objects judged relevant, or a mapping from them to their grades.
        grades: Grades of ``judged``, in its order; a missing one is 1.
        record_id: ID of the record that this handoff stands for.
        run_id: ID of the run to which it belongs; None: that of the run block in which it is opened, if any.
        scope: The library, tenant or container that the query is confined to.
        expected: The stages that this pipeline should have, in order: the name of each, else its kind.
        starved_ratio: Share of the token budget below which a context is starved; None: 0.1.
        min_tokens: If fewer tokens than this are shown of a selected or judged object, it counts as thin; None: 8.
        label_scope: ``passage`` (default): a citation label stands for one ID. ``object``: for one object.
    """

    cutoff: int | None
    rule: str | None
    mode: str | None
    selected: object
    need: str | None
    witness: str | None
    witness_sha256: str | None
    judged: Judged | None
    grades: Sequence[int] | None
    record_id: str | None
    run_id: str | None
    scope: str | None
    expected: Sequence[str]
    starved_ratio: float | None
    min_tokens: int | None
    label_scope: str | None


def declare(name: object, said: Declared, *, shape: IdShape = NAME) -> tuple[HandoffRecord, Complaints]:
    """Return the record of a handoff that has not begun, and a complaint for each argument that is wrong.

    A mode, need, rule or cutoff that is wrong is kept as an invalid one, so that the verdict reports it. Any other
    wrong argument is left out. Text in the place of a name or an ID is wrong; ``shape`` says what an ID may be.
    """
    refuse_unknown("a handoff", said, Declared)
    named = as_name(name)
    asked = _Asked({}, shape)
    if named is None:
        asked.complain("name", f"name is {plainly(name)}; it must be {_A_SHORT_TEXT}")
    facts: dict[str, Any] = {}
    for argument, value in said.items():
        row = _ROWS.get(_FIELDS.get(argument, argument))
        if row is not None and row.read in _READ and value is not None:
            facts[row.field] = _READ[row.read](asked, argument, value, row)
    facts["judged"], facts["grades"] = _judged(said.get("judged"), said.get("grades"), asked)
    if "selected" in said:
        facts["selected"] = selected_ids(said["selected"], shape)
        if "" in facts["selected"]:
            asked.complain("selected", no_id_in(said["selected"]))
    return HandoffRecord(name=named or UNNAMED, handoff_id="", start_ns=0, end_ns=0, **facts), asked.complaints


class _Asked(NamedTuple):
    """What reading an argument needs beside it."""

    complaints: Complaints
    shape: IdShape

    def complain(self, argument: str, message: str) -> None:
        self.complaints[argument] = message


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
            return tuple(map(_id_of, given))
        except BaseException as error:  # noqa: BLE001 - the collection's own code runs here
            raise_if_delivered(error)
            return ("",)
    return (_id_of(selected),)


def _id_of(named: object) -> str:
    """Return an ID, or that of an object that carries one; the empty string for none."""
    return named if type(named) is str else _READER.read_one(named)[0]


def no_id_in(selected: object) -> str:
    """Return the complaint about a selection of which :func:`selected_ids` gives an empty string."""
    what = f"the selected {type(selected).__name__}"
    if issubclass(type(selected), list | tuple | set | frozenset) and len(cast("Sized", selected)) > MOST_NAMED:
        return f"{what} holds more than {MOST_NAMED:,} alternatives, and counts as unreadable"
    return f"no ID can be read in {what}; give an ID (a short text, a whole number) or an object that carries one"


def _text(asked: _Asked, what: str, value: object, row: Fact) -> str | None:
    if row.choices:
        return _choice(asked, what, value, row) or None
    text = as_name(as_id(value), asked.shape)
    if text is None:
        asked.complain(what, f"{what} is {plainly(value)}; it must be {_A_SHORT_TEXT}")
    return text


def _choice(asked: _Asked, what: str, value: object, row: Fact) -> str:
    named = as_name(value) or ""
    if named in row.choices:
        return named
    asked.complain(what, f"{what} is {plainly(value)}; it must be one of {', '.join(row.choices)}")
    return named if row.read is values.choice else ""


def _cutoff(asked: _Asked, what: str, value: object, row: Fact) -> int:
    number = as_count(value)
    if number is None or number < 1:
        asked.complain(what, f"{what} is {plainly(value)}; it must be a whole number of at least 1")
    return number or 0


def _whole(asked: _Asked, what: str, value: object, row: Fact) -> int | None:
    number = as_count(value)
    if number is None:
        asked.complain(what, f"{what} is {plainly(value)}; it must be a whole number")
    return number


def _number(asked: _Asked, what: str, value: object, row: Fact) -> float | None:
    number = as_score(value)
    if number is None:
        asked.complain(what, f"{what} is {plainly(value)}; it must be a number")
    return number


def _names(asked: _Asked, what: str, value: object, row: Fact) -> tuple[str, ...]:
    given = (value,) if type(value) is str else value
    if type(given) in (list, tuple):
        if len(cast("Sized", given)) > MOST_NAMED:
            asked.complain(what, f"{what} has more than {MOST_NAMED:,} names, and is ignored")
            return ()
        names = [as_name(each) for each in cast("Sequence[object]", given)]
        if None not in names:
            return tuple(cast("list[str]", names))
    asked.complain(what, f"{what} is {plainly(value)}; it must be names (else kinds) of stages")
    return ()


_ROWS: Final = {each.field: each for each in HANDOFF_FACTS}
_FIELDS: Final = {"scope": "scope_id"}
"""Fields of the record that have another name than the argument."""

_READ: Final[Mapping[Callable[[object], object], Callable[[_Asked, str, object, Fact], object]]] = {
    values.text: _text,
    values.choice: _choice,
    values.cutoff: _cutoff,
    values.integer: _whole,
    values.number: _number,
    values.names: _names,
}
"""How an argument is read, for each type of fact."""


def _judged(
    judged: Judged | None, grades: Sequence[object] | None, asked: _Asked
) -> tuple[Ids | None, tuple[int, ...]]:
    complain = asked.complain
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
    raws = tuple(map(_id_of, given))
    for place, raw in enumerate(_without_text(raws, asked.shape)):
        if not raw:
            complain("judged", f"judged object {place + 1} has no readable ID and is ignored")
            continue
        ids.append(raw)
        kept.append(_grade(place, marks[place], complain) if place < len(marks) else 1)
    graded = tuple(kept) if any(grade != 1 for grade in kept) else ()
    return tuple(ids) or None, graded


def _grade(place: int, value: object, complain: Callable[[str, str], None]) -> int:
    number = as_count(value)
    if number is None:
        complain(
            "grades",
            f"the grade of judged object {place + 1} is {plainly(value)}; it must be a whole number, and counts as 1",
        )
    return 1 if number is None else number
