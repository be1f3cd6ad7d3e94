"""What is current in another context, and after it."""

from __future__ import annotations

import pytest
from opentelemetry.context import get_current, get_value, set_value

from rop_otel.instrumenting import using_context


def test_a_block_is_in_its_context_and_puts_the_one_before_back() -> None:
    """Also where the block raises."""
    before = get_current()
    with pytest.raises(StopIteration), using_context(set_value("where", "inside", before)):
        next(iter([]))
    assert get_current() is before
    with using_context(set_value("where", "inside", before)):
        assert get_value("where") == "inside"
    assert get_current() is before
