"""Which version of this package is installed."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Final

DISTRIBUTION: Final = "rop-otel"
"""The name that it is installed under."""


@cache
def installed_version() -> str:
    """Return the version, as the installer has it."""
    return metadata.version(DISTRIBUTION)
