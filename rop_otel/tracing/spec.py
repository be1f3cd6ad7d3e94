"""What a decorated function or a ``using_stage`` block says about its stage, checked and prepared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from opentelemetry.trace import SpanKind

from rop_otel import semconv
from rop_otel.core.handoff import kinds
from rop_otel.errors import UsageError
from rop_otel.tracing.extracting import IdWhere, Where
from rop_otel.tracing.reading import Reader
from rop_otel.tracing.scalars import MOST_NAMED, as_name, plainly


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spec:
    """A stage as its author describes it.

    Args:
        kind: The contract's kind, or a custom one.
        name: Which one, where a pipeline has two of a kind.
        source: True for a custom stage that takes no documents.
        fed_by: Names (else kinds) of the stages that feed it.
        query_form: How a source's query is built.
        implementation: What runs.
        results: Reads what the stage returns.
        inputs: Reads what it is handed, which may be objects of other kinds.
        span_name: Name of its spans.
        span_kind: Kind of its spans.
        attributes: Attributes that all of its spans start with.
        place: Names it in log lines.
    """

    kind: str
    name: str | None
    source: bool
    fed_by: tuple[str, ...]
    query_form: str | None
    implementation: str | None
    results: Reader
    inputs: Reader
    span_name: str
    span_kind: SpanKind
    attributes: dict[str, str | bool | tuple[str, ...]]
    place: str


def make_spec(
    kind: str,
    *,
    name: str | None = None,
    source: bool = False,
    fed_by: str | Sequence[str] = (),
    id: IdWhere = None,  # noqa: A002 - the word that users know
    score: Where = None,
    scope: Where = None,
    data_source: str | None = None,
    query_form: str | None = None,
    implementation: str | None = None,
    place: str | None = None,
) -> Spec:
    """Check what a user says about a stage, and prepare all that its executions share.

    Raises:
        UsageError: An argument cannot be used.
    """
    texts = {"name": name, "data_source": data_source, "query_form": query_form, "implementation": implementation}
    for argument, value in ({"kind": kind} | {key: value for key, value in texts.items() if value is not None}).items():
        if as_name(value) is None:
            raise UsageError(f"{argument}={plainly(value)}: it must be a non-empty string, short and in one line")
    feeding = names_in(fed_by)
    if len(feeding) > MOST_NAMED:
        raise UsageError(f"fed_by names more than {MOST_NAMED:,} stages")
    if None in map(as_name, feeding):
        raise UsageError(f"fed_by={plainly(fed_by)}: it must be names (else kinds) of stages")
    reads_input_alike = id is None or isinstance(id, str) or callable(id)
    return Spec(
        kind=kind,
        name=name,
        source=source is True,
        fed_by=feeding,
        query_form=query_form,
        implementation=implementation,
        results=Reader(id=id, score=score, scope=scope),
        inputs=Reader(id=id if reads_input_alike else None, ids_only=True),
        span_name=semconv.SPAN_RETRIEVAL.format(data_source=data_source)
        if data_source
        else semconv.SPAN_STAGE.format(stage=kind),
        span_kind=SpanKind.CLIENT if data_source else SpanKind.INTERNAL,
        attributes=_attributes(kind, name, source is True, feeding, data_source),
        place=place or (kind if name is None else f"{kind} {name}"),
    )


def names_in(fed_by: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of the feeding stages, one more than there may be where there are too many."""
    return (fed_by,) if isinstance(fed_by, str) else tuple(islice(fed_by, MOST_NAMED + 1))


cached_spec: Final = lru_cache(maxsize=256)(make_spec)
"""The same for arguments that can be hashed, so that a block that runs often is prepared once."""


def _attributes(
    kind: str, name: str | None, source: bool, fed_by: tuple[str, ...], data_source: str | None
) -> dict[str, str | bool | tuple[str, ...]]:
    attributes: dict[str, str | bool | tuple[str, ...]] = {
        semconv.STAGE: kind,
        semconv.GEN_AI_OPERATION: semconv.GEN_AI_OPERATION_RETRIEVAL,
    }
    if name is not None:
        attributes[semconv.STAGE_NAME] = name
    if source:
        attributes[semconv.STAGE_SOURCE] = True
    if fed_by:
        attributes[semconv.STAGE_FED_BY] = fed_by
    if data_source is not None:
        attributes[semconv.GEN_AI_DATA_SOURCE_ID] = data_source
    return attributes


READER: Final = make_spec(kinds.READER)
