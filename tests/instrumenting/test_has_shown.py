"""Whether what a reader was shown is recorded already."""

from __future__ import annotations

import rop_otel as rop
from rop_otel.instrumenting import before_the_end, has_shown
from rop_otel.testing import capture


def test_a_handoff_that_shows_something() -> None:
    """A packing that has ended shows something, also one that is recorded with the answer; nothing else does."""

    def record() -> None:
        with rop.using_stage("packing") as packing:
            packing.returned(["a"])

    with capture() as captured, rop.handoff("kept", selected="a") as handoff:
        before_the_end(handoff, record)
        with rop.using_stage("vector") as search:
            search.returned(["a"])
        assert not has_shown(handoff)
        handoff.answered("So it is.")
        assert has_shown(handoff)
    assert [stage.kind for stage in captured.records[0].stages] == ["vector", "packing", "reader"]


def test_no_handoff_shows_anything() -> None:
    """Where none is open, nothing was shown."""
    assert not has_shown(rop.current_handoff())
