"""Observations kept: each is counted and in the journal, or in neither, whatever interrupts that."""

from __future__ import annotations

from collections.abc import Callable

from rop_otel.runs.journal import Journal
from rop_otel.runs.observations import Mark, Observations
from rop_otel.safety import raise_if_delivered


class _Line:
    """A line that is being kept.

    Args:
        text: Without LF.
        mark: How the observations stood before it.
        place: Where it begins in the journal.
    """

    __slots__ = ("mark", "place", "text")

    def __init__(self, text: bytes, mark: Mark, place: int) -> None:
        self.text = text
        self.mark = mark
        self.place = place


class Keeper:
    """Counts observations and writes them to a journal. Whoever calls it holds the run's lock.

    A signal handler of the same thread may come in the middle of a line, and close the run: then it keeps that line
    itself, from its beginning, and the code that it interrupted leaves it alone.

    Args:
        observations: Where they are counted.
        journal: Where they are written down; None: nowhere.
        troubled: Called for errors of the journal.
    """

    def __init__(
        self, observations: Observations, journal: Journal | None, *, troubled: Callable[[OSError], None]
    ) -> None:
        self.observations = observations
        self._troubled = troubled
        self._journal = journal
        self._line: _Line | None = None
        self._place = 0 if journal is None else journal.size
        self._depth = 0
        self._closed = False

    def keep(self, text: bytes) -> bool:
        """Keep a line; where it cannot be counted nothing is left of it.

        Args:
            text: The line, without LF.

        Returns:
            False where a handler has closed this meanwhile: the line is late.
        """
        line = _Line(text, self.observations.mark(), self._place)
        if self._closed:
            return False
        self._line = line
        self._depth += 1
        over = False
        try:
            self._write(line)
            self.observations.take(text)
            place = self._place if self._journal is None else self._journal.size
            if self._line is line:  # else a handler has kept it; in the middle of this block none can come
                self._line = None
                self._place = place
                over = True
        except BaseException:
            if self._line is line:
                self._undo(line)
                over = True
            raise
        finally:
            self._depth -= 1
            if not over and self._journal is not None:
                self._journal.cut(self._place, len(text) + 1)
            self._let_go()
        return True

    def finish(self) -> bool:
        """Keep the line that the caller interrupts, if there is one; False where that is late."""
        line = self._line
        if line is None:
            return True
        self._undo(line)
        return self.keep(line.text)

    def close(self) -> None:
        """Let go of the journal, as soon as nobody is in the middle of a line."""
        self._closed = True
        self._let_go()

    def abandon(self) -> None:
        """Let go of the journal at once, in a forked process."""
        journal, self._journal = self._journal, None
        if journal is not None:
            journal.close()

    def _write(self, line: _Line) -> None:
        """Write a line to the journal; one that cannot be written is counted all the same."""
        if self._journal is not None:
            try:
                self._journal.append(line.text)
            except OSError as error:
                raise_if_delivered(error)
                if self._line is line:
                    self._troubled(error)

    def _undo(self, line: _Line) -> None:
        self.observations.go_back(line.mark)
        if self._journal is not None:
            self._journal.cut(line.place, len(line.text) + 1)
        self._line = None

    def _let_go(self) -> None:
        if self._closed and not self._depth and self._journal is not None:
            self._journal.close()
