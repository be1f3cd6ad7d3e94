"""What a report says of a file that it was judged from: its name, and the size and hash of its bytes as stored."""

from __future__ import annotations

import hashlib
import io
import os
from typing import Final

from rop_otel.core.profile.accounts import Input
from rop_otel.safety.files import open_input

_PIECE: Final = 1024 * 1024


class InputDigest:
    """Takes in the bytes of one file, in their order.

    Attributes:
        bytes: How many there were.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._hash = hashlib.sha256()

    def update(self, piece: memoryview) -> None:
        """Take in the next bytes."""
        self._hash.update(piece)
        self.bytes += len(piece)

    def input(self, file: str) -> Input:
        """Return what a report says of the file.

        Args:
            file: Its name, in whatever folder.
        """
        return Input(file=os.path.basename(file) or file, bytes=self.bytes, sha256=self._hash.hexdigest())


class DigestedStream(io.RawIOBase):
    """A stream whose bytes are taken in as they are read.

    Args:
        source: The stream.
        digest: What takes them in.
    """

    def __init__(self, source: io.BufferedReader, digest: InputDigest) -> None:
        self._source, self._digest = source, digest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # the buffer that BufferedReader hands in
        count = self._source.readinto1(buffer)
        self._digest.update(buffer[:count])
        return count


def digest_of(file: str) -> Input:
    """Return what a report says of a regular file, which is read for it.

    Raises:
        OSError: It cannot be read.
    """
    digest = InputDigest()
    with open_input(file) as stream:
        while piece := stream.read(_PIECE):
            digest.update(memoryview(piece))
    return digest.input(file)
