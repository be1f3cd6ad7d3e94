"""ROP v1: the identity resolver and the membership rule."""

from rop_otel.core.profile.membership import Membership
from rop_otel.core.profile.resolver import Resolver

__all__ = ["Membership", "Resolver"]
