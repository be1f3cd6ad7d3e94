"""The seven record verdicts of ROP, applied to a handoff; the first match wins."""

from __future__ import annotations

from typing import Final

from rop_otel.core.handoff.assessment import Verdict
from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.handoff.trip import ShownList
from rop_otel.core.profile import Membership, Resolver

HARD: Final = "hard"
OPEN: Final = "open"
MODES: Final = frozenset({HARD, "soft", OPEN})
RULES: Final = frozenset({"any", "all"})


def mode_of(record: HandoffRecord) -> str:
    """Return the mode as recorded, else the default of the contract."""
    if record.mode is not None:
        return record.mode
    return OPEN if record.selected is None else HARD


def declaration_is_valid(record: HandoffRecord) -> bool:
    """Return whether mode, rule and cutoff are the contract's."""
    return (
        mode_of(record) in MODES
        and (record.rule is None or record.rule in RULES)
        and (record.cutoff is None or record.cutoff >= 1)
    )


def at_hand(record: HandoffRecord, resolver: Resolver | None) -> bool:
    """Return whether the resolver that the handoff names, if any, is the one given."""
    named = record.resolver_sha256
    return named is None or (resolver is not None and resolver.sha256 == named)


def usable_selection(record: HandoffRecord) -> bool:
    """Return whether there is a selection and all of it are non-empty strings."""
    return bool(record.selected) and all(record.selected or ())


def membership_of(record: HandoffRecord, resolver: Resolver | None) -> Membership | None:
    """Return the membership rule of the selection, None where there is no usable one.

    Args:
        record: A handoff whose resolver is at hand.
        resolver: The resolver in force.
    """
    if not declaration_is_valid(record) or not usable_selection(record):
        return None
    selected = record.selected or ()
    if resolver is not None and any(resolver.resolve(key) is None for key in selected):
        return None
    return Membership(selected, rule="all" if record.rule == "all" else "any", resolver=resolver)


def verdict_of(
    record: HandoffRecord,
    shown: ShownList,
    *,
    membership: Membership | None,
    rank: int | None,
    resolver_at_hand: bool,
    contradicted: bool = False,
) -> Verdict:
    """Return the verdict.

    Args:
        record: The handoff.
        shown: Its shown list.
        membership: The rule of its selection, None where that is not usable.
        rank: Rank of the selection in the known shown list.
        resolver_at_hand: Whether the resolver that it names is the one given.
        contradicted: Whether the declaration in force is invalid, or is not what the handoff says it is.
    """
    if contradicted or not declaration_is_valid(record):
        return Verdict.DECLARATION_INVALID
    if mode_of(record) != HARD:
        return Verdict.NOT_APPLICABLE
    if not usable_selection(record):
        return Verdict.SELECTOR_ERROR
    if not resolver_at_hand:
        return Verdict.UNVERIFIABLE
    if membership is None:
        return Verdict.RESOLUTION_ERROR
    if not shown.usable:
        return Verdict.UNVERIFIABLE
    if record.cutoff is None:
        passed, certain = shown_holds(shown, membership, rank=rank), not shown.cut
    else:
        passed, certain = rank is not None and rank <= record.cutoff, not shown.cut or shown.known >= record.cutoff
    if passed:
        return Verdict.PASS
    return Verdict.FAIL if certain else Verdict.UNVERIFIABLE


def shown_holds(shown: ShownList, membership: Membership, *, rank: int | None) -> bool:
    """Return whether the rule is met by all recorded shown IDs, those without a known rank included.

    Args:
        shown: A usable shown list.
        membership: The rule of the selection.
        rank: Rank of the selection in the known part.
    """
    return rank is not None or (shown.cut and membership.holds(frozenset(shown.ids)))
