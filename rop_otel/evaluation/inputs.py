"""The entries of a report about the files from which it was made."""

from __future__ import annotations

import os

from rop_otel.core.profile.accounts import Input
from rop_otel.safety.digested_files import Digest


def input_of(file: str, digest: Digest) -> Input:
    """Return the report's entry of a file whose bytes were read.

    Args:
        file: Its name, in whatever folder.
        digest: Of its bytes as stored.
    """
    return Input(file=os.path.basename(file) or file, bytes=digest.bytes, sha256=digest.sha256)
