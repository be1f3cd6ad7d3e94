"""How the user called this program, for commands that they can copy."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def typed_command() -> str:
    """Return the program as the user would type it where they stand, quoted for a shell."""
    called = Path(sys.argv[0])
    found = shutil.which(called.name)
    return called.name if found and Path(found).resolve() == called.resolve() else shlex.quote(sys.argv[0])
