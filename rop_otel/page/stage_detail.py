"""The stages of one handoff as the page shows them, those that were left out among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from rop_otel.core.handoff import HandoffRecord, StageRecord, StageScores, kinds
from rop_otel.core.handoff.stage_graph import StageGraph
from rop_otel.core.handoff.stage_lists import StageLists
from rop_otel.core.handoff.written import as_list
from rop_otel.page.carried import Carried

_T = TypeVar("_T")

OK: Final = "ok"
FAILED: Final = "failed"
LATE: Final = "late"
UNREADABLE: Final = "unreadable"

_REASONS: Final = {
    OK: None,
    FAILED: "it raised",
    LATE: "it ended after its handoff, so it is left out",
    UNREADABLE: "no ID can be read in what it returned",
}


class Placed(NamedTuple):
    """A stage among those of the page.

    Args:
        place: Its place among the stages that count; None where it was left out.
        span_id: Its span.
        as_dict: What the page reads of it.
    """

    place: int | None
    span_id: str
    as_dict: dict[str, Any]


class _Entry(NamedTuple):
    """A stage in the order of all spans, with its place among those that count."""

    at: int
    stage: StageRecord
    place: int | None
    late: bool


def placed_stages(
    graph: StageGraph, written: Iterable[tuple[dict[str, Any], StageLists]], carried: Carried
) -> list[Placed]:
    """Return the stages of a handoff, in order: those that count, and those that were left out.

    Args:
        graph: The handoff.
        written: What the report says of each stage that is no reader, with its lists.
        carried: What its spans carry beside the facts.
    """
    entries = sorted(
        (
            *(_Entry(graph.places[place], stage, place, False) for place, stage in enumerate(graph.stages)),
            *(_Entry(left.place, left.stage, None, left.late) for left in graph.left_out),
        ),
        key=lambda entry: entry.at,
    )
    now = {entry.place: at for at, entry in enumerate(entries) if entry.place is not None}
    by_span = {(entry.stage.trace_id, entry.stage.span_id): at for at, entry in enumerate(entries)}
    reported = iter(written)
    placed = []
    for at, entry in enumerate(entries):
        kept = entry.place is not None and entry.stage.kind != kinds.READER
        if entry.place is None:
            parent = by_span.get((entry.stage.trace_id, entry.stage.parent_id or ""))
        else:
            around = graph.around(entry.place)
            parent = None if around is None else now[around]
        fields = {
            **_fields(graph.record, entry, carried),
            **(_reported(*next(reported)) if kept else _unscored(entry.stage)),
            "place": at,
            "parent": parent,
            "feeds": [] if entry.place is None else [now[feed] for feed in graph.feeds[entry.place].places],
        }
        placed.append(Placed(entry.place, entry.stage.span_id, fields))
    return placed


def _reported(written: dict[str, Any], lists: StageLists) -> dict[str, Any]:
    return {**written, "added": as_list(lists.added)}


def _unscored(stage: StageRecord) -> dict[str, Any]:
    """Return what a stage that is not scored is: a reader, or one that was left out."""
    scores = StageScores(
        stage=stage.kind,
        name=stage.name,
        round=stage.round,
        returned=stage.true_count,
        implementation=stage.implementation,
        fallback=stage.fallback,
        query_form=stage.query_form,
    )
    return {**scores.as_dict(), "dropped": None, "ids": as_list(stage.returned), "added": None}


def _fields(record: HandoffRecord, entry: _Entry, carried: Carried) -> dict[str, Any]:
    stage = entry.stage
    size = len(stage.returned or ())
    status = LATE if entry.late else FAILED if stage.failed else UNREADABLE if stage.returned is None else OK
    query = carried.query(stage.trace_id, stage.span_id)
    reader = {"citations": as_list(stage.citations), "attaches": stage.attaches, "abstained": stage.abstained}
    return {
        "status": status,
        "reason": _REASONS[status],
        "scores": _aligned(stage.scores, size),
        "scopes": _aligned(stage.scopes, size),
        "tokens": _aligned(stage.id_tokens, size),
        "shares": _aligned(stage.shares, size),
        "labels": _aligned(stage.labels, size),
        "basis": stage.basis,
        "context_tokens": stage.tokens,
        "token_budget": stage.token_budget,
        "service": carried.service(stage.trace_id, stage.span_id),
        "top_k": carried.top_k(stage.trace_id, stage.span_id),
        "input": as_list(stage.input),
        "handed": None if stage.input is None else max(len(stage.input), stage.input_count or 0),
        "foreign": stage.foreign,
        "start": _seconds(stage.start_ns - record.start_ns) if record.start_ns and stage.start_ns else None,
        "duration": None if stage.end_ns is None else _seconds(stage.end_ns - stage.start_ns),
        **({} if query is None else {"query": query}),
        **(reader if stage.kind == kinds.READER else {}),
    }


def _aligned(values: Sequence[_T] | None, size: int) -> list[_T] | None:
    """Return values of which each is one ID's; None where they are no such values."""
    return list(values) if values is not None and len(values) == size else None


def _seconds(nanoseconds: int) -> float:
    """Return seconds, to the microsecond."""
    return round(nanoseconds / 1e9, 6)
