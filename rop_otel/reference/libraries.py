"""The optional libraries of the reference pipeline: looked up where they are used, named when one is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from rop_otel.errors import PipelineError

_NEEDED = ("numpy", "faiss", "onnxruntime", "tokenizers")


def require_libraries(names: tuple[str, ...] = _NEEDED) -> None:
    """Check that every optional library is installed, without importing any.

    Args:
        names: Import names.

    Raises:
        PipelineError: One is missing; the message says how to get it.
    """
    for name in names:
        if find_spec(name) is None:
            raise PipelineError(_missing(name))


def load_library(name: str) -> Any:
    """Import one optional library. They are untyped, hence ``Any``.

    Raises:
        PipelineError: It is missing or cannot be loaded; the message says how to get it.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise PipelineError(f"{_missing(name)} ({error})") from error


def _missing(name: str) -> str:
    return f"the reference pipeline needs {name}: pip install rop-otel[cpu] (or rop-otel[gpu], not both)"
