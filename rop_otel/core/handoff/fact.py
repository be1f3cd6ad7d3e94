"""One row of the table of facts: what one field of a record is called on a span, how it is read, cut and hashed.

The rows stand at the fields of :class:`StageRecord` and :class:`HandoffRecord`, and nowhere else. Reading spans,
writing them, and the arguments of the API follow from the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final, Literal, TypeVar

Hashed = Literal["id", "label"]
"""How the texts of a fact are hashed where there is a key: as IDs (scopes too), or as citation labels."""

Cut = Literal["counted", "aligned", "limited"]
"""How a list is cut to the limit of IDs: with its true length in a field beside it; as the returned IDs are, since it
has one value for each of them; or without a word."""

_T = TypeVar("_T")
_ROW: Final = "rop_otel fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A row.

    Args:
        field: The field of the record.
        attribute: The span attribute.
        read: Reads the field from an attribute's value, None for one that is not there; it never raises.
        default: What the field is where the attribute is not there; never written.
        choices: The allowed values, if they are a closed set.
        hashed: How it is hashed; None: never.
        cut: How it is cut; None: never.
        counts: The field of the list whose true length this is.
        instead: What replaces a value that is text, if an absent attribute would mean something else.
    """

    field: str
    attribute: str
    read: Callable[[object], Any]
    default: Any
    choices: tuple[str, ...]
    hashed: Hashed | None
    cut: Cut | None
    counts: str | None
    instead: object


def fact(
    attribute: str,
    read: Callable[[object], _T],
    *,
    choices: tuple[str, ...] = (),
    hashed: Hashed | None = None,
    cut: Cut | None = None,
    counts: str | None = None,
    instead: object = None,
) -> _T:
    """Return the field of a dataclass with its row; the arguments are those of :class:`Fact`."""
    metadata = row(attribute, read, choices=choices, hashed=hashed, cut=cut, counts=counts, instead=instead)
    return field(default=read(None), metadata=metadata)


def row(attribute: str, read: Callable[[object], object], **properties: Any) -> Mapping[str, Any]:
    """Return the metadata of a field that has to be given; the arguments are those of :func:`fact`."""
    empty: dict[str, Any] = {"choices": (), "hashed": None, "cut": None, "counts": None, "instead": None}
    return {_ROW: {**empty, "attribute": attribute, "read": read, **properties}}


class Facts(tuple[Fact, ...]):
    """The rows of a record, and how they are looked up: of nearly all, a span has no attribute.

    Attributes:
        named: The rows by attribute.
        absent: What each field is where its attribute is not there.
        counts: The fields that are the true length of a list, with the list's field.
    """

    def __init__(self, rows: Iterable[Fact]) -> None:
        del rows  # which are in the tuple
        self.named = {each.attribute: each for each in self}
        self.absent = {each.field: each.read(None) for each in self}
        self.counts = [(each.field, each.counts) for each in self if each.counts is not None]


def facts_of(record: type) -> Facts:
    """Return the rows of a record, in the order of its fields."""
    return Facts(
        Fact(field=each.name, default=None if each.default is MISSING else each.default, **each.metadata[_ROW])
        for each in fields(record)
        if _ROW in each.metadata
    )


def read_facts(facts: Facts, attributes: Mapping[str, object], *, dropped_attributes: int = 0) -> dict[str, Any]:
    """Return the fields that span attributes give, whatever their values are.

    Args:
        facts: The rows.
        attributes: Of the span.
        dropped_attributes: How many attributes the span lost to a limit. The count of a list may be among them, so
            a list without a count then counts as cut.
    """
    read = facts.absent.copy()
    for name, value in attributes.items():
        row = facts.named.get(name)
        if row is not None:
            read[row.field] = row.read(value)
    for field_, counted in facts.counts:
        read[field_] = _true_length(read[field_], read[counted], dropped_attributes)
    return read


def _true_length(count: int | None, read: tuple[str, ...] | None, dropped_attributes: int) -> int | None:
    """Return the true length of a list that was cut; None where it was not, or where the count cannot be true."""
    if read is None:
        return None
    if count is None and dropped_attributes > 0:
        return len(read) + 1
    return count if count is not None and count > len(read) else None
