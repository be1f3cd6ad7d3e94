"""File names: a name says what is inside, so that no two files of the product share one."""

from __future__ import annotations

from collections import Counter

from tests.contracts.sources import python_files

THE_SAME_THING = {"__init__.py", "schema.py"}
"""Names that say the same thing in two rooms: a verb, and what it prints."""


def test_no_two_files_share_a_name() -> None:
    """A name finds one file."""
    names = Counter(path.name for path in python_files("rop_otel"))
    assert {name for name, count in names.items() if count > 1} <= THE_SAME_THING
