"""A set of assessed handoffs, as the page takes it from any door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rop_otel.core.handoff import Assessment, HandoffRecord
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.declaration import Opened
from rop_otel.page.carried import Carried


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedSet:
    """Handoffs that are shown together.

    Args:
        name: What the page calls the set.
        assessments: In order.
        records: What was recorded of each of these.
        resolver: The resolver in force; None: an ID stands for itself.
        declaration: The declaration of a run; None without one.
        declared: IDs of the handoffs that were assessed before it.
        carried: What their spans carry beside the facts.
        orphan_stages: Stage spans that belong to no handoff.
        incomplete: IDs of handoffs whose own span is missing.
        duplicates: IDs of handoffs that were seen again.
        absent_resolvers: Hashes of resolvers that handoffs name and that were not given.
        run: The report of the declared run, in the JSON shape of the contract.
    """

    name: str
    assessments: tuple[Assessment, ...] = ()
    records: tuple[HandoffRecord, ...] = ()
    resolver: Resolver | None = None
    declaration: Opened | None = None
    declared: frozenset[str] = frozenset()
    carried: Carried = field(default_factory=Carried)
    orphan_stages: int = 0
    incomplete: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    absent_resolvers: tuple[str, ...] = ()
    run: Mapping[str, Any] | None = None
