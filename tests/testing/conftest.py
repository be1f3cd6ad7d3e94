from __future__ import annotations

from tests.tracing.conftest import _put_back, watch, watched

__all__ = ["_put_back", "watch", "watched"]
