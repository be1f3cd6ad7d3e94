"""Functions that find out what was selected or judged, also those that are only named in a setting."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

from rop_otel.errors import ConfigurationError

Judge: TypeAlias = Callable[[Any], Any]
"""Called likewise; returns the judged IDs, a mapping from IDs to grades, or None where nothing is judged."""

Selector: TypeAlias = Callable[[Any], object]
"""Called with the inputs of the topmost call.

Returns the selected ID, several alternatives, None where one was due and none came, or ``NOT_DUE`` where none was due.
"""

_FUNCTION: Final = re.compile(r"[\w.]+:[\w.]+")


def as_function(value: object, place: str) -> Callable[[Any], Any]:
    """Return a function, or one that is named; raise, with the place of the setting, where it is neither."""
    if callable(value):
        return value
    if isinstance(value, str) and _FUNCTION.fullmatch(value):
        return _Named(value)
    raise ConfigurationError(f"{place} is {value!r}; it must be a function, or written as 'module:function'")


@dataclass(frozen=True, slots=True)
class _Named:
    """A function that is named in a setting, and imported when it is first called.

    Settings are read before the application's own modules are there.
    """

    name: str

    def __call__(self, inputs: Any) -> Any:
        module, _, function = self.name.partition(":")
        return attrgetter(function)(_module(module))(inputs)


def _module(name: str) -> ModuleType:
    """Return a module; the running program where that is its name, which importing would run a second time."""
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    running = spec.name if spec is not None else Path(file).stem if file else ""
    return main if running == name else import_module(name)
