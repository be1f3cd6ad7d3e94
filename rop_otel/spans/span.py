"""A span as this project sees it: no SDK, no wire format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened within a span.

    Args:
        name: The event's name.
        attributes: As those of a span.
    """

    name: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One finished span.

    Args:
        trace_id, span_id: Lower-case hex where they are hex.
        parent_id: Span ID of the parent; None for a root.
        name: The span's name.
        kind: OTLP's number of the span kind; 0 is unspecified.
        start_ns, end_ns: Unix nanoseconds; 0 where not given.
        attributes: Name to a string, truth value, integer, float, bytes, None, or a list or mapping of these.
        failed: Whether its status is ERROR.
        scope: Name of the instrumentation scope; empty where not given.
        service: The resource's service name; None where not given.
        dropped_attributes: How many attributes were lost to a limit.
        events: In the order in which they were added.
        dropped_events: How many events were lost to a limit.
        unreadable: Whether it is a span of others with a value that OTLP does not allow. Then only its IDs count, so
            that spans below it still find those above.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: int = 0
    start_ns: int = 0
    end_ns: int = 0
    attributes: Mapping[str, object] = field(default_factory=dict)
    failed: bool = False
    scope: str = ""
    service: str | None = None
    dropped_attributes: int = 0
    events: tuple[Event, ...] = ()
    dropped_events: int = 0
    unreadable: bool = False
