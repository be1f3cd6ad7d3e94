"""Opening a handoff, and finding the one that is open."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Unpack, cast

from opentelemetry.context import Context

from rop_otel.core.handoff.record import UNNAMED
from rop_otel.safety import catch_up
from rop_otel.tracing.handoffs.declared import Declared, declare
from rop_otel.tracing.handoffs.handoff_protocol import Handoff
from rop_otel.tracing.handoffs.live_handoff import LiveHandoff
from rop_otel.tracing.handoffs.noop_handoff import NoopHandoff
from rop_otel.tracing.position.context_position import current_position
from rop_otel.tracing.results.scalars import as_name
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.open_runs import RUNS
from rop_otel.tracing.running.runtime import current


class _NotDue:
    __slots__ = ()

    def __repr__(self) -> str:
        return "NOT_DUE"


NOT_DUE: Final = _NotDue()
"""No selection is due. None, on the other hand, is a selection that was due and did not come."""


def handoff(name: str, **said: Unpack[Declared]) -> Handoff:
    """Return a handoff for a ``with`` or ``async with`` block. It is assessed at the end of the block.

    A wrong argument raises in strict mode only. Otherwise it is counted and logged once, and a wrong mode, need, rule
    or cutoff gives the verdict ``DECLARATION_INVALID``.

    Args:
        name: Name of this interface, not of the question: use few names.
        said: See :class:`~rop_otel.tracing.handoffs.declared.Declared`.
    """
    return _opened(name, said, closes=True)


def start_handoff(name: str, **said: Unpack[Declared]) -> Handoff:
    """Start a handoff that ends, and is assessed, when its ``close()`` is called; for answers that stream on.

    Stages belong to it only inside its ``with`` blocks. There may be several such blocks, and they do not end it. The
    arguments are those of :func:`handoff`.
    """
    return _opened(name, said, closes=False)


def current_handoff() -> Handoff:
    """Return the innermost open handoff of this thread or task; if none is open, one that does nothing."""
    catch_up()
    return handoff_at() or NoopHandoff("handoff", "no handoff is open here")


def handoff_at(context: Context | None = None) -> LiveHandoff | None:
    """Return the handoff of a context; None: of the current context."""
    return cast("LiveHandoff | None", current_position(context).handoff)


def _opened(name: object, said: Declared, *, closes: bool) -> Handoff:
    runtime = current()
    if not runtime.enabled:
        return NoopHandoff(as_name(name) or UNNAMED, "monitoring is off")
    if said.get("selected") is NOT_DUE:
        del said["selected"]
    record, complaints = declare(name, said, shape=runtime.shape)
    for argument, complaint in complaints.items():
        runtime.diagnostics.misuse(Problem.HANDOFF, f"handoff {record.name!r}, {argument}", complaint)
    if runtime.config.resolver is not None:
        record = replace(record, resolver_sha256=runtime.config.resolver.sha256)
    run = RUNS.of(record.run_id) if RUNS.open else None
    if run is not None:
        record = run.join(record)
    opened = LiveHandoff(record, runtime, closes=closes, run=run)
    if not closes:
        opened._start()
    return opened
