"""Every measure: each file of this folder registers its own."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from rop_otel.core.measures.measure import REGISTERED, Measure

_ROOM: Final = __name__.rpartition(".")[0]

for _file in iter_modules(import_module(_ROOM).__path__):
    import_module(f"{_ROOM}.{_file.name}")

MEASURES: Final[tuple[Measure, ...]] = tuple(sorted(REGISTERED, key=lambda measure: measure.place))
"""In the order of reports and dashboards."""
