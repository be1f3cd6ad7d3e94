"""Reads a declaration and the files beside it from disk: only regular files inside its folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.declaration_faults import FileFaultError
from rop_otel.core.profile.validation import open_declaration
from rop_otel.errors import InputError
from rop_otel.evaluation.collection_pause import collection_paused
from rop_otel.evaluation.limits import DEFAULT_LIMITS, RAISE_FILE_BYTES, Limits
from rop_otel.safety import raise_if_delivered
from rop_otel.safety.files import read_up_to, reason, too_large


def read_declaration(file: str, *, limits: Limits = DEFAULT_LIMITS) -> Opened:
    """Open a declaration. Everything that is wrong with it, or with a file that it names, is among its faults.

    Args:
        file: The declaration's name.
        limits: How large it, and each file that it names, may be.

    Raises:
        InputError: There is no such file, it cannot be read, or it is too large.
    """
    try:
        place = Path(file).resolve(strict=True)
        data = _read_regular(place, limits)
    except FileFaultError as error:
        raise InputError(str(error), file=file) from None
    except (OSError, ValueError, RuntimeError) as error:
        raise_if_delivered(error)
        raise InputError(f"cannot be read: {reason(error)}", file=file) from None

    def beside(name: str) -> bytes:
        return _read_beside(place.parent, name, limits)

    with collection_paused():
        return open_declaration(data, beside)


def _read_beside(folder: Path, name: str, limits: Limits) -> bytes:
    try:
        place = (folder / name).resolve(strict=True)
        if not place.is_relative_to(folder):
            raise FileFaultError("file_outside", f"{name!r} leads out of the declaration's folder, to {str(place)!r}")
        return _read_regular(place, limits)
    except FileFaultError as error:
        raise FileFaultError(error.code, str(error) if repr(name) in str(error) else f"{name!r} {error}") from None
    except FileNotFoundError:
        raise FileFaultError("file_missing", f"there is no file {name!r} beside the declaration") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise_if_delivered(error)
        raise FileFaultError("file_unreadable", f"{name!r} cannot be read: {reason(error)}") from None


def _read_regular(place: Path, limits: Limits) -> bytes:
    # Not blocking: the name may stand for a pipe that nobody writes to.
    with open(os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise FileFaultError("file_not_regular", "is no regular file")
        data = read_up_to(stream, limits.max_file_bytes)
    if data is None:
        raise FileFaultError("file_too_large", too_large(limits.max_file_bytes, RAISE_FILE_BYTES))
    return data
