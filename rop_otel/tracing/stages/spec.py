"""The declaration of a stage, by a decorator or a ``using_stage`` block, checked and prepared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final, TypedDict, Unpack

from opentelemetry.trace import SpanKind

from rop_otel import semconv
from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.attributes import stage_attributes
from rop_otel.core.handoff.record import STAGE_FACTS
from rop_otel.core.handoff.values import text, text_or_empty
from rop_otel.errors import UsageError, refuse_unknown
from rop_otel.tracing.results.extracting import IdWhere, Where
from rop_otel.tracing.results.result_reader import Reader
from rop_otel.tracing.results.scalars import MOST_NAMED, as_name, plainly


class Described(TypedDict, total=False):
    """How an author declares a stage.

    Args:
        name: A name of its own, if a pipeline has two stages of one kind.
        source: True for a kind of your own that takes no documents.
        fed_by: Names (else kinds) of the stages that feed it, if these are not the ones before it.
        id: Where a document has its ID: a name, dotted where nested; a callable on the document; a mapping or sequence
            from an index to an ID. None: the usual names.
        score: Where a document has its score, a name or a callable; None: the usual names.
        scope: Where a document says which container it is from, a name or a callable.
        data_source: Name of the index or database, for the GenAI convention.
        query_form: How a source's query is built: ``question``, ``rewrite``, ``title``, …
        implementation: The model or method that runs.
    """

    name: str | None
    source: bool
    fed_by: str | Sequence[str]
    id: IdWhere
    score: Where
    scope: Where
    data_source: str | None
    query_form: str | None
    implementation: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spec:
    """A stage as its author describes it.

    Args:
        kind: The contract's kind, or a custom one.
        source: True for a custom stage that takes no documents.
        facts: Fields of the records of its executions, these two among them.
        results: Reads what the stage returns.
        inputs: Reads what it is handed, which may be objects of other kinds.
        span_name: Name of its spans.
        span_kind: Kind of its spans.
        attributes: Attributes that all of its spans start with.
        place: Names it in log lines.
    """

    kind: str
    source: bool
    facts: Mapping[str, Any]
    results: Reader
    inputs: Reader
    span_name: str
    span_kind: SpanKind
    attributes: Mapping[str, Any]
    place: str


def make_spec(kind: str, *, place: str | None = None, **said: Unpack[Described]) -> Spec:
    """Check what a user says about a stage, and prepare all that its executions share.

    Raises:
        UsageError: An argument cannot be used.
        TypeError: There is no such argument.
    """
    refuse_unknown("a stage", said, Described)
    data_source = said.get("data_source")
    facts: dict[str, Any] = {"kind": kind, "source": said.get("source") is True, "fed_by": _feeding(said)}
    facts |= {argument: value for argument, value in said.items() if argument in _TEXTS and value is not None}
    named = facts if data_source is None else {**facts, "data_source": data_source}
    for argument, value in named.items():
        if argument in _NAMED and as_name(value) is None:
            raise UsageError(f"{argument}={plainly(value)}: it must be a non-empty string, short and in one line")
    facts = {field: value for field, value in facts.items() if value}
    where, name = said.get("id"), said.get("name")
    reads_input_alike = where is None or isinstance(where, str) or callable(where)
    attributes = {**stage_attributes(facts), semconv.GEN_AI_OPERATION: semconv.GEN_AI_OPERATION_RETRIEVAL}
    if data_source is not None:
        attributes[semconv.GEN_AI_DATA_SOURCE_ID] = data_source
    return Spec(
        kind=kind,
        source=said.get("source") is True,
        facts=facts,
        results=Reader(id=where, score=said.get("score"), scope=said.get("scope"), rescored=kind == kinds.RERANK),
        inputs=Reader(id=where if reads_input_alike else None, ids_only=True),
        span_name=semconv.SPAN_RETRIEVAL.format(data_source=data_source)
        if data_source
        else semconv.SPAN_STAGE.format(stage=kind),
        span_kind=SpanKind.CLIENT if data_source else SpanKind.INTERNAL,
        attributes=attributes,
        place=place or (kind if name is None else f"{kind} {name}"),
    )


_TEXTS: Final = {each.field for each in STAGE_FACTS if each.read in (text, text_or_empty)}
_NAMED: Final = {*_TEXTS, "data_source"}
"""Arguments that are names."""


def _feeding(said: Described) -> tuple[str, ...]:
    fed_by = said.get("fed_by", ())
    feeding = names_in(fed_by)
    if len(feeding) > MOST_NAMED:
        raise UsageError(f"fed_by names more than {MOST_NAMED:,} stages")
    if None in map(as_name, feeding):
        raise UsageError(f"fed_by={plainly(fed_by)}: it must be names (else kinds) of stages")
    return feeding


def names_in(fed_by: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of the feeding stages, one more than there may be where there are too many."""
    return (fed_by,) if isinstance(fed_by, str) else tuple(islice(fed_by, MOST_NAMED + 1))


cached_spec: Final = lru_cache(maxsize=256)(make_spec)
"""The same for arguments that can be hashed, so that a block that runs often is prepared once."""


READER: Final = make_spec(kinds.READER)
