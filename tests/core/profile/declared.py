"""Declarations made up in memory, sealed or broken on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rop_otel.core.profile import Resolver
from rop_otel.core.profile.canonical import canonical_sha256
from rop_otel.core.profile.declaration import Declaration, Opened
from rop_otel.core.profile.declaration_faults import FileFaultError
from rop_otel.core.profile.population import write_population
from rop_otel.core.profile.sealing import DECLARATION_FILE, Decisions, seal
from rop_otel.core.profile.validation import open_declaration

DECISIONS = Decisions(
    declaration_id="made-up",
    interface="ranker-api",
    interface_version="v1",
    specification="docs/ranker.md",
    component="ranker",
    mode="hard",
    authority="search-team",
    producer="ranker-service",
    revision="2026-11-01",
    selection_field="selected",
    output_field="ids",
    cutoff=3,
    rule="any",
)
RESOLVER = Resolver(
    {
        "obj-a": ["a#0", "a#1"],
        "obj-b": ["b#0"],
        "obj-c": ["c#0", "c#1", "c#2"],
        "obj-é": ["é#0"],
        "an object with a long name": ["a long member, chunk 0017", "a long nember, chunk 0017"],
    },
    aliases={"obj-a": ["/wiki/A"], "obj-b": ["/wiki/B"]},
    version="corpus-7",
)
POPULATION = ("r1", "r2", "r3")
INVERSE = {"w-1": "/wiki/A", "w-2": "obj-b"}


def files(
    *, population: tuple[str, ...] | None = POPULATION, inverse: Mapping[str, str] | None = None, **decided: Any
) -> dict[str, bytes]:
    """Return the files of a sealed folder; ``decided`` replaces decisions."""
    decisions = replace(DECISIONS, **decided)
    if inverse is not None:
        decisions = replace(decisions, witness_hash_field="hash")
    return seal(
        decisions,
        resolver=RESOLVER,
        resolver_file=("resolver.json", RESOLVER.to_bytes()),
        population=None if population is None else write_population(list(population)),
        inverse_map=None if inverse is None else json.dumps(inverse).encode(),
    )


def reader(found: Mapping[str, bytes]) -> Callable[[str], bytes]:
    """Return what hands out files held in memory."""

    def read(name: str) -> bytes:
        if name not in found:
            raise FileFaultError("file_missing", f"there is no file {name!r}")
        return found[name]

    return read


def opened(**given: Any) -> Opened:
    """Return a sealed declaration, opened; arguments as for :func:`files`."""
    found = files(**given)
    return open_declaration(found[DECLARATION_FILE], reader(found))


def valid(**given: Any) -> Declaration:
    """Return a valid declaration; arguments as for :func:`files`."""
    found = opened(**given)
    assert found.declaration is not None, found.faults
    return found.declaration


def changed(
    change: Callable[[dict[str, Any]], object], *, reseal: bool = True, found: Mapping[str, bytes] | None = None
) -> Opened:
    """Return a declaration opened after its document was changed in place.

    Args:
        change: Called with the document.
        reseal: Whether the sheet is sealed again afterwards.
        found: The folder's files; None: those of :func:`files`.
    """
    folder = dict(found or files())
    document = json.loads(folder[DECLARATION_FILE])
    change(document)
    if reseal and isinstance(document.get("sheet"), dict):
        document["sheet_sha256"] = canonical_sha256(document["sheet"])
    return open_declaration(json.dumps(document).encode(), reader(folder))
