"""Handoffs of a run, and the interface that its declaration is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rop_otel as rop
from rop_otel.core.profile.sealing import DECLARATION_FILE
from rop_otel.errors import ConfigurationError
from tests.runs.audit import answer, sealed


@pytest.mark.parametrize(
    ("interfaces", "reason"),
    [
        (None, None),
        ({"qa": "ranker-api"}, None),
        ({"qa": ("ranker-api", "v1"), "other": "x"}, None),
        ({}, "the handoff's interface is 'qa', the run's is 'ranker-api'"),
        ({"qa": "search-api"}, "the handoff's interface is 'search-api', the run's is 'ranker-api'"),
        ({"qa": ("ranker-api", "v2")}, "the handoff's interface has the version 'v2', the run's 'v1'"),
    ],
)
def test_a_handoff_of_another_interface(
    tmp_path: Path, interfaces: dict[str, str | tuple[str, str]] | None, reason: str | None
) -> None:
    """Where it is said what handoffs stand for, one of another interface or version is no record of the run."""
    declaration = sealed(tmp_path, population=("r1",))
    with rop.run("nightly", declaration=declaration, interfaces=interfaces) as run:
        verdict = answer("r1", "obj-a", ["a#0"]).verdict
    [entry] = run.close().entries
    assert verdict == entry.verdict == ("PASS" if reason is None else "DECLARATION_INVALID")
    assert run.close().status == ("RUN_PASS" if reason is None else "RUN_INVALID")
    assert reason is None or entry.reason == reason


@pytest.mark.parametrize("interfaces", ["qa", 7, {"qa": 7}, {7: "qa"}, {"qa": ("a", "b", "c")}, {"qa": ""}, {"qa": ()}])
def test_interfaces_that_are_none(tmp_path: Path, interfaces: Any) -> None:
    """What maps no names to interfaces is reported, and nothing is compared; in strict mode it raises."""
    with rop.run("nightly", declaration=sealed(tmp_path, population=("r1",)), interfaces=interfaces) as run:
        answer("r1", "obj-a", ["a#0"])
    assert run.close().status == "RUN_PASS"
    rop.configure(strict=True)
    with pytest.raises(ConfigurationError, match="interfaces is"):
        rop.run("nightly", declaration=tmp_path / DECLARATION_FILE, interfaces=interfaces)
