"""A declaration's document: parsed, checked field by field and against itself, faults in document order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rop_otel.core.profile import ijson
from rop_otel.core.profile.canonical import canonical_sha256
from rop_otel.core.profile.declaration_faults import Fault
from rop_otel.core.profile.declaration_models import Manifest

_BY_TYPE: Final = {
    "missing": "missing_field",
    "extra_forbidden": "unknown_field",
    "string_too_short": "empty_string",
    "literal_error": "not_allowed",
    "union_tag_invalid": "not_allowed",
    "union_tag_not_found": "missing_field",
    "greater_than_equal": "out_of_range",
    "less_than_equal": "out_of_range",
    "int_parsing_size": "out_of_range",
    "string_pattern_mismatch": "not_sha256",
    "malformed_path": "malformed_path",
    "file_name": "file_name",
}
"""Pydantic's error types to our codes; every other is a wrong type."""

_EQUAL: Final = (
    ("interface_mismatch", "interface.name", "sheet.interface.name"),
    ("interface_mismatch", "interface.version", "sheet.interface.version"),
    ("component_mismatch", "component", "sheet.component"),
    ("mode_mismatch", "mode", "sheet.policy.mode"),
    ("policy_revision_mismatch", "policy_revision", "sheet.policy.revision"),
    ("output_component_mismatch", "sheet.output.component", "sheet.component"),
)
"""Code, place of the fault, place that it must equal."""


def parse_document(data: bytes) -> tuple[Any, Fault | None]:
    """Return the declaration's JSON object, or an empty one and what is wrong with the bytes."""
    try:
        document = ijson.loads(data)
    except ijson.IJsonError as error:
        return {}, Fault(code="not_ijson", path="", message=f"the declaration: {error}")
    if not isinstance(document, dict):
        return {}, Fault(code="not_ijson", path="", message="the declaration must be a JSON object")
    return document, None


def at(document: Any, path: str) -> Any:
    """Return what stands at dotted names, None where there is nothing."""
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def text_at(document: Any, path: str) -> str | None:
    """Return the string at dotted names, None where there is none."""
    found = at(document, path)
    return found if isinstance(found, str) else None


def check_fields(document: Any) -> tuple[Manifest | None, list[Fault]]:
    """Check every field by itself; the model is None where one is at fault."""
    try:
        return Manifest.model_validate(document), []
    except ValidationError as error:
        return None, [_field_fault(details) for details in error.errors(include_url=False)]


def check_relations(document: Any) -> Iterator[Fault]:
    """Compare the fields with each other, as far as both sides can be read."""
    for code, path, other in _EQUAL:
        left, right = text_at(document, path), text_at(document, other)
        if left is not None and right is not None and left != right:
            yield Fault(code=code, path=path, message=f"{path} is {left!r}, {other} is {right!r}; they must be equal")
    yield from _check_mode(document)
    yield from _check_depth(document)
    yield from _check_seal(document)


def _check_mode(document: Any) -> Iterator[Fault]:
    mode = text_at(document, "sheet.policy.mode") or text_at(document, "mode")
    required = at(document, "sheet.interface.requires_selected_return")
    path = "sheet.interface.requires_selected_return"
    if isinstance(required, bool) and mode in {"hard", "soft", "open"} and required != (mode == "hard"):
        why = f"{path} is {str(required).lower()} in {mode} mode; hard mode holds exactly when it is true"
        yield Fault(code="requirement_mismatch", path=path, message=why)
    sheet = at(document, "sheet")
    if mode == "hard" and isinstance(sheet, dict) and "population" not in sheet:
        why = "hard mode needs sheet.population, the complete list of expected record IDs"
        yield Fault(code="population_required", path="sheet.population", message=why)


def _check_depth(document: Any) -> Iterator[Fault]:
    path = "sheet.output.depth"
    cutoff, depth = at(document, "sheet.output.cutoff"), at(document, path)
    if all(isinstance(number, int | float) for number in (cutoff, depth)) and depth < cutoff:
        why = f"{path} is {depth!r}, the cutoff is {cutoff!r}; lists are stored at least as deep as the reader sees"
        yield Fault(code="depth_below_cutoff", path=path, message=why)


def _check_seal(document: Any) -> Iterator[Fault]:
    sheet, sealed = at(document, "sheet"), text_at(document, "sheet_sha256")
    if not isinstance(sheet, dict) or sealed is None:
        return
    try:
        found = canonical_sha256(sheet)
    except (ValueError, RecursionError) as error:
        found = f"none: {error}"
    if found != sealed:
        why = f"the sheet's canonical SHA-256 is {found}, sheet_sha256 is {sealed!r}"
        yield Fault(code="sheet_hash_mismatch", path="sheet_sha256", message=why)


def in_document_order(faults: Iterable[Fault], document: Any) -> tuple[Fault, ...]:
    """Sort faults by their place in the document; one of a field that is absent stands where its parent ends."""
    entered: dict[str, int] = {}
    left: dict[str, int] = {}
    _number("", document, entered, left)

    def place(fault: Fault) -> int:
        if fault.path in entered:
            return entered[fault.path]
        parent = fault.path
        while parent and parent not in left:
            parent = parent.rpartition(".")[0]
        return left[parent]

    return tuple(sorted(faults, key=place))


def _number(path: str, value: Any, entered: dict[str, int], left: dict[str, int]) -> None:
    entered[path] = len(entered) + len(left)
    if isinstance(value, dict) and path.count(".") < _DEEPEST_PART:
        for name, item in value.items():
            _number(f"{path}.{name}" if path else name, item, entered, left)
    left[path] = len(entered) + len(left)


_DEEPEST_PART: Final = 4
"""Dots in the longest path that a fault can carry, and one more; below that nothing needs a number."""


def _field_fault(details: ErrorDetails) -> Fault:
    names = [str(name) for name in details["loc"]]
    if names[:2] == ["sheet", "target"]:
        del names[2:3]  # the target's form, which is no field around its fields
    kind = details["type"]
    if kind.startswith("union_tag"):
        names.append("form")
    path = ".".join(names)
    message = details["msg"][:1].lower() + details["msg"][1:]
    if " should " in message:
        message = f"{message}, not {_shown(details['input'])}"
    return Fault(code=_BY_TYPE.get(kind, "wrong_type"), path=path, message=f"{path}: {message}")


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= 80 else f"{text[:77]}..."
