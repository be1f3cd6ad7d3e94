"""Opening a handoff, and finding the one that is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rop_otel.safety import catch_up
from rop_otel.tracing.declared import UNNAMED, Judged, declare, no_id_in, selected_ids
from rop_otel.tracing.handoff import Handoff
from rop_otel.tracing.here import here
from rop_otel.tracing.mishaps import Mishap
from rop_otel.tracing.runs import RUNS
from rop_otel.tracing.runtime import current
from rop_otel.tracing.scalars import as_name
from rop_otel.tracing.silent_handoff import SilentHandoff


class _NotDue:
    __slots__ = ()

    def __repr__(self) -> str:
        return "NOT_DUE"


NOT_DUE: Final = _NotDue()
"""No selection is due; unlike None, which is one that did not come."""


def handoff(
    name: str,
    *,
    cutoff: int | None = None,
    rule: str | None = None,
    mode: str | None = None,
    selected: object = NOT_DUE,
    judged: Judged | None = None,
    grades: Sequence[int] | None = None,
    record_id: str | None = None,
    run_id: str | None = None,
    scope: str | None = None,
    expected: Sequence[str] = (),
    starved_ratio: float | None = None,
) -> Handoff:
    """Return a handoff for a ``with`` or ``async with`` block, which is assessed at the end of the block.

    A wrong argument does not raise, save in strict mode: it is counted and logged once, and a wrong mode, rule or
    cutoff gives the verdict ``DECLARATION_INVALID``.

    Args:
        name: Low-cardinality name of this interface.
        cutoff: How many of the shown documents count; None: all.
        rule: ``any`` (default): one ID of the selected object has to be shown. ``all``: every member of it, as the
            resolver lists them; of several alternatives, every member of one.
        mode: ``hard``, ``soft`` or ``open``; None: ``hard`` where a selection is due, else ``open``.
        selected: What was selected, where that is known already; see :meth:`Handoff.select`.
        judged: The objects judged relevant, or a mapping from them to their grades.
        grades: Grades of ``judged``, in its order; a missing one is 1.
        record_id: The record that this handoff is.
        run_id: The run that it belongs to; None: the one whose block it is opened in, if any.
        scope: The library, tenant or container that the query is confined to.
        expected: The stages that this pipeline is declared to have, in order: a stage's name, else its kind.
        starved_ratio: Share of the token budget below which a context is starved; None: 0.1.
    """
    return _opened(
        selected,
        closes=True,
        name=name,
        cutoff=cutoff,
        rule=rule,
        mode=mode,
        judged=judged,
        grades=grades,
        record_id=record_id,
        run_id=run_id,
        scope=scope,
        expected=expected,
        starved_ratio=starved_ratio,
    )


def start_handoff(
    name: str,
    *,
    cutoff: int | None = None,
    rule: str | None = None,
    mode: str | None = None,
    selected: object = NOT_DUE,
    judged: Judged | None = None,
    grades: Sequence[int] | None = None,
    record_id: str | None = None,
    run_id: str | None = None,
    scope: str | None = None,
    expected: Sequence[str] = (),
    starved_ratio: float | None = None,
) -> Handoff:
    """Start a handoff that ends, and is assessed, when its ``close()`` is called; for answers that stream on.

    It is current for stages only inside ``with`` blocks of it, of which there may be several, and which do not end it.
    The arguments are those of :func:`handoff`.
    """
    return _opened(
        selected,
        closes=False,
        name=name,
        cutoff=cutoff,
        rule=rule,
        mode=mode,
        judged=judged,
        grades=grades,
        record_id=record_id,
        run_id=run_id,
        scope=scope,
        expected=expected,
        starved_ratio=starved_ratio,
    )


def current_handoff() -> Handoff:
    """Return the innermost open handoff of this thread or task; where none is open, one that does nothing."""
    catch_up()
    return here().handoff or SilentHandoff("handoff", "no handoff is open here")


def _opened(selected: object, *, closes: bool, name: object, **facts: Any) -> Handoff:
    runtime = current()
    if not runtime.enabled:
        return SilentHandoff(as_name(name) or UNNAMED, "monitoring is off")
    declared = declare(name, **facts, shape=runtime.shape)
    if selected is not NOT_DUE:
        declared.selected = selected_ids(selected, runtime.shape)
        if "" in declared.selected:
            declared.complaints["selected"] = no_id_in(selected)
    for argument, complaint in declared.complaints.items():
        runtime.mishaps.misuse(Mishap.HANDOFF, f"handoff {declared.name!r}, {argument}", complaint)
    resolver = runtime.config.resolver
    declared.resolver_sha256 = None if resolver is None else resolver.sha256
    run = RUNS.of(declared.run_id) if RUNS.open else None
    if run is not None:
        run.join(declared)
    opened = Handoff(declared, runtime, closes=closes, run=run)
    if not closes:
        opened._start()
    return opened
