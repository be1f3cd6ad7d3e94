"""Monitors that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.monitor.kept import Kept


@pytest.fixture
def keep(tmp_path: Path) -> Iterator[Callable[..., Kept]]:
    """Return what makes a monitor over one file; the next one finds what the one before has kept."""
    made: list[Kept] = []

    def make(**settings: Any) -> Kept:
        for each in made:
            each.store.close()
        made.append(Kept(tmp_path / "kept.db", **settings))
        return made[-1]

    yield make
    for each in made:
        each.monitor.close()
