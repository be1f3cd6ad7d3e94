"""Validates a declaration: its document, and every file that it names."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator, Mapping
from typing import Any, Protocol

from rop_otel.core.profile.declaration import Declaration, Interface, Opened, Witness
from rop_otel.core.profile.declaration_faults import Fault, FileFaultError
from rop_otel.core.profile.declaration_models import Manifest, WitnessTarget, is_file_name
from rop_otel.core.profile.fieldpath import FieldPath
from rop_otel.core.profile.manifest import (
    at,
    check_fields,
    check_relations,
    in_document_order,
    parse_document,
    text_at,
)
from rop_otel.core.profile.population import PopulationError, parse_population
from rop_otel.core.profile.resolver import Resolver, parse_resolver_file
from rop_otel.core.profile.witness import Binding, parse_inverse_map
from rop_otel.errors import ResolverError


class Files(Protocol):
    """The files beside a declaration, by the name that it gives them."""

    def __call__(self, name: str, /) -> bytes:
        """Return a file's bytes.

        Raises:
            FileFaultError: It cannot be used.
        """


def open_declaration(data: bytes, files: Files) -> Opened:
    """Validate a declaration and every file that it names.

    Args:
        data: The declaration's exact bytes.
        files: Hands out the files that it names.
    """
    digest = hashlib.sha256(data).hexdigest()
    document, broken = parse_document(data)
    parts = _Parts(document=document, files=files)
    if broken:
        manifest, faults = None, [broken]
    else:
        manifest, faults = check_fields(document)
        faults += [*check_relations(document), *parts.check()]
    declaration = None if manifest is None or faults else parts.put_together(manifest, digest)
    return Opened(
        manifest_sha256=digest,
        declaration_id=text_at(document, "declaration_id"),
        mode=text_at(document, "mode"),
        record_field=_record_field(document),
        faults=in_document_order(faults, document),
        declaration=declaration,
    )


def _record_field(document: Any) -> FieldPath:
    try:
        return FieldPath.parse(text_at(document, "sheet.population.field") or "record_id")
    except ValueError:
        return FieldPath.parse("record_id")


class _Parts:
    """The files of one declaration, each checked as far as the rest of the document allows."""

    def __init__(self, *, document: Any, files: Files) -> None:
        self._document = document
        self._files = files
        self._resolver: Resolver | None = None
        self._population: tuple[str, ...] | None = None
        self._keys: Mapping[str, str] = {}

    def check(self) -> Iterator[Fault]:
        """Read and check every file, and keep what it holds."""
        yield from self._check_resolver("sheet.resolver")
        yield from self._check_population("sheet.population")
        if text_at(self._document, "sheet.target.form") == "witness":
            yield from self._check_inverse_map("sheet.target.inverse_map")

    def put_together(self, manifest: Manifest, digest: str) -> Declaration | None:
        """Return the declaration, which has been found valid."""
        sheet = manifest.sheet
        if self._resolver is None:
            return None
        population_sha256 = "" if self._population is None else sheet.population.sha256
        witness = None
        if isinstance(sheet.target, WitnessTarget):
            binding = Binding(
                declaration_id=manifest.declaration_id,
                manifest_sha256=digest,
                population_sha256=population_sha256,
                inverse_map_sha256=sheet.target.inverse_map.sha256,
            )
            witness = Witness(hash_field=FieldPath.parse(sheet.target.hash_field), keys=self._keys, binding=binding)
        return Declaration(
            declaration_id=manifest.declaration_id,
            interface=Interface(name=manifest.interface.name, version=manifest.interface.version),
            manifest_sha256=digest,
            mode=manifest.mode,
            selection_field=FieldPath.parse(sheet.target.field),
            output_field=FieldPath.parse(sheet.output.field),
            cutoff=sheet.output.cutoff,
            rule=sheet.output.rule,
            resolver=self._resolver,
            population=self._population,
            witness=witness,
            depth=sheet.output.depth,
            trace_field=FieldPath.parse(sheet.trace.field) if "trace" in sheet.model_fields_set else None,
            query_form=sheet.query_form,
        )

    def _check_resolver(self, place: str) -> Iterator[Fault]:
        data = yield from self._read(place)
        if data is None:
            return
        name = text_at(self._document, f"{place}.path") or ""
        try:
            self._resolver = parse_resolver_file(name, data)
        except ResolverError as error:
            yield Fault(code="resolver_invalid", path=f"{place}.path", message=f"{name!r}: {error}")
            return
        declared = text_at(self._document, f"{place}.version")
        if declared is not None and declared != self._resolver.version:
            why = f"the resolver's version is {self._resolver.version!r}, declared is {declared!r}"
            yield Fault(code="resolver_version_mismatch", path=f"{place}.version", message=why)

    def _check_population(self, place: str) -> Iterator[Fault]:
        data = yield from self._read(place)
        if data is None:
            return
        name = text_at(self._document, f"{place}.path")
        try:
            self._population = parse_population(data)
        except PopulationError as error:
            yield Fault(code="population_invalid", path=f"{place}.path", message=f"{name!r}: {error}")
            return
        declared = at(self._document, f"{place}.count")
        if isinstance(declared, int | float) and declared != len(self._population):
            why = f"the population holds {len(self._population)} record IDs, declared are {declared!r}"
            yield Fault(code="population_count_mismatch", path=f"{place}.count", message=why)

    def _check_inverse_map(self, place: str) -> Iterator[Fault]:
        data = yield from self._read(place)
        if data is not None:
            self._keys, faults = parse_inverse_map(data, resolver=self._resolver)
            for fault in faults:
                yield Fault(code=fault.code, path=f"{place}.path", message=str(fault))

    def _read(self, place: str) -> Generator[Fault, None, bytes | None]:
        name = text_at(self._document, f"{place}.path")
        if not name or not is_file_name(name):
            return None
        try:
            data = self._files(name)
        except FileFaultError as fault:
            yield Fault(code=fault.code, path=f"{place}.path", message=str(fault))
            return None
        declared = at(self._document, f"{place}.bytes")
        if isinstance(declared, int | float) and declared != len(data):
            why = f"{name!r} holds {len(data)} bytes, declared are {declared!r}"
            yield Fault(code="file_size_mismatch", path=f"{place}.bytes", message=why)
        digest, sealed = hashlib.sha256(data).hexdigest(), text_at(self._document, f"{place}.sha256")
        if sealed is not None and sealed != digest:
            why = f"the SHA-256 of {name!r} is {digest}, declared is {sealed!r}"
            yield Fault(code="file_hash_mismatch", path=f"{place}.sha256", message=why)
        return data
