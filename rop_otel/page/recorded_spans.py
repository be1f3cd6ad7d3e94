"""The spans of one handoff, written anew from its facts: what replay reads to the same assessment.

Texts that spans carry are no facts, so that none can be among them, whatever convention they were read from.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import fields
from typing import Any, Final

from rop_otel import semconv
from rop_otel.core.handoff import HandoffRecord, StageRecord
from rop_otel.core.handoff.attributes import STAGE_ATTRIBUTES, handoff_attributes
from rop_otel.core.handoff.record import STAGE_FACTS
from rop_otel.page.carried import Carried
from rop_otel.spans import Span
from rop_otel.spans.otlp_writer import span_fields

_INTERNAL: Final = 1
"""OTLP's number of that span kind."""

_DEFAULTS: Final = {each.field: each.default for each in STAGE_FACTS}
_ZERO: Final = re.compile("0*")
_HEX: Final = re.compile("[0-9a-f]*", re.ASCII)
_TRACE, _SPAN = 32, 16


def groups_of(record: HandoffRecord, carried: Carried) -> list[dict[str, Any]]:
    """Return the spans of a handoff in groups of one service, as the page makes an export request of them.

    That is OTLP JSON, but for attributes, which are plain values here.

    Args:
        record: The handoff.
        carried: What its spans carry beside the facts.
    """
    groups: dict[str | None, list[dict[str, Any]]] = {}
    for span in spans_of(record, carried):
        groups.setdefault(span.service, []).append(_plain(span))
    return [{"service": service, "scope": semconv.SCOPE_NAME, "spans": spans} for service, spans in groups.items()]


def _plain(span: Span) -> dict[str, Any]:
    return {**span_fields(span), "attributes": dict(span.attributes)}


def spans_of(record: HandoffRecord, carried: Carried) -> list[Span]:
    """Return the spans of a handoff: its own, and one for each of its stages.

    Args:
        record: The handoff.
        carried: What its spans carry beside the facts.
    """
    stages = {(stage.trace_id, stage.span_id): stage for stage in reversed(record.stages)}
    own = record.span_id
    while (record.trace_id, own) in stages:  # a retrieval alone is handoff and stage in one
        own = _digits(f"handoff {own}", _SPAN)
    own = _hex(own, _SPAN)
    spans = [
        Span(
            trace_id=_hex(record.trace_id, _TRACE),
            span_id=own,
            name=semconv.SPAN_HANDOFF.format(name=record.name),
            kind=_INTERNAL,
            start_ns=record.start_ns,
            end_ns=record.end_ns,
            attributes=handoff_attributes(record),
            failed=record.failed,
            scope=semconv.SCOPE_NAME,
            service=carried.service(record.trace_id, record.span_id),
        )
    ]
    for stage in reversed(stages.values()):
        above = stage.parent_id if (stage.trace_id, stage.parent_id) in stages else None
        within = own if stage.trace_id == record.trace_id else None
        spans.append(
            Span(
                trace_id=_hex(stage.trace_id, _TRACE),
                span_id=_hex(stage.span_id, _SPAN),
                parent_id=within if above is None else _hex(above, _SPAN),
                name=stage.name or stage.kind,
                kind=_INTERNAL,
                start_ns=stage.start_ns,
                end_ns=record.end_ns + 1 if stage.end_ns is None else stage.end_ns,
                attributes=_attributes(record, stage, carried),
                failed=stage.failed,
                scope=semconv.SCOPE_NAME,
                service=carried.service(stage.trace_id, stage.span_id),
            )
        )
    return spans


def _attributes(record: HandoffRecord, stage: StageRecord, carried: Carried) -> dict[str, Any]:
    said = {
        STAGE_ATTRIBUTES[each.name]: value
        for each in fields(stage)
        if each.name in STAGE_ATTRIBUTES and (value := getattr(stage, each.name)) != _DEFAULTS[each.name]
    }
    more = {
        semconv.GEN_AI_TOP_K: carried.top_k(stage.trace_id, stage.span_id),
        semconv.GEN_AI_QUERY_TEXT: carried.query(stage.trace_id, stage.span_id),
    }
    return {
        semconv.STAGE: stage.kind,
        semconv.HANDOFF_ID: record.handoff_id,
        **said,
        **{name: value for name, value in more.items() if value is not None},
    }


def _hex(value: str, digits: int) -> str:
    """Return an ID as OTLP has it; one that is none, which other people's spans may have, becomes one."""
    if len(value) == digits and _HEX.fullmatch(value) and not _ZERO.fullmatch(value):
        return value
    return _digits(value, digits)


def _digits(value: str, digits: int) -> str:
    return hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()[:digits]
