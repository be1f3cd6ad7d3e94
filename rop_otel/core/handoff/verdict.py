"""The seven record verdicts of ROP, applied to a handoff; the first match wins."""

from __future__ import annotations

from rop_otel.core.handoff.assessment import Verdict
from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.handoff.selection import Wanted
from rop_otel.core.handoff.shown_list import ShownList
from rop_otel.core.handoff.terms import HARD, declaration_is_valid, mode_of, usable_selection


def verdict_of(
    record: HandoffRecord,
    shown: ShownList,
    *,
    selection: Wanted | None,
    rank: int | None,
    resolver_at_hand: bool,
    contradicted: bool = False,
) -> Verdict:
    """Return the verdict.

    Args:
        record: The handoff.
        shown: Its shown list.
        selection: What the reader has to be shown, None where the selection is not usable.
        rank: Rank of the selection in the known shown list.
        resolver_at_hand: Whether the resolver that it names is the one given.
        contradicted: Whether the declaration in force is invalid, or is not the one that the handoff names.
    """
    if contradicted or not declaration_is_valid(record):
        return Verdict.DECLARATION_INVALID
    if mode_of(record) != HARD:
        return Verdict.NOT_APPLICABLE
    if not usable_selection(record):
        return Verdict.SELECTOR_ERROR
    if not resolver_at_hand:
        return Verdict.UNVERIFIABLE
    if selection is None:
        return Verdict.RESOLUTION_ERROR
    arrived = selection_arrives(record, shown, selection, rank=rank)
    if arrived is None:
        return Verdict.UNVERIFIABLE
    return Verdict.PASS if arrived else Verdict.FAIL


def selection_arrives(record: HandoffRecord, shown: ShownList, selection: Wanted, *, rank: int | None) -> bool | None:
    """Return whether the shown list holds the selection, up to the cutoff; None where that is not certain.

    Args:
        record: The handoff.
        shown: Its shown list.
        selection: What the reader has to be shown.
        rank: Rank of the selection in the known shown list.
    """
    if not shown.usable:
        return None
    if record.cutoff is None:
        arrives = shown_holds(shown, selection, rank=rank)
    else:
        arrives = rank is not None and rank <= record.cutoff
    return arrives if arrives or shown.decides(record.cutoff) else None


def shown_holds(shown: ShownList, selection: Wanted, *, rank: int | None) -> bool:
    """Return whether the rule is met by all recorded shown IDs, those without a known rank included.

    Args:
        shown: A usable shown list.
        selection: What it has to bring.
        rank: Rank of the selection in the known part.
    """
    return rank is not None or (shown.cut and selection.holds(frozenset(shown.ids)))
