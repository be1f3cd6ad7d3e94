"""Attributes of ours on spans that others made, as this process may repeat them: hashed with the key, and no text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rop_otel import semconv
from rop_otel.core.profile.hashing import hash_id, hash_label
from rop_otel.spans.conventions.documents import as_id
from rop_otel.spans.conventions.rules import Rules

_IDS: Final = frozenset(
    {
        semconv.RETURNED_IDS,
        semconv.RETURNED_SCOPES,
        semconv.INPUT_IDS,
        semconv.SELECTED_IDS,
        semconv.JUDGED_IDS,
        semconv.SCOPE_ID,
    }
)
_LABELS: Final = frozenset({semconv.CONTEXT_LABELS, semconv.ANSWER_CITATIONS})
_INSTEAD: Final[Mapping[str, object]] = {
    semconv.HANDOFF_NAME: "unnamed",
    semconv.STAGE: semconv.OTHER,
    semconv.SELECTED_IDS: ("",),
    semconv.MODE: "",
    semconv.RULE: "",
}
"""What stands for text where an attribute that is left out would say something else."""


def admitted(attributes: Mapping[str, object], rules: Rules) -> Mapping[str, object]:
    """Return the attributes of ours that a span carries.

    Args:
        attributes: Of a span that our own API did not make.
        rules: The key, without which IDs stay as they are; and what an ID may be, None where text may pass.
    """
    if rules.hash_key is None and rules.shape is None:
        return attributes
    kept: dict[str, object] = {}
    for name, value in attributes.items():
        if not name.startswith(semconv.OURS):
            continue
        if rules.shape is not None and not rules.shape.fit(_texts(value)):
            if name in _INSTEAD:
                kept[name] = _INSTEAD[name]
        elif rules.hash_key is not None and name in _IDS | _LABELS:
            kept[name] = _hashed(name, value, rules.hash_key)
        else:
            kept[name] = value
    return kept


def _texts(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, list | tuple) else (value,)) if isinstance(each, str)]


def _hashed(name: str, value: object, key: bytes) -> object:
    one: Callable[[bytes, str], str] = hash_label if name in _LABELS else hash_id
    read = _own_text if name == semconv.SELECTED_IDS else as_id
    if isinstance(value, list | tuple):
        return tuple(one(key, read(each)) for each in value)
    # Where an array is due, a text alone is none, as it is without a key.
    return one(key, read(value)) or None


def _own_text(value: object) -> str:
    """Return a selected ID, which has to be a string."""
    return value if isinstance(value, str) else ""
