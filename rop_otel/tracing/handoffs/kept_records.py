"""What is recorded of a handoff only at its end, when all of it is known."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class KeptRecords:
    """What packages that watch a framework keep back until a handoff ends, or is told its answer."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: deque[Callable[[], None]] = deque()

    def add(self, record: Callable[[], None]) -> None:
        """Keep back something to record; it is called once, and must not raise."""
        self._records.append(record)

    def __bool__(self) -> bool:
        return bool(self._records)

    def settle(self) -> None:
        """Have all of it recorded."""
        while self._records:
            self._records.popleft()()
