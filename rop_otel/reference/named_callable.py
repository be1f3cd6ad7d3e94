"""Functions of one's own under a name, as the command line gives them: ``name=module:function``."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rop_otel.errors import ConfigurationError
from rop_otel.safety.callables import load_callable

_NAMED = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)=(?P<function>.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCallable:
    """A function under a name.

    Args:
        name: What reports call it.
        call: The function.
        sha256: Of the file that it is defined in; None where there is none.
    """

    name: str
    call: Callable[..., Any]
    sha256: str | None


def load_named(texts: Iterable[str], *, taken: Collection[str]) -> dict[str, NamedCallable]:
    """Import the functions among some names, by their own names.

    Args:
        texts: Names, some of them as ``name=module:function``.
        taken: Names that no function can have.

    Raises:
        ConfigurationError: A text has another shape, a name is taken, or there is no such function.
    """
    found: dict[str, NamedCallable] = {}
    for text in texts:
        if "=" not in text:
            continue
        parts = _NAMED.fullmatch(text)
        if parts is None:
            raise ConfigurationError(f"{text!r} is not of the form name=module:function")
        name = parts["name"]
        if name in taken or name in found:
            raise ConfigurationError(f"{text!r}: the name {name!r} is taken; give the function another one")
        call = load_callable(parts["function"])
        found[name] = NamedCallable(name=name, call=call, sha256=_file_hash(call))
    return found


def _file_hash(call: Callable[..., Any]) -> str | None:
    try:
        file = inspect.getsourcefile(call)
    except TypeError:
        return None
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file and Path(file).is_file() else None
