"""What every room's tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from opentelemetry import _logs, metrics, trace

from rop_otel.export import setup

ROOT = Path(__file__).resolve().parent.parent
SAME_DOCUMENTATION = sys.version_info[:2] == (3, 11)
"""Whether the standard library says of itself what it said where outputs of examples that search it were written."""

# How long an example takes on a busy machine says nothing about the code. Every run tries the same examples, so that a
# change fails for what it changed; pytest --hypothesis-profile=search tries ten times as many others.
settings.register_profile("rop", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("search", settings.get_profile("rop"), derandomize=False, max_examples=1000)
# For make mutants: what a few examples do not notice is looked at by hand, and nobody needs the smallest one.
settings.register_profile(
    "mutants", settings.get_profile("rop"), max_examples=25, phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("rop")


@pytest.fixture
def shared_data() -> Path:
    """The folder of real data sets, which are too large for the repository.

    ``ROP_OTEL_SHARED_DATA`` names it; by default it lies beside the checkout. Without it a test is skipped, except
    in CI, where it fails: nothing is skipped there unseen.
    """
    folder = Path(os.environ.get("ROP_OTEL_SHARED_DATA") or ROOT.parent / "shared" / "data").resolve()
    if folder.is_dir():
        return folder
    reason = f"no data sets at {folder}; name their folder in ROP_OTEL_SHARED_DATA"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (CI=true, so this test may not be skipped)")
    pytest.skip(reason)


@pytest.fixture(autouse=True)
def _globals_stay_untouched() -> Iterator[None]:
    """Whoever sets a global provider puts the old one back, and whoever configures shuts down: tests come after it."""
    before = _global_providers()
    yield
    assert _global_providers() == before
    assert setup._process._runtime is None, "it is still configured, which a process that is forked later begins with"


def _global_providers() -> tuple[object, ...]:
    return (trace._TRACER_PROVIDER, metrics._internal._METER_PROVIDER, _logs._internal._LOGGER_PROVIDER)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name long bytes by their argument: packed ones hold the time, and all workers have to name tests alike."""
    return argname if isinstance(val, bytes) and len(val) > 20 else None
