"""Dataclasses that type checkers hold to be frozen.

A frozen dataclass sets each field through ``object.__setattr__``, which takes three times as long: 3.6 instead of
1.3 µs for the record of a stage. A handoff of ten spans makes twenty of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses

    def dataclass(*, frozen, **options):
        """Return the decorator of a dataclass: equal values are one key, as of a frozen one."""
        return dataclasses.dataclass(unsafe_hash=frozen, **options)
