"""JSON Schemas of what ROP v1 reads and writes, made from the models."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel

from rop_otel.core.profile.declaration_models import Manifest
from rop_otel.core.profile.report_models import RecordReport, ResolverDocument, RunReportDocument

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

SCHEMAS: Final[Mapping[str, type[BaseModel]]] = MappingProxyType(
    {
        "declaration": Manifest,
        "resolver": ResolverDocument,
        "record_report": RecordReport,
        "run_report": RunReportDocument,
    }
)
"""Name of each schema to the model it is made from."""

_HARD: Final = {
    "if": {"properties": {"mode": {"const": "hard"}}},
    "then": {
        "properties": {
            "sheet": {
                "required": ["population"],
                "properties": {"interface": {"properties": {"requires_selected_return": {"const": True}}}},
            }
        }
    },
    "else": {
        "properties": {
            "sheet": {"properties": {"interface": {"properties": {"requires_selected_return": {"const": False}}}}}
        }
    },
}


def schema(name: str) -> dict[str, Any]:
    """Return one JSON Schema (2020-12).

    What relates several fields or files stands beside it, in the checks.

    Args:
        name: A key of :data:`SCHEMAS`.
    """
    made = {"$schema": DIALECT, **SCHEMAS[name].model_json_schema()}
    return {**made, **_HARD} if name == "declaration" else made
