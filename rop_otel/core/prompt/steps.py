"""A bound on how long a search may take: in proportion to what there is to read."""

from __future__ import annotations

from typing import Final

_FREE: Final = 8_000_000
_FOR_EACH_CHARACTER: Final = 32


class TooManyStepsError(Exception):
    """The search has taken all its steps."""


class Steps:
    """The steps that a search may take; one is about a nanosecond.

    Args:
        characters: That there are to read.
    """

    __slots__ = ("_left",)

    def __init__(self, characters: int) -> None:
        self._left = _FREE + _FOR_EACH_CHARACTER * characters

    def take(self, number: int) -> None:
        """Take some.

        Raises:
            TooManyStepsError: There are not so many left.
        """
        self._left -= number
        if self._left < 0:
            raise TooManyStepsError
