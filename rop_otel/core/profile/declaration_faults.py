"""Why a declaration is invalid: a closed table of codes, and the faults that carry a code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "not_ijson": "The declaration is not an I-JSON object (invalid UTF-8, byte order mark, duplicate key, NaN, …).",
        "missing_field": "A required field is absent.",
        "unknown_field": "The profile does not know this field.",
        "wrong_type": "The value has another type than the field's. null does not count as absent.",
        "empty_string": "A string is empty and must not be.",
        "not_allowed": "The value is not one of those allowed for the field.",
        "out_of_range": "The integer is outside the field's range.",
        "not_sha256": "The value is not 64 lower-case hex digits.",
        "malformed_path": "The field path has an empty name, a stray bracket or more than one list.",
        "interface_mismatch": "The interface of the envelope is not the sheet's.",
        "component_mismatch": "The component of the envelope is not the sheet's.",
        "output_component_mismatch": "The output's component is not the sheet's component.",
        "mode_mismatch": "The mode of the envelope is not the policy's.",
        "policy_revision_mismatch": "The policy revision of the envelope is not the policy's.",
        "requirement_mismatch": "The mode is hard without the selected-return requirement, or the other way round.",
        "population_required": "The mode is hard, and there is no population.",
        "depth_below_cutoff": "The stored depth is less than the cutoff.",
        "sheet_hash_mismatch": "The sheet's canonical form (RFC 8785) has another SHA-256 than the declared one.",
        "file_name": "A file's name is not relative to the declaration's folder, or has a backslash or .. in it.",
        "file_missing": "A file that the declaration names does not exist.",
        "file_outside": "A file's name leads through a link to a place outside the declaration's folder.",
        "file_not_regular": "A name stands for a folder, a device or a pipe.",
        "file_unreadable": "A file cannot be read.",
        "file_too_large": "A file is larger than the limit in force.",
        "file_size_mismatch": "A file has another length than the declared one.",
        "file_hash_mismatch": "A file has another SHA-256 than the declared one.",
        "population_invalid": "The population file is not sorted, distinct, non-empty lines that each end with LF.",
        "population_count_mismatch": "The population holds another number of record IDs than the declared one.",
        "resolver_invalid": "The resolver file breaks a rule of the profile.",
        "resolver_version_mismatch": "The resolver's version is not the declared one.",
        "inverse_map_invalid": "The inverse map is not an I-JSON object of strings.",
        "inverse_map_not_injective": "Two witness values decode to one selected key.",
        "inverse_map_unresolvable": "A witness value decodes to a key that the resolver does not know.",
    }
)
"""Code to its meaning. A test compares the table in the documentation with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that makes a declaration invalid.

    Args:
        code: A key of :data:`CODES`.
        path: The place in the declaration, names joined by dots; empty for the whole document.
        message: One sentence with the values in it.
    """

    code: str
    path: str
    message: str


class FileFaultError(Exception):
    """A file that a declaration names cannot be used.

    Args:
        code: A key of :data:`CODES`.
        message: One sentence that names the file.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
