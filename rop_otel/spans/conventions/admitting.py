"""Attributes of ours on spans that others made, as this process may repeat them: hashed with the key, and no text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rop_otel import semconv
from rop_otel.core.handoff.fact import Fact
from rop_otel.core.handoff.record import HANDOFF_FACTS, STAGE_FACTS
from rop_otel.core.profile.hashing import hash_id, hash_label
from rop_otel.spans.conventions.convention_rules import Rules
from rop_otel.spans.conventions.documents import as_id

_FACTS: Final = {each.attribute: each for each in (*STAGE_FACTS, *HANDOFF_FACTS)}
_HASH: Final[Mapping[str, Callable[[bytes, str], str]]] = {"id": hash_id, "label": hash_label}


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
        fact = _FACTS.get(name)
        if rules.shape is not None and not rules.shape.fit(_texts(value)):
            if fact is not None and fact.instead is not None:
                kept[name] = fact.instead
        elif rules.hash_key is not None and fact is not None and fact.hashed is not None:
            kept[name] = _hashed(fact, value, rules.hash_key)
        else:
            kept[name] = value
    return kept


def _texts(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, list | tuple) else (value,)) if isinstance(each, str)]


def _hashed(fact: Fact, value: object, key: bytes) -> object:
    one = _HASH[fact.hashed or "id"]
    read = _own_text if fact.attribute == semconv.SELECTED_IDS else as_id
    if isinstance(value, list | tuple):
        return tuple(one(key, read(each)) for each in value)
    # Where an array is due, a text alone is none, as it is without a key.
    return one(key, read(value)) or None


def _own_text(value: object) -> str:
    """Return a selected ID, which has to be a string."""
    return value if isinstance(value, str) else ""
