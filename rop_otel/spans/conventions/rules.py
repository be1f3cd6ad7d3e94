"""What a user says of other people's spans, beyond what their conventions do."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How spans of other conventions are read.

    Args:
        stages: Patterns of span names, each with the kind of the stage that such a span is; the first that matches.
        handoffs: Patterns of the names of spans that are handoffs; empty: the topmost one.
        id_keys: Keys of a document's metadata, the first present of which is its ID, before the document's own.
        selected: Attribute of a handoff span that holds what was selected.
        labels: Attribute of a stage span that holds the citation labels of what it returned.
        hash_key: Key with which IDs are hashed, as those of our own spans are.
    """

    stages: tuple[tuple[re.Pattern[str], str], ...] = ()
    handoffs: tuple[re.Pattern[str], ...] = ()
    id_keys: tuple[str, ...] = ()
    selected: str | None = None
    labels: str | None = None
    hash_key: bytes | None = field(default=None, repr=False)

    def kind_of(self, name: str) -> str | None:
        """Return the kind that a span of this name is said to have, None where nothing is said."""
        return next((kind for pattern, kind in self.stages if pattern.fullmatch(name)), None)

    def may_be_handoff(self, name: str) -> bool:
        """Return whether a span of this name may be a handoff."""
        return not self.handoffs or any(pattern.fullmatch(name) for pattern in self.handoffs)
