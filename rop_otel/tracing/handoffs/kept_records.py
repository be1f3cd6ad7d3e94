"""Facts that are recorded only at the end of a handoff, when all of it is known."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class KeptRecords:
    """Facts that instrumentation packages keep back until a handoff ends, or until its answer is reported."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: deque[Callable[[], None]] = deque()

    def add(self, record: Callable[[], None]) -> None:
        """Keep back a function that records something. It is called once, and must not raise."""
        self._records.append(record)

    def __bool__(self) -> bool:
        return bool(self._records)

    def settle(self) -> None:
        """Call all functions that were kept back."""
        while self._records:
            self._records.popleft()()
