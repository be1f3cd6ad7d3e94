"""What keeps the monitor from breaking the application that it runs in."""

from rop_otel.safety.afterwards import WhenGone, afterwards, catch_up
from rop_otel.safety.collecting import collection, is_collecting
from rop_otel.safety.delivered import insist, raise_if_delivered, suppress_own
from rop_otel.safety.forks import in_child
from rop_otel.safety.locks import create_lock
from rop_otel.safety.turns import Turns

__all__ = [
    "Turns",
    "WhenGone",
    "afterwards",
    "catch_up",
    "collection",
    "create_lock",
    "in_child",
    "insist",
    "is_collecting",
    "raise_if_delivered",
    "suppress_own",
]
