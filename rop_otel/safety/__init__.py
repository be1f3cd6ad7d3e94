"""What keeps the monitor from breaking the application that it runs in."""

from rop_otel.safety.collecting import is_collecting
from rop_otel.safety.delivered import raise_if_delivered
from rop_otel.safety.locks import create_lock

__all__ = ["create_lock", "is_collecting", "raise_if_delivered"]
