"""For the tests of applications: captures their handoffs, and asserts that selected objects reach the reader.

Public, like ``rop_otel`` itself. Needs no test framework, no provider of OpenTelemetry and no collector.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, NoOpTracer, Span, SpanContext, TraceFlags, get_current_span

from rop_otel.config import Config
from rop_otel.core.handoff import (
    Assessment,
    HandoffRecord,
    Ids,
    LabelFinding,
    Notice,
    Severity,
    StageRecord,
    Verdict,
    assess,
)
from rop_otel.core.handoff.fact import Fact
from rop_otel.core.handoff.record import HANDOFF_FACTS, STAGE_FACTS
from rop_otel.core.profile.resolver import Resolver
from rop_otel.safety import Turns, catch_up
from rop_otel.tracing.running.runtime import Runtime, overrule

__all__ = [
    "Captured",
    "assert_healthy",
    "assert_labels_consistent",
    "assert_selected_reaches_reader",
    "capture",
    "recorded",
    "recorded_stage",
    "write_page",
]

_START: Final = 1_577_836_800_000_000_000
"""When each captured handoff starts, Unix nanoseconds: the first moment of 2020."""

_TICK: Final = 1_000_000
"""Nanoseconds between two moments of a captured handoff."""

_MOST_IDS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """The handoffs that ended while they were captured, in the order of their ends; empty before the first one ends.

    Args:
        assessments: The assessment of each.
        records: The record of each, in the same order.
        resolver: The resolver in force, None without one.
    """

    assessments: list[Assessment] = field(default_factory=list)
    records: list[HandoffRecord] = field(default_factory=list)
    resolver: Resolver | None = None


@contextmanager
def capture(
    *,
    resolver: Resolver | str | os.PathLike[str] | None = None,
    citation_pattern: re.Pattern[str] | str | None = None,
    hash_key: bytes | str | None = None,
    max_ids: int | None = None,
    strict: bool = True,
) -> Iterator[Captured]:
    """Capture every handoff of the process inside a ``with`` block; metrics and spans do not have these handoffs.

    Settings of the environment and of the application, before or inside the block, do not apply. IDs and times are the
    same in every run: the first handoff has trace 1, the second trace 2; spans are numbered from 1 in each trace; each
    handoff starts at the beginning of 2020, and each reading of the clock is a millisecond after the one before.

    Args:
        resolver: The resolver in force, or its file.
        citation_pattern: How a citation is written in an answer.
        hash_key: Key with which IDs are hashed before they are recorded.
        max_ids: IDs recorded of each list.
        strict: True raises where the application misuses the monitor.

    Raises:
        ConfigurationError: A setting cannot be used.
    """
    config = Config.resolve(
        resolver=resolver,
        citation_pattern=citation_pattern,
        hash_key=hash_key,
        max_ids=max_ids,
        strict=strict,
        environ={},
    )
    captured = Captured(resolver=config.resolver)
    keeper = _Keeper(captured)
    before = overrule(Runtime(config, tracer=_Tracer(), sinks=(keeper,)))
    try:
        yield captured
    finally:
        catch_up()
        overrule(before)
        keeper.over = True


def recorded(name: str, *stages: StageRecord, resolver: Resolver | None = None, **facts: object) -> Captured:
    """Return a handoff that was recorded, assessed anew. The page's "Copy as test" writes calls of this.

    Args:
        name: Of the handoff.
        stages: As :func:`recorded_stage` gives them, in the order of their ends.
        resolver: The resolver in force; None: an ID stands for itself.
        facts: Fields of its record that are not their default.

    Raises:
        TypeError: A fact is no field of a handoff's record.
    """
    told = {"start_ns": 0, "end_ns": len(stages) + 1, "failed": False, **facts}
    times: dict[str, Any] = {each: told.pop(each) for each in ("start_ns", "end_ns", "failed")}
    placed = [
        replace(
            stage,
            span_id=f"{place:016x}",
            start_ns=stage.start_ns or place - 1,
            end_ns=stage.end_ns or (times["end_ns"] + place if stage.end_ns is None else place),
        )
        for place, stage in enumerate(stages, 1)
    ]
    record = HandoffRecord(
        **{**_read(HANDOFF_FACTS, {"name": name, **told}), **times}, handoff_id="recorded", stages=tuple(placed)
    )
    return Captured(assessments=[assess(record, resolver=resolver)], records=[record], resolver=resolver)


def recorded_stage(
    kind: str,
    *,
    parent: int | None = None,
    late: bool = False,
    failed: bool = False,
    start_ns: int = 0,
    end_ns: int = 0,
    **facts: object,
) -> StageRecord:
    """Return a stage for :func:`recorded`.

    Args:
        kind: Of the stage.
        parent: Number of the stage around it, counted from 1; None: there is none.
        late: Whether it ended after its handoff.
        failed: Whether it raised.
        start_ns, end_ns: When, where that matters; 0: after the stage before it.
        facts: Fields of its record that are not their default.

    Raises:
        TypeError: A fact is no field of a stage's record.
    """
    return StageRecord(
        **_read(STAGE_FACTS, {"kind": kind, **facts}),
        span_id="",
        parent_id=None if parent is None else f"{parent:016x}",
        start_ns=start_ns,
        end_ns=None if late else end_ns,
        failed=failed,
    )


def write_page(captured: Captured, file: str | os.PathLike[str], *, title: str = "Captured handoffs") -> None:
    """Write a page that draws the captured handoffs: one HTML file, which needs nothing else.

    Args:
        captured: The handoffs; may be none.
        file: Where to.
        title: Of the page.

    Raises:
        OSError: The file cannot be written.
    """
    from rop_otel.page import AssessedSet  # imported here: most tests write none
    from rop_otel.page import write_page as write

    catch_up()
    shown = AssessedSet(
        name=title,
        assessments=tuple(captured.assessments),
        records=tuple(captured.records),
        resolver=captured.resolver,
    )
    with open(file, "wb") as stream:
        write([shown], stream, title=title)


def assert_healthy(captured: Captured) -> None:
    """Assert that no captured handoff lost its selection, is undecided or has a finding of severity error.

    Raises:
        AssertionError: One did, is or has, or no handoff was captured. The message names the stage, the cause, the
            findings and what each stage returned.
    """
    sick = []
    for assessment, record in _pairs(captured):
        errors = [finding for finding in assessment.findings if finding.severity is Severity.ERROR]
        if errors or assessment.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE):
            found = [f"  {each.severity}: {each.code} at {each.stage}: {each.message}" for each in assessment.findings]
            sick.append("\n".join([_story(assessment, record), *found]))
    if sick:
        raise AssertionError("\n".join([f"{len(sick)} of {len(captured.assessments)} handoffs are not healthy", *sick]))


def assert_selected_reaches_reader(captured: Captured) -> None:
    """Assert that in each captured handoff with a selection the reader was shown the selected object.

    A handoff in which nothing was selected is skipped.

    Raises:
        AssertionError: A selected object was not shown, this cannot be decided, or no selection was captured. The
            message names the stage, the cause and what each stage returned.
    """
    due = [
        (assessment, record)
        for assessment, record in _pairs(captured)
        if assessment.verdict is not Verdict.NOT_APPLICABLE
    ]
    if not due:
        raise AssertionError(
            "nothing was selected in any captured handoff; report it with handoff.select(), or a package's selected_by"
        )
    lost = [_story(assessment, record) for assessment, record in due if assessment.verdict is not Verdict.PASS]
    if lost:
        raise AssertionError("\n".join([f"{len(lost)} of {len(due)} selected objects did not reach the reader", *lost]))


def assert_labels_consistent(captured: Captured) -> None:
    """Assert that each label that was shown or cited stands for one passage, which the response attaches under it.

    Raises:
        AssertionError: A label does not, or no labels were captured. The message names the handoff, stage and labels.
    """
    pairs = _pairs(captured)
    if not any(stage.labels for _, record in pairs for stage in record.stages):
        raise AssertionError("no captured stage showed labels; report them with returned(..., labels=...)")
    wrong = [
        f"{assessment.handoff_name}, {finding.code} at {finding.stage}: {finding.message}"
        for assessment, _ in pairs
        for finding in assessment.findings
        if isinstance(finding.code, LabelFinding)
    ]
    if wrong:
        raise AssertionError("\n".join(["labels and passages do not agree", *wrong]))


def _read(facts: tuple[Fact, ...], told: Mapping[str, object]) -> dict[str, Any]:
    rows = {each.field: each for each in facts}
    for name in told:
        if name not in rows:
            raise TypeError(f"{name!r} is no fact of a record; its facts are {', '.join(rows)}")
    return {name: rows[name].read(value) for name, value in told.items()}


def _pairs(captured: Captured) -> list[tuple[Assessment, HandoffRecord]]:
    catch_up()
    if not captured.assessments:
        raise AssertionError(
            "no handoff was captured; a handoff is captured when it ends inside the block of capture()"
        )
    return list(zip(captured.assessments, captured.records, strict=True))


def _story(assessment: Assessment, record: HandoffRecord) -> str:
    """Return what became of a handoff: its sentence, the selection, and each stage on a line."""
    stages = sorted(record.stages, key=lambda stage: stage.start_ns)
    selected = f"  selected: {_ids(record.selected, None)}"
    return "\n".join([str(assessment), selected, *(f"  {_which(stage)} returned {_list(stage)}" for stage in stages)])


def _which(stage: StageRecord) -> str:
    name = "" if stage.name is None else f" {stage.name!r}"
    return f"{stage.kind}{name}" + ("" if stage.round is None else f", round {stage.round},")


def _list(stage: StageRecord) -> str:
    return "no readable IDs" if stage.returned is None else _ids(stage.returned, stage.true_count)


def _ids(ids: Ids | None, total: int | None) -> str:
    if not ids:
        return "nothing"
    more = (total or len(ids)) - len(ids[:_MOST_IDS])
    return ", ".join(map(repr, ids[:_MOST_IDS])) + (f" and {more} more" if more > 0 else "")


class _Keeper:
    """A sink that keeps what it receives, with times that are counted instead of measured.

    Args:
        captured: Where it is kept.

    Attributes:
        over: Whether the block has ended. A handoff that goes on in a thread or task is nobody's then.
    """

    def __init__(self, captured: Captured) -> None:
        self._captured = captured
        self._turns = Turns()
        self.over = False

    def assessed(self, record: HandoffRecord, assessment: Assessment, *, seconds: float) -> None:
        """Keep a handoff."""
        if not self.over:
            self._turns.do(partial(self._keep, record, assessment))

    def noticed(self, notice: Notice, *, where: str = "") -> None:
        """Pass over what the monitor says about itself: in strict mode misuse raises."""

    def _keep(self, record: HandoffRecord, assessment: Assessment) -> None:
        self._captured.records.append(_counted(record))
        self._captured.assessments.append(assessment)


def _counted(record: HandoffRecord) -> HandoffRecord:
    """Return a record whose moments are a tick apart, in their order."""
    moments = {record.start_ns, record.end_ns}
    for stage in record.stages:
        moments |= {stage.start_ns} if stage.end_ns is None else {stage.start_ns, stage.end_ns}
    at = {moment: _START + place * _TICK for place, moment in enumerate(sorted(moments))}
    stages = tuple(
        replace(stage, start_ns=at[stage.start_ns], end_ns=None if stage.end_ns is None else at[stage.end_ns])
        for stage in record.stages
    )
    return replace(record, start_ns=at[record.start_ns], end_ns=at[record.end_ns], stages=stages)


class _Span(NonRecordingSpan):
    """A span of which only its numbers are kept.

    Args:
        trace_id: Of its trace.
        numbers: Counts the spans of its trace.
    """

    def __init__(self, trace_id: int, numbers: count[int]) -> None:
        super().__init__(SpanContext(trace_id, next(numbers), is_remote=False, trace_flags=TraceFlags(1)))
        self.numbers = numbers


class _Tracer(NoOpTracer):
    """Numbers traces, and the spans of each, from 1."""

    def __init__(self) -> None:
        self._traces = count(1)

    def start_span(self, name: str, context: Context | None = None, *args: object, **kwargs: object) -> Span:
        """Start a span in the trace of the one around it if that is a span of this tracer, else in a new trace."""
        around = get_current_span(context)
        if isinstance(around, _Span):
            return _Span(around.get_span_context().trace_id, around.numbers)
        return _Span(next(self._traces), count(1))
