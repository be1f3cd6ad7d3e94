"""Depth, trace field and query form in a sheet: what is measured beside the verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.core.profile.declared import changed, files, opened
from tests.core.profile.test_validation import codes, put


def test_what_is_measured_is_optional() -> None:
    """Depth, trace field and query form are read where they are sealed; 9.0 is 9, and the cutoff is deep enough."""
    found = changed(
        put("sheet.output.depth", 9.0), found=files(trace_field="gold[]", query_form="as asked")
    ).declaration
    assert found is not None
    assert found.trace_field is not None
    assert (found.depth, found.trace_field.text, found.query_form) == (9, "gold[]", "as asked")
    plain = opened(depth=3).declaration
    assert plain is not None
    assert (plain.depth, plain.trace_field, plain.query_form) == (3, None, None)


DEPTH = ("depth_below_cutoff", "sheet.output.depth")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (put("sheet.output.depth", 2), [("depth_below_cutoff", "sheet.output.depth")]),
        (put("sheet.output.depth", 0), [("out_of_range", "sheet.output.depth"), DEPTH]),
        (put("sheet.output.depth", "9"), [("wrong_type", "sheet.output.depth")]),
        (put("sheet.output.depth", None), [("wrong_type", "sheet.output.depth")]),
        (put("sheet.depth", 9), [("unknown_field", "sheet.depth")]),
        (put("sheet.trace", {}), [("missing_field", "sheet.trace.field")]),
        (put("sheet.trace", "gold"), [("wrong_type", "sheet.trace")]),
        (put("sheet.trace", {"field": "a[].b[]"}), [("malformed_path", "sheet.trace.field")]),
        (put("sheet.trace", {"field": "gold", "note": ""}), [("unknown_field", "sheet.trace.note")]),
        (put("sheet.query_form", ""), [("empty_string", "sheet.query_form")]),
        (put("sheet.query_form", None), [("wrong_type", "sheet.query_form")]),
    ],
)
@pytest.mark.parametrize("mode", ["hard", "soft"])
def test_a_fault_is_named(change: Callable[[dict[str, Any]], None], expected: list[tuple[str, str]], mode: str) -> None:
    """Each kind of fault has its code and its place, in every mode."""
    found = changed(change, found=files(mode=mode))
    assert codes(found) == expected
    assert found.declaration is None
