"""Sealing a declaration: the decisions and the files beside it, with every count and hash computed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rop_otel.core.profile.canonical import canonical_sha256
from rop_otel.core.profile.declaration import Mode
from rop_otel.core.profile.declaration_models import ROP_VERSION
from rop_otel.core.profile.membership import Rule
from rop_otel.core.profile.resolver import Resolver

DECLARATION_FILE: Final = "declaration.json"
POPULATION_FILE: Final = "population.txt"
INVERSE_MAP_FILE: Final = "inverse.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """The decisions behind a declaration; everything else in it follows from these and from the files.

    Args:
        declaration_id: The declaration's name.
        interface: Name of the interface that the run is about.
        interface_version: Its version.
        specification: Where it is documented whether the selected object must be returned.
        component: The component whose output is checked.
        mode: ``hard`` where it must be returned.
        authority: Who decided.
        producer: Whose output it is.
        revision: Revision of the policy.
        selection_field: Where a record carries the selected key, or the witness.
        witness_hash_field: Where it carries the witness's hash; None: it carries the key itself.
        output_field: Where it carries the returned IDs.
        cutoff: How many of them the reader sees.
        rule: The membership rule.
        record_field: Where it carries its ID.
        depth: How deep every list is stored; None leaves it out.
        trace_field: Where a record carries the dataset's judged objects; None leaves it out.
        query_form: How queries are built; None leaves it out.
        optional: ``prompt``, ``corpus_uri``, ``composite_corpus_key``: carried, never interpreted.
    """

    declaration_id: str
    interface: str
    interface_version: str
    specification: str
    component: str
    mode: Mode
    authority: str
    producer: str
    revision: str
    selection_field: str
    output_field: str
    cutoff: int
    rule: Rule
    witness_hash_field: str | None = None
    record_field: str = "record_id"
    depth: int | None = None
    trace_field: str | None = None
    query_form: str | None = None
    optional: Mapping[str, str] | None = None


def seal(
    decisions: Decisions,
    *,
    resolver: Resolver,
    resolver_file: tuple[str, bytes],
    population: bytes | None,
    inverse_map: bytes | None = None,
) -> dict[str, bytes]:
    """Return the files of a sealed folder by name, the declaration last.

    Args:
        decisions: What was decided.
        resolver: The resolver, for its version.
        resolver_file: Its file's name and exact bytes.
        population: The population file's bytes; None leaves it out.
        inverse_map: The inverse map's bytes, for a witness target.
    """
    files = dict([resolver_file])
    sheet = _sheet(decisions) | {"resolver": {"version": resolver.version, **_bound(*resolver_file)}}
    optional = dict(decisions.optional or {})
    prompt = optional.pop("prompt", None)
    sheet["resolver"] |= optional
    if decisions.witness_hash_field is not None and inverse_map is not None:
        files[INVERSE_MAP_FILE] = inverse_map
        sheet["target"] = {
            "form": "witness",
            "field": decisions.selection_field,
            "hash_field": decisions.witness_hash_field,
            "inverse_map": _bound(INVERSE_MAP_FILE, inverse_map),
        }
    if population is not None:
        files[POPULATION_FILE] = population
        sheet["population"] = {
            "field": decisions.record_field,
            **_bound(POPULATION_FILE, population),
            "count": population.count(b"\n"),
            "fixed_before_output": True,
        }
    if prompt is not None:
        sheet["prompt"] = prompt
    files[DECLARATION_FILE] = _envelope(decisions, sheet)
    return files


def _sheet(decisions: Decisions) -> dict[str, Any]:
    sheet: dict[str, Any] = {
        "interface": {
            "name": decisions.interface,
            "version": decisions.interface_version,
            "specification": decisions.specification,
            "requires_selected_return": decisions.mode == "hard",
        },
        "component": decisions.component,
        "policy": {
            "authority": decisions.authority,
            "producer": decisions.producer,
            "revision": decisions.revision,
            "mode": decisions.mode,
        },
        "target": {"form": "selected_key", "field": decisions.selection_field},
        "output": {
            "component": decisions.component,
            "field": decisions.output_field,
            "cutoff": decisions.cutoff,
            "rule": decisions.rule,
        },
    }
    if decisions.depth is not None:
        sheet["output"]["depth"] = decisions.depth
    if decisions.trace_field is not None:
        sheet["trace"] = {"field": decisions.trace_field}
    if decisions.query_form is not None:
        sheet["query_form"] = decisions.query_form
    return sheet


def _envelope(decisions: Decisions, sheet: Mapping[str, Any]) -> bytes:
    envelope = {
        "rop_version": ROP_VERSION,
        "declaration_id": decisions.declaration_id,
        "interface": {"name": decisions.interface, "version": decisions.interface_version},
        "component": decisions.component,
        "mode": decisions.mode,
        "policy_revision": decisions.revision,
        "sheet": sheet,
        "sheet_sha256": canonical_sha256(sheet),
    }
    return (json.dumps(envelope, ensure_ascii=False, indent=2) + "\n").encode()


def _bound(name: str, data: bytes) -> dict[str, Any]:
    return {"path": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
