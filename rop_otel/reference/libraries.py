"""The optional libraries of the reference pipeline: looked up where they are used, named when one is missing."""

from __future__ import annotations

import os
from collections.abc import Collection
from importlib import import_module
from importlib.metadata import distributions
from importlib.util import find_spec
from typing import Any

from rop_otel.errors import PipelineError, remedy

_RIVALS = (("faiss-cpu", "faiss-gpu"), ("onnxruntime", "onnxruntime-gpu"))
"""Distributions of one import: where both are installed, the files of the later one have replaced the other's."""

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
    # From its import on, onnxruntime would write to the user's cache folder and report to its maker.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return import_module(name)
    except ImportError as error:
        raise PipelineError(f"{_missing(name)} ({error})") from error


def rival_distributions(installed: Collection[str] | None = None) -> list[str]:
    """Return a sentence for each pair of distributions that overwrite each other's files and are both installed.

    Args:
        installed: Names of distributions; None: those of this environment.
    """
    names = {str(found.name).lower() for found in distributions()} if installed is None else set(installed)
    return [
        f"{one} and {other} are both installed and overwrite each other: uninstall both, then install one"
        for one, other in _RIVALS
        if {one, other} <= names
    ]


def _missing(name: str) -> str:
    return f"the reference pipeline needs {name}: {remedy('cpu')} (or gpu instead, not both)"
