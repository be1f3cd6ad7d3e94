"""A user's own function, named as ``module:function``."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

from rop_otel.errors import ConfigurationError
from rop_otel.safety.delivered import raise_if_delivered


def load_callable(name: str) -> Callable[..., Any]:
    """Import a function; a module of the current folder is found, too.

    Args:
        name: ``package.module:function``.

    Raises:
        ConfigurationError: There is none, or its module cannot be imported.
    """
    module, colon, attribute = name.partition(":")
    if not module or not colon or not attribute:
        raise ConfigurationError(f"a function is named as module:function, not {name!r}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise_if_delivered(error)
        raise ConfigurationError(f"{name!r} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise ConfigurationError(f"{name!r} is no function but {type(found).__name__}")
    function: Callable[..., Any] = found
    return function
