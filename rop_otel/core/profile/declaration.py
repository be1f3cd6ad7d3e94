"""A valid declaration, and a declaration as it was found, valid or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rop_otel.core.profile.declaration_faults import Fault
from rop_otel.core.profile.fieldpath import FieldPath
from rop_otel.core.profile.membership import Rule
from rop_otel.core.profile.resolver import Resolver
from rop_otel.core.profile.witness import Binding

Mode = Literal["hard", "soft", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A witness target, ready to decode.

    Args:
        hash_field: Where a record carries the hash that binds its witness.
        keys: Witness value to selected key.
        binding: What each witness is bound to.
    """

    hash_field: FieldPath
    keys: Mapping[str, str] = field(repr=False)
    binding: Binding


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """An interface.

    Args:
        name: Its name.
        version: Its version; None if it is not given.
    """

    name: str
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A valid declaration.

    Args:
        declaration_id: Its name.
        interface: The interface that it is about.
        manifest_sha256: SHA-256 of its exact bytes.
        mode: Whether the selected object is required to be returned.
        selection_field: Where a record carries its selection, or its witness.
        output_field: Where a record carries what was returned.
        cutoff: How many returned IDs the reader sees, at least 1.
        rule: The membership rule.
        resolver: The identity resolver.
        population: The expected record IDs, sorted; None where none is declared.
        witness: None where records carry the selected key itself.
        depth: How deep every list was stored, at least the cutoff; None where the sheet does not say.
        trace_field: Where a record carries the dataset's judged objects; None where the sheet names no such field.
        query_form: How queries were built; None where the sheet does not say.
    """

    declaration_id: str
    interface: Interface
    manifest_sha256: str
    mode: Mode
    selection_field: FieldPath
    output_field: FieldPath
    cutoff: int
    rule: Rule
    resolver: Resolver
    population: tuple[str, ...] | None = field(repr=False)
    witness: Witness | None
    depth: int | None = None
    trace_field: FieldPath | None = None
    query_form: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A declaration as it was found, valid or not.

    Args:
        manifest_sha256: SHA-256 of its exact bytes.
        declaration_id: Its name; None where an invalid one has no string there.
        mode: Its mode as written in the envelope; None where an invalid one has no string there.
        record_field: Where a record carries its ID; ``record_id`` where no population says.
        faults: In document order; empty exactly where it is valid.
        declaration: None where it is not.
        interfaces: Name of a handoff to the interface that it stands for; a handoff of another name stands for the
            interface of that name. None: interfaces are not compared.
    """

    manifest_sha256: str
    declaration_id: str | None
    mode: str | None
    record_field: FieldPath
    faults: tuple[Fault, ...]
    declaration: Declaration | None
    interfaces: Mapping[str, Interface] | None = None
