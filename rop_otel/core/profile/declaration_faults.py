"""Why a declaration is invalid: a closed table of codes, and faults that carry one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "not_ijson": "The declaration is no I-JSON object: invalid UTF-8, a byte order mark, a duplicate key, NaN, …",
        "missing_field": "A required field is absent.",
        "unknown_field": "A field that the profile does not know.",
        "wrong_type": "A value of another type than the field's; null is not absence.",
        "empty_string": "A string that must not be empty is.",
        "not_allowed": "A value outside the field's closed set.",
        "out_of_range": "An integer outside the field's range.",
        "not_sha256": "Not 64 lower-case hex digits.",
        "malformed_path": "A field path with an empty name, a stray bracket or more than one list.",
        "interface_mismatch": "The interface of the envelope is not the sheet's.",
        "component_mismatch": "The component of the envelope is not the sheet's.",
        "output_component_mismatch": "The output's component is not the sheet's component.",
        "mode_mismatch": "The mode of the envelope is not the policy's.",
        "policy_revision_mismatch": "The policy revision of the envelope is not the policy's.",
        "requirement_mismatch": "Hard mode without the selected-return requirement, or the requirement without it.",
        "population_required": "Hard mode without a population.",
        "depth_below_cutoff": "The stored depth is less than the cutoff.",
        "sheet_hash_mismatch": "The sheet's canonical form (RFC 8785) has another SHA-256 than declared.",
        "file_name": "A file is not named relative to the declaration's folder, with / only and no .. in it.",
        "file_missing": "A file that the declaration names does not exist.",
        "file_outside": "A file's name leads out of the declaration's folder through a link.",
        "file_not_regular": "A name stands for a folder, a device or a pipe.",
        "file_unreadable": "A file cannot be read.",
        "file_too_large": "A file is larger than the limit in force.",
        "file_size_mismatch": "A file has another length than declared.",
        "file_hash_mismatch": "A file has another SHA-256 than declared.",
        "population_invalid": "The population file is not sorted, distinct, non-empty lines that each end with LF.",
        "population_count_mismatch": "The population holds another number of record IDs than declared.",
        "resolver_invalid": "The resolver file breaks a rule of the profile.",
        "resolver_version_mismatch": "The resolver's version is not the declared one.",
        "inverse_map_invalid": "The inverse map is no I-JSON object of strings.",
        "inverse_map_not_injective": "Two witness values decode to one selected key.",
        "inverse_map_unresolvable": "A witness value decodes to a key that the resolver does not know.",
    }
)
"""Code to what it means; the documentation's table is compared with it."""


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
