"""A handoff and the declaration of its run: the declaration's terms, and the record that the run counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rop_otel.core.handoff.record import HandoffRecord, Ids
from rop_otel.core.handoff.selection import selection_of
from rop_otel.core.handoff.stage_graph import StageGraph
from rop_otel.core.handoff.terms import ONE, at_hand
from rop_otel.core.profile.declaration import Declaration, Interface, Opened
from rop_otel.core.profile.fieldpath import ABSENT, FieldPath
from rop_otel.core.profile.judge import Case, selection_missing, selection_unresolved, witness_unbound
from rop_otel.core.profile.observation import Observation

_SELECTED, _RETURNED = FieldPath.parse("selected"), FieldPath.parse("ids")
"""Where a record carries them if the declaration is so broken that it does not say where."""


def under(record: HandoffRecord, opened: Opened) -> HandoffRecord:
    """Return a handoff in which missing terms (mode, rule, cutoff) are those of a declaration.

    If the declaration demands a witness, the decoded witness is the selection. If the witness is missing or bound to
    something else, there is no usable selection. If the map does not hold it, the selection is an unknown key.

    Args:
        record: The handoff.
        opened: The declaration of its run; an invalid one gives no terms.
    """
    declaration = opened.declaration
    if declaration is None:
        return record
    return replace(
        record,
        mode=declaration.mode if record.mode is None else record.mode,
        rule=declaration.rule if record.rule is None else record.rule,
        cutoff=declaration.cutoff if record.cutoff is None else record.cutoff,
        selected=record.selected if declaration.witness is None else _decoded(record, declaration),
    )


def _decoded(record: HandoffRecord, declaration: Declaration) -> Ids:
    """Return the key of a handoff's witness; none if it is unusable, an unknown key if the map does not hold it."""
    observation = Observation(
        record_id=record.record_id or "",
        selection=ABSENT if record.witness is None else record.witness,
        witness_hash=ABSENT if record.witness_sha256 is None else record.witness_sha256,
    )
    case = Case(observation, declaration)
    if selection_missing(case) is not None:
        return ()
    if selection_unresolved(case) is not None:
        unknown = f"what the witness {record.witness!r} stands for"
        while declaration.resolver.resolve(unknown) is not None:
            unknown += "?"
        return (unknown,)
    return case.keys if witness_unbound(case) is None else ()


def contradiction(record: HandoffRecord, opened: Opened) -> str | None:
    """Return in one sentence why a handoff contradicts a declaration; None if it does not.

    Args:
        record: The handoff. A term that it does not give is no contradiction.
        opened: The declaration of its run.
    """
    declaration = opened.declaration
    if declaration is None:
        return "the declaration or a file it names is invalid"
    for what, own, declared in (
        ("mode", record.mode, declaration.mode),
        ("need", record.need, ONE),
        ("rule", record.rule, declaration.rule),
        ("cutoff", record.cutoff, declaration.cutoff),
        ("declaration", record.declaration_id, declaration.declaration_id),
        ("declaration's hash", record.declaration_sha256, declaration.manifest_sha256),
    ):
        if own is not None and own != declared:
            return f"the handoff's {what} is {own!r}, the run's is {declared!r}"
    return _other_interface(record.name, opened.interfaces, declaration.interface)


def _other_interface(name: str, interfaces: Mapping[str, Interface] | None, declared: Interface) -> str | None:
    if interfaces is None:
        return None
    own = interfaces.get(name, Interface(name=name))
    if own.name != declared.name:
        return f"the handoff's interface is {own.name!r}, the run's is {declared.name!r}"
    if own.version not in {None, declared.version}:
        return f"the handoff's interface has the version {own.version!r}, the run's {declared.version!r}"
    return None


def record_of(record: HandoffRecord, opened: Opened) -> dict[str, Any]:
    """Return a handoff as a record of ROP v1, its fields where the declaration says.

    The judged objects stand where the sheet names a trace field.

    The returned IDs are the shown list as far as it is known. They are left out where that decides nothing: there is no
    usable list, it is cut before the cutoff without holding the selected object, or the handoff names another resolver.

    Args:
        record: The handoff.
        opened: The declaration of its run.
    """
    declaration = opened.declaration
    fields: dict[str, Any] = {}
    judged = _judged(record)
    if judged and declaration is not None and declaration.trace_field is not None:
        _put(fields, declaration.trace_field, judged)
    selected = record.selected
    if declaration is not None and declaration.witness is not None:
        if record.witness is not None:
            _put(fields, declaration.selection_field, record.witness)
        if record.witness_sha256 is not None:
            _put(fields, declaration.witness.hash_field, record.witness_sha256)
    elif selected is not None:
        value = selected[0] if len(selected) == 1 else list(selected)
        _put(fields, _SELECTED if declaration is None else declaration.selection_field, value)
    returned = _returned(record, opened)
    if returned is not None:
        _put(fields, _RETURNED if declaration is None else declaration.output_field, list(returned))
    if record.record_id is not None:
        _put(fields, opened.record_field, record.record_id)
    elif opened.record_field.read(fields) is not ABSENT:
        return {}  # one of the other paths runs there, and what it holds is no record ID
    return fields


def _judged(record: HandoffRecord) -> list[str]:
    """Return the judged objects: those with a positive grade, malformed ones left out."""
    grades = dict(enumerate(record.grades))
    return [key for place, key in enumerate(record.judged or ()) if key and grades.get(place, 1) > 0]


def _returned(record: HandoffRecord, opened: Opened) -> Ids | None:
    declaration, shown = opened.declaration, StageGraph(record, None).shown
    if not shown.usable:
        return None
    if declaration is None:
        return shown.known_ids
    if not at_hand(record, declaration.resolver):
        return None
    if not shown.decides(declaration.cutoff):
        selection = selection_of(under(record, opened), declaration.resolver)
        if selection is None or selection.rank(shown.known_ids) is None:
            return None
    return shown.known_ids


def _put(fields: dict[str, Any], path: FieldPath, value: Any) -> None:
    """Put a value at the place that a path names; a value that is already on the way is replaced."""
    if path.tail:
        value = [_nested(path.tail, item) for item in value]
    here = fields
    for name in path.head[:-1]:
        inner = here.get(name)
        here[name] = here = inner if isinstance(inner, dict) else {}
    here[path.head[-1]] = value


def _nested(names: tuple[str, ...], value: Any) -> Any:
    for name in reversed(names):
        value = {name: value}
    return value
