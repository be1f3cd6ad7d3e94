"""What becomes of failures of our own code: the application never sees them, its log does, once."""

from __future__ import annotations

import logging
import sys
from typing import Final

_logger = logging.getLogger("rop_otel")
_logged: Final[set[str]] = set()


def failed(what: str) -> None:
    """Log the exception that is being handled, once for each thing that failed."""
    if what not in _logged:
        _logged.add(what)
        _logger.warning("%s (logged once)", what, exc_info=sys.exception())
