"""Which spans of others are handoffs although none of them says so: the topmost ones above retrieval."""

from __future__ import annotations

from collections.abc import Mapping

from rop_otel.core.handoff.attributes import named_handoff_id
from rop_otel.replay.ancestry import Key, NearestAbove
from rop_otel.replay.intake import Other, TakenIn
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules


def handoffs_meant(taken: TakenIn, parents: Mapping[Key, Key | None], rules: Rules) -> dict[Key, Span]:
    """Return the spans that foreign stages without a handoff make handoffs.

    It is the topmost span, of those that may be one, above such a stage or the stage's own. Where a handoff that says
    so itself lies below it, the application tells which its handoffs are, and nothing is added.

    Args:
        taken: The spans.
        parents: The parent of every span.
        rules: Which spans may be handoffs.
    """
    if not taken.foreign:
        return {}
    above = NearestAbove(parents, taken.handoffs)
    topmost = _Topmost(parents, taken.others, rules)
    told = {topmost(key) for key in taken.handoffs}
    homeless = (key for key in taken.foreign if above(key) is None)
    found = {topmost(key) for key in homeless if named_handoff_id(taken.stages[key].attributes) is None}
    return {key: taken.others[key].as_handoff(key) for key in found - told if key is not None}


class _Topmost:
    """Finds the topmost span, at or above a span, that may be a handoff; what was walked once is not walked again."""

    def __init__(self, parents: Mapping[Key, Key | None], spans: Mapping[Key, Other], rules: Rules) -> None:
        self._parents = parents
        self._spans = spans
        self._rules = rules
        self._known: dict[Key, Key | None] = {}

    def __call__(self, key: Key) -> Key | None:
        walked: list[Key] = []
        here: Key | None = key
        seen: set[Key] = set()
        while here is not None and here in self._parents and here not in self._known and here not in seen:
            seen.add(here)
            walked.append(here)
            here = self._parents[here]
        found = self._known.get(here) if here is not None else None
        for step in reversed(walked):
            if found is None and self._may_be(step):
                found = step
            self._known[step] = found
        return found

    def _may_be(self, key: Key) -> bool:
        span = self._spans.get(key)
        return span is not None and self._rules.may_be_handoff(span.name)
