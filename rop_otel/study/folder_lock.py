"""A folder that one process writes to at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rop_otel.errors import InputError
from rop_otel.safety.files import input_errors

if sys.platform != "win32":  # where two processes that share a folder are not kept apart
    from fcntl import LOCK_EX, LOCK_NB, flock


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made where it is missing. The lock is on the folder itself and ends with the process.

    Raises:
        InputError: Another process holds it, or it cannot be made or opened.
    """
    with input_errors(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    with input_errors(str(folder)):
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _claim(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _claim(descriptor: int, folder: Path) -> None:
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise InputError(
            "another process writes to it; wait for it, or name another folder", file=str(folder)
        ) from None
    except OSError:
        pass  # a file system that has no locks on folders
