"""The example of two services, as a test uses it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "fastapi-rag"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the example's program defines, without running it."""
    pytest.importorskip("fastapi")
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.setenv("UVICORN_TIMEOUT_WORKER_HEALTHCHECK", "600")  # a busy machine's workers may start slowly
    for name in [name for name in ("corpus", "receiver") if name in sys.modules]:
        monkeypatch.delitem(sys.modules, name)
    return runpy.run_path(str(EXAMPLE / "main.py"), run_name="example")
