"""The JSON Schemas, made from the models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rop_otel.core.profile.schema import SCHEMAS, schema

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "schemas"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_the_committed_one(name: str) -> None:
    """What the models give stands in the documentation, field by field in the same order."""
    made = json.dumps(schema(name))
    assert made == json.dumps(json.loads((COMMITTED / f"{name}.json").read_text(encoding="utf-8")))
