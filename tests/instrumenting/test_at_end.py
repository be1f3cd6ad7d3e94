"""What instrumentation packages leave for the end of a handoff."""

from __future__ import annotations

import pytest

import rop_otel as rop
from rop_otel.instrumenting import at_end
from tests.tracing.watched import Watched


def test_it_is_done_inside_of_the_handoff(watched: Watched) -> None:
    """What it records counts, and is not late."""

    def record() -> None:
        with rop.using_stage("packing") as stage:
            stage.returned(["a"])

    with rop.handoff("qa", selected="a") as handoff:
        at_end(handoff, record)
    assert (str(handoff.assessment.verdict), handoff.assessment.findings) == ("PASS", ())
    assert not rop.current_handoff().id


def test_one_that_raises(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, those after it are done, and the handoff is assessed."""
    done: list[str] = []
    with rop.handoff("qa", selected="a") as handoff:
        at_end(handoff, lambda: 1 / 0)
        at_end(handoff, lambda: done.append("after"))
    assert done == ["after"]
    assert str(handoff.assessment.verdict) == "UNVERIFIABLE"
    assert any("was not recorded" in record.getMessage() for record in caplog.records)
