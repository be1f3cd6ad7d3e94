"""Stages that an instrumentation package records later than they ran, or of what it found by itself."""

from __future__ import annotations

from collections.abc import Sequence

from rop_otel.instrumenting.settings import Settings
from rop_otel.tracing.stages.live_stage import LiveStage
from rop_otel.tracing.stages.prompting import Prompted
from rop_otel.tracing.stages.stage_protocol import Stage


def ran(stage: Stage, began: int, ended: int) -> Stage:
    """Return a stage that is recorded later than it ran, before its block: it stands among others where it ran.

    Args:
        stage: Of a handoff.
        began: The moment when it began.
        ended: The moment when it ended.
    """
    if isinstance(stage, LiveStage) and began and ended:
        stage.ran(began, ended)
    return stage


def record_shown(stage: Stage, documents: Sequence[object], shown: Prompted | None, settings: Settings) -> None:
    """Record what a prompt shows of documents, as :func:`look` found it; as assumed where prompts show them rewritten.

    Args:
        stage: What made the prompt.
        documents: That it was given; of none nothing is shown, which is known.
        shown: What the prompt shows; None: it cannot be decided.
        settings: The user's.
    """
    if settings.shows == "rewritten":
        stage.returned(documents, basis="assumed")
    elif isinstance(stage, LiveStage):
        stage.show(shown if documents else Prompted([], [], None))
