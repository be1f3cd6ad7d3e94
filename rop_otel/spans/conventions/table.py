"""How a convention describes retrieval, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

RETRIEVER: Final = "retriever"
"""Our kind of a source of which a convention does not say whether it is vector, lexical or another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageForm:
    """What one kind of span stands for.

    Args:
        kind: Our kind of stage.
        source: Whether it takes no documents, where the kind does not say so.
        returned: Attributes of the span, or of an event, that may hold the documents it returned; the first counts.
        handed: Attributes that may hold the documents it was handed, likewise.
        implementation: Attribute that names what ran.
    """

    kind: str
    source: bool = False
    returned: tuple[str, ...] = ()
    handed: tuple[str, ...] = ()
    implementation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """One convention.

    Args:
        markers: Attributes that distinguish its spans from others.
        stages: Value of a marker, in lower case, to what such a span stands for.
        events: Names of events that each hold one returned document, in attributes that begin with the event's name.
        event_stage: What a span with such events stands for where its marker's value does not say.
    """

    markers: tuple[str, ...]
    stages: Mapping[str, StageForm]
    events: tuple[str, ...] = ()
    event_stage: StageForm | None = None
