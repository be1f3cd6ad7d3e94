"""Does pieces of work one after another, also if a signal handler adds a piece while another one is being done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from rop_otel.safety.locks import create_lock


class Turns:
    """Does one piece of work at a time, from any thread, and each piece as a whole.

    A thread waits for its turn. A signal handler or finalizer that interrupts a piece of its own thread cannot wait for
    it: its piece is done next, by the code that it interrupts.

    Attributes:
        lock: Held during each piece. Code that only reads takes it; in a signal handler it may read during a piece.
    """

    __slots__ = ("_due", "lock")

    def __init__(self) -> None:
        self.lock: Final = create_lock()
        self._due: deque[Callable[[], object]] = deque()

    def do(self, piece: Callable[[], object]) -> None:
        """Do a piece of work now, or right after the one that the caller interrupts.

        Args:
            piece: The work. What it raises reaches the code that does it, which may be another thread's.
        """
        self._due.append(piece)
        self.settle()

    def settle(self) -> None:
        """Do the pieces that are due, unless the caller interrupts a piece. Call it after reading with the lock."""
        while not self.is_taken_here:
            with self.lock:
                self.catch_up()
            if not self._due:  # a handler may have come after the last look, and found the lock taken
                return

    def catch_up(self) -> None:
        """Do the pieces that are due; the caller holds the lock."""
        while True:
            try:
                piece = self._due.popleft()
            except IndexError:
                return
            piece()

    @property
    def is_taken_here(self) -> bool:
        """Whether the caller's thread holds the lock."""
        taken: bool = self.lock._is_owned()  # type: ignore[attr-defined]   # every other way waits
        return taken
