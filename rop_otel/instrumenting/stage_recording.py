"""Stages of the components of a framework, also those that are recorded later than they ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import rop_otel as rop
from rop_otel.core.handoff import kinds
from rop_otel.instrumenting.settings import Settings
from rop_otel.tracing.stages.live_stage import LiveStage
from rop_otel.tracing.stages.prompting import Prompted
from rop_otel.tracing.stages.stage_protocol import Stage


class Kind(NamedTuple):
    """What a component is.

    Args:
        kind: The kind of its stage, one of the contract's or a custom one.
        source: Whether it takes no documents; a kind of the contract's says that by itself.
        name: Which one, where there may be several of a kind.
    """

    kind: str
    source: bool = False
    name: str | None = None


def stage_of(settings: Settings, kind: Kind, component: object = None, **described: Any) -> Stage:
    """Return the stage of a component; its documents have their IDs and scopes where the settings say.

    Args:
        settings: The user's.
        kind: What it is.
        component: The component, of whose class the implementation is; None: nobody knows which it is.
        described: As for :func:`rop_otel.using_stage`, instead of what follows from these.
    """
    known: dict[str, Any] = {
        "name": kind.name,
        "source": kind.source and kind.kind not in kinds.KINDS,
        "id": settings.id,
        "scope": settings.scope,
        "implementation": None if component is None else type(component).__name__,
    }
    return rop.using_stage(kind.kind, **{**known, **described})


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
