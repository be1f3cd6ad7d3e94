"""Population files: sorted by code point, distinct, LF alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile.population import PopulationError, parse_population, write_population

NAMES = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1)


@given(st.sets(NAMES, min_size=1))
def test_what_is_written_is_read(names: set[str]) -> None:
    """Any record IDs without line ends come back sorted by code point."""
    assert parse_population(write_population(list(names))) == tuple(sorted(names))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "^it is empty; a population holds at least one record ID$"),
        (b"a", "^the last line does not end with LF$"),
        (b"a\n\n", "line 2: it is empty"),
        (b"\n", "line 1: it is empty"),
        (b"b\na\n", "sorted"),
        (b"a\na\n", "twice"),
        (b"a\r\nb\r\n", "^line 1 holds a carriage return; lines end with LF alone$"),
        (b"a\nb\r\n", "line 2 holds a carriage return"),
        (b"a\rb\n", "carriage return"),
        (b"\xff\n", "UTF-8"),
        ("\U0001d11e\n\uffee\n".encode(), "sorted"),
    ],
)
def test_anything_else_is_refused(data: bytes, why: str) -> None:
    """Each broken rule is named."""
    with pytest.raises(PopulationError, match=why):
        parse_population(data)


@pytest.mark.parametrize("names", [[], [""], ["a\nb", "a"], ["a\r"], ["a", "a"], ["\ud800"]])
def test_what_cannot_be_read_is_not_written(names: list[str]) -> None:
    """A list that makes no population is refused before it is sealed."""
    with pytest.raises(PopulationError):
        write_population(names)


def test_an_id_with_a_line_feed_cannot_be_written() -> None:
    """It would be read back as two IDs."""
    with pytest.raises(PopulationError, match="line feed"):
        write_population(["r1\nr2"])
