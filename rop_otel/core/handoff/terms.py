"""The terms of a handoff: mode, need, rule, cutoff and resolver."""

from __future__ import annotations

from typing import Final

from rop_otel.core.handoff.record import HandoffRecord
from rop_otel.core.profile import Resolver

HARD: Final = "hard"
OPEN: Final = "open"
MODES: Final = frozenset({HARD, "soft", OPEN})
ONE: Final = "one"
EVERY: Final = "every"
NEEDS: Final = frozenset({ONE, EVERY})
RULES: Final = frozenset({"any", "all"})


def mode_of(record: HandoffRecord) -> str:
    """Return the mode as recorded, else the default of the contract."""
    if record.mode is not None:
        return record.mode
    return OPEN if record.selected is None else HARD


def declaration_is_valid(record: HandoffRecord) -> bool:
    """Return whether mode, need, rule and cutoff are the contract's."""
    return (
        mode_of(record) in MODES
        and (record.need is None or record.need in NEEDS)
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
