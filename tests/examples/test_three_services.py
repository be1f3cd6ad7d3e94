"""The example of a selector, a retriever and a reader behind HTTP, whose handoffs the monitor assesses."""

from __future__ import annotations

import os
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "fastapi-rag"
LOST = "shutil.rmtree"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Return what the program defines, without running it."""
    for name in [name for name in os.environ if name.startswith(("OTEL_", "ROP_OTEL_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UVICORN_TIMEOUT_WORKER_HEALTHCHECK", "600")  # a busy machine's workers may start slowly
    monkeypatch.syspath_prepend(EXAMPLE)
    before: dict[str, Any] = {
        name: sys.modules.pop(name) for name in ("corpus", "main", "receiver") if name in sys.modules
    }
    try:
        yield runpy.run_path(str(EXAMPLE / "three_services.py"), run_name="example")
    finally:
        for name in [name for name, each in sys.modules.items() if Path(_file(each)).parent == EXAMPLE]:
            del sys.modules[name]
        sys.modules.update(before)


def _file(module: object) -> str:
    return getattr(module, "__file__", None) or ""


def test_the_monitor_sees_what_no_service_sees(example: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Of three services of two workers each, every handoff has its verdict and place of loss, as the README shows."""
    get = example["get"]
    with example["running"]() as services:
        example["show"](services)
        rows = {row["record_id"]: row for row in get(f"{services.monitor}/api/handoffs")["handoffs"]}
        lost = get(f"{services.monitor}/api/handoffs/{rows['q6']['handoff_id']}")
        with urlopen(f"{services.monitor}/metrics") as answer:
            metrics = answer.read().decode()
    shown = capsys.readouterr().out
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert f"$ python three_services.py\n{shown}```" in readme

    outcomes = {record: (row["verdict"], row["dropped_at"], row["drop_cause"]) for record, row in rows.items()}
    assert outcomes == {
        **{f"q{number}": ("PASS", None, None) for number in range(1, 6)},
        "q6": ("FAIL", "packing", "over_budget"),
    }
    assert {row["service"] for row in rows.values()} == {"selector"}
    found = {stage["stage"]: stage["ids"] for stage in lost["stages"] if stage["stage"] != "reader"}
    assert [*found] == ["lexical", "vector", "fusion", "packing"]
    assert LOST in found["fusion"]
    assert LOST not in found["packing"]
    [counted] = re.findall(r"^rop_selected_misses_total\{(.*over_budget.*)\} 1\.0", metrics, flags=re.MULTILINE)
    assert 'rop_dropped_at="packing"' in counted
    with pytest.raises(OSError, match="refused"):
        get(f"{services.monitor}/readyz")
