"""ROP v1, the returned-object profile: declarations, resolvers, records, verdicts and run reports."""

from rop_otel.core.profile.membership import Membership
from rop_otel.core.profile.resolver import Resolver

__all__ = ["Membership", "Resolver"]
