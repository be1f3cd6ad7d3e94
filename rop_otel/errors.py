"""The error tree.

::

    RopError                    everything that this package raises on purpose
    ├── ConfigurationError      an argument or environment variable that cannot be used
    ├── UsageError              the API called in a way that cannot work (raised while decorating, or in strict mode)
    ├── ResolverError           a resolver that breaks the rules of ROP v1
    ├── InputError              a file that cannot be read as what it should be; carries file and line
    └── PipelineError           the reference pipeline cannot run (a model or an optional library is missing)

Telemetry never raises into the application: at run time these are counted and logged instead, unless
``configure(strict=True)``.
"""

from __future__ import annotations

from collections.abc import Iterable


class RopError(Exception):
    """Everything that this package raises on purpose."""


class ConfigurationError(RopError, ValueError):
    """An argument or environment variable that cannot be used."""


class UsageError(RopError, TypeError):
    """The API called in a way that cannot work."""


class ResolverError(RopError, ValueError):
    """A resolver that breaks the rules of ROP v1."""


class InputError(RopError, ValueError):
    """A file that cannot be read as what it should be.

    Args:
        message: What is wrong, in one sentence.
        file: The file's name as the user gave it.
        line: 1-based line, where one is known.
    """

    def __init__(self, message: str, *, file: str, line: int | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line


class PipelineError(RopError, RuntimeError):
    """The reference pipeline cannot run: a model or an optional library is missing."""


def remedy(extra: str) -> str:
    """Return what to do where the libraries of an extra are missing.

    >>> remedy("cpu")
    "install the extra cpu of rop-otel, as in pip install '<checkout>[cpu]'"
    """
    return f"install the extra {extra} of rop-otel, as in pip install '<checkout>[{extra}]'"


def refuse_unknown(call: str, given: Iterable[str], known: type) -> None:
    """Raise :class:`TypeError`, as a call does, for a keyword that is none of a typed dictionary's.

    >>> refuse_unknown("f()", ["b"], type("Known", (), {"__annotations__": {"a": int}}))
    Traceback (most recent call last):
    TypeError: f() got an unexpected keyword argument 'b'
    """
    for name in given:
        if name not in known.__annotations__:
            raise TypeError(f"{call} got an unexpected keyword argument {name!r}")
