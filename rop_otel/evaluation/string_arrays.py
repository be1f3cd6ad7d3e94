"""Many strings at once: positions in one buffer, a hash table over them, and exact look-ups."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Marks: TypeAlias = npt.NDArray[np.uint64]
Flags: TypeAlias = npt.NDArray[np.bool_]

PAD: Final = 8
"""Bytes that stand before the first string of a buffer: a whole word is read up to where any string ends."""

_WORD: Final = PAD
_SPREAD: Final = np.uint64(secrets.randbits(64) | 1)
"""An odd random factor of this process: so nobody can choose strings that all have one hash."""


class Texts:
    """Strings as UTF-8 in one buffer.

    Args:
        data: The buffer, with at least :data:`PAD` bytes before the first string.
        starts: Where each begins.
        ends: Where each ends.
    """

    def __init__(self, data: npt.NDArray[np.uint8], starts: Ints, ends: Ints) -> None:
        self.data, self.starts, self.ends = data, starts, ends
        # A word at every byte: reading it where a string ends, minus eight, gives the string's last eight bytes.
        words: Any = np.ndarray(shape=(max(len(data) - _WORD + 1, 0),), dtype="<u8", buffer=data.data, strides=(1,))
        self._words = words

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def of(cls, strings: Sequence[str]) -> Texts:
        """Return strings laid out."""
        whole = "".join(strings)
        if whole.isascii():
            lengths, data = map(len, strings), whole.encode()
        else:
            encoded = [text.encode() for text in strings]
            lengths, data = map(len, encoded), b"".join(encoded)
        sizes = np.fromiter(lengths, dtype=np.int64, count=len(strings))
        ends = np.cumsum(sizes) + _WORD
        return cls(np.frombuffer(bytes(_WORD) + data, dtype=np.uint8), ends - sizes, ends)

    @property
    def lengths(self) -> Ints:
        """How long each string is, in bytes."""
        return self.ends - self.starts

    def tails(self) -> Marks:
        """Return a mark of each string, its last eight bytes: equal strings have equal marks, others seldom."""
        return self._tails(self.starts, self.ends)

    def hashes(self) -> Marks:
        """Return a hash of each string: equal strings have equal hashes, others hardly ever."""
        starts, ends = self.starts, self.ends
        found: Marks = self._tails(starts, ends) * _SPREAD
        found ^= (ends - starts).astype(np.uint64)
        while (longer := ends - starts > _WORD).any():
            ends = np.where(longer, ends - _WORD, ends)
            more = (found ^ (found >> np.uint64(29))) * _SPREAD + self._tails(starts, ends)
            found = np.where(longer, more, found)
            starts = np.where(longer, starts, ends)
        result: Marks = found ^ (found >> np.uint64(32))
        return result

    def equal(self, places: Ints, other: Texts, other_places: Ints) -> Flags:
        """Return whether strings are equal to others, pair by pair."""
        starts, ends = self.starts[places], self.ends[places]
        other_starts, other_ends = other.starts[other_places], other.ends[other_places]
        same: Flags = ends - starts == other_ends - other_starts
        while True:
            same &= self._tails(starts, ends) == other._tails(other_starts, other_ends)
            longer = same & (ends - starts > _WORD)
            if not longer.any():
                return same
            ends = np.where(longer, ends - _WORD, ends)
            other_ends = np.where(longer, other_ends - _WORD, other_ends)
            starts = np.where(longer, starts, ends)
            other_starts = np.where(longer, other_starts, other_ends)

    def _tails(self, starts: Ints, ends: Ints) -> Marks:
        found: Marks = self._words[ends - _WORD]
        lengths = ends - starts
        if len(lengths) and int(lengths.min()) < _WORD:
            short = np.minimum(lengths, _WORD)
            unwanted = ((_WORD - short) * 8).astype(np.uint64)
            found = np.where(short > 0, found >> np.minimum(unwanted, np.uint64(63)), np.uint64(0))
        return found


class Index:
    """Finds strings among known ones.

    Args:
        known: The known strings, distinct.
    """

    def __init__(self, known: Texts) -> None:
        self._known, self._hashes = known, known.hashes()
        size = 1 << max(4, int(2 * len(known)).bit_length())
        self._mask = np.uint64(size - 1)
        self._slots = np.full(size, -1, dtype=np.int64)
        pending = np.arange(len(known), dtype=np.int64)
        slots = self._hashes & self._mask
        while len(pending):
            free = self._slots[slots] < 0
            self._slots[slots[free]] = pending[free]
            left = self._slots[slots] != pending
            pending, slots = pending[left], (slots[left] + np.uint64(1)) & self._mask

    def find(self, texts: Texts) -> Ints:
        """Return the place of each string among the known ones, -1 where it is none.

        A place is never wrong. But a known string is not found if another known string has the same hash.
        """
        found = np.full(len(texts), -1, dtype=np.int64)
        if not len(self._known):
            return found
        hashes = texts.hashes()
        pending, slots = np.arange(len(texts), dtype=np.int64), hashes & self._mask
        while len(pending):
            candidates = self._slots[slots]
            used = candidates >= 0
            alike = used & (self._hashes[candidates] == hashes[pending])
            found[pending[alike]] = candidates[alike]
            left = used & ~alike
            pending, slots = pending[left], (slots[left] + np.uint64(1)) & self._mask
        places = np.flatnonzero(found >= 0)
        found[places[~texts.equal(places, self._known, found[places])]] = -1
        return found
