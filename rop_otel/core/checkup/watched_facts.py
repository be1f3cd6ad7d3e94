"""What is seen of a handoff."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

from rop_otel.core.handoff import HandoffRecord, Ids, StageRecord, kinds
from rop_otel.core.handoff.findings.making import named, quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What is seen of a handoff. ``str()`` of it is a part of a sentence.

    Args:
        stages: Names, else kinds, in order of their ends, each once.
        example: An ID that a stage returned, empty without any.
        scored: The stages that give scores.
        labelled: The stages that give citation labels.
        selected: What was selected; None where nothing was to be.
    """

    stages: tuple[str, ...]
    example: str
    scored: tuple[str, ...]
    labelled: tuple[str, ...]
    selected: Ids | None

    def __str__(self) -> str:
        stages = ", ".join(self.stages) if self.stages else "no stage"
        ids = f"IDs such as {named(self.example)}" if self.example else "no IDs"
        scores = f"scores of {', '.join(self.scored)}" if self.scored else "no scores"
        labels = f"labels of {', '.join(self.labelled)}" if self.labelled else "no labels"
        selected = "nothing selected" if self.selected is None else f"selected {quoted(self.selected) or 'nothing'}"
        return f"{stages}; {ids}; {scores}; {labels}; {selected}"


def watched(record: HandoffRecord) -> Watched:
    """Return what is seen of a handoff."""
    stages = in_order(record.stages)
    returned = chain.from_iterable(stage.returned or () for stage in stages if stage.kind != kinds.READER)
    return Watched(
        stages=_names(stages, lambda _: True),
        example=next(filter(None, returned), ""),
        scored=_names(stages, lambda stage: stage.scores is not None),
        labelled=_names(stages, lambda stage: stage.labels is not None and stage.kind != kinds.READER),
        selected=record.selected,
    )


def in_order(stages: Iterable[StageRecord]) -> list[StageRecord]:
    """Return stages in the order of their ends, those that never ended last."""
    return sorted(stages, key=lambda stage: (stage.end_ns is None, stage.end_ns or 0, stage.start_ns))


def _names(stages: Iterable[StageRecord], fits: Callable[[StageRecord], bool]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(stage.name or stage.kind for stage in stages if fits(stage)))
