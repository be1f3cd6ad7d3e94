"""Blocks, wrappers and feeds, word by word as the contract has them, and as slow as that is."""

from __future__ import annotations

from dataclasses import dataclass, field

from rop_otel.core.handoff import HandoffRecord, StageRecord, kinds
from rop_otel.core.handoff.order import in_order


@dataclass(eq=False)
class Stage:
    """A stage that is not left out, and what stands in its block."""

    record: StageRecord
    place: int
    around: Stage | None = None
    wraps: Standing | None = None


@dataclass(frozen=True)
class Standing:
    """A stage as it stands in a block."""

    stage: Stage
    place: int
    round: int | None
    source: bool


@dataclass
class ByTheText:
    """The stages of a handoff that are no wrappers, and what feeds each, by place among all that are not left out."""

    kept: list[Stage] = field(default_factory=list)
    feeds: dict[int, set[tuple[int, bool]]] = field(default_factory=dict)
    end: set[tuple[int, bool]] = field(default_factory=set)


def by_the_text(record: HandoffRecord) -> ByTheText:
    """Return what the contract says of a handoff without foreign stages."""
    ordered = in_order(record)
    stages = [Stage(stage, place) for place, stage in enumerate(ordered.stages)]
    spans = {each.span_id: each for each in record.stages}
    counting = {stage.record.span_id: stage for stage in stages if stage.record.kind != kinds.READER}
    for stage in stages:
        above = stage.record.parent_id
        while above in spans and not (above in counting and ends_after(counting[above], stage)):
            above = spans[above].parent_id
        stage.around = counting.get(above) if above is not None else None
    for stage in stages:  # in order: what a stage encloses comes before it
        if stage.record.kind == kinds.READER:
            continue
        handed = handed_on(stages, stage, stage.place)
        if len(handed) == 1 and same_list(stage.record, handed[0].stage.record):
            source = kinds.is_source(stage.record)
            if source or kinds.is_custom(stage.record) or stage.record.kind == handed[0].stage.record.kind:
                stage.wraps = handed[0]
                if source:
                    stage.wraps = Standing(handed[0].stage, stage.place, stage.record.round, source=True)
    result = ByTheText(kept=[stage for stage in stages if stage.wraps is None])
    for stage in result.kept:
        result.feeds[stage.place] = {(each.stage.place, each.source) for each in feeding(stages, stage)}
    result.end = {(each.stage.place, each.source) for each in handed_on(stages, None, len(stages))}
    return result


def ends_after(one: Stage, other: Stage) -> bool:
    """Return whether a stage does not end before another one."""
    return (one.record.end_ns or 0) >= (other.record.end_ns or 0)


def same_list(one: StageRecord, other: StageRecord) -> bool:
    """Return whether both are readable, with equal IDs and count."""
    return one.returned is not None and one.returned == other.returned and one.true_count == other.true_count


def block_of(stage: Stage) -> Stage | None:
    """Return the stage whose own block a stage belongs to: what a wrapper that is no source encloses moves out."""
    around = stage.around
    while around is not None and around.wraps is not None and not kinds.is_source(around.record):
        around = around.around
    return around


def standing_in(stages: list[Stage], block: Stage | None, point: int) -> list[Standing]:
    """Return what stands in a block before a point, in order, readers aside."""
    found: list[Standing] = []
    for stage in stages[:point]:
        if stage.record.kind == kinds.READER or block_of(stage) is not block:
            continue
        source = kinds.is_source(stage.record)
        if stage.wraps is None:
            found.append(Standing(stage, stage.place, stage.record.round, source))
        elif source:
            found.append(stage.wraps)
    return found


def tail(chain: list[Standing]) -> list[Standing]:
    """Return the last stage of a chain or, where it ends in sources, those."""
    start = len(chain)
    while start and chain[start - 1].source:
        start -= 1
    return chain[start:] or chain[-1:]


def handed_on(stages: list[Stage], block: Stage | None, point: int) -> list[Standing]:
    """Return what a block hands on at a point."""
    standing = standing_in(stages, block, point)
    plain = [each for each in standing if each.round is None]
    last = max((each.place for each in plain if not each.source), default=-1)
    found = tail(plain)
    for number in {each.round for each in standing if each.round is not None}:
        found += tail([each for each in standing if each.round == number and each.place > last])
    return found


def feeding(stages: list[Stage], stage: Stage) -> list[Standing]:
    """Return what feeds a stage."""
    record = stage.record
    if record.fed_by:
        by_name = [named(stages[: stage.place], name, record.round) for name in record.fed_by]
        return [each for each in by_name if each is not None]
    found = handed_on(stages, stage, stage.place) if record.kind != kinds.READER else []
    if kinds.is_source(record):
        return found
    block = block_of(stage)
    while True:
        if record.round is None:
            before = handed_on(stages, block, stage.place)
        else:
            before = tail([each for each in standing_in(stages, block, stage.place) if each.round == record.round])
        if before or block is None or kinds.is_source(block.record):
            return found + before
        block = block_of(block)


def named(earlier: list[Stage], name: str, number: int | None) -> Standing | None:
    """Return the latest earlier stage of a name, else of a kind, in a round."""
    of_round = [each for each in earlier if each.record.round == number and each.record.kind != kinds.READER]
    for alike in (
        [each for each in of_round if (each.record.name or each.record.kind) == name],
        [each for each in of_round if each.record.kind == name],
    ):
        if alike:
            last = alike[-1]
            return last.wraps or Standing(last, last.place, number, kinds.is_source(last.record))
    return None
