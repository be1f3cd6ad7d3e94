"""The texts of nodes: compared with a prompt, and read for the label that each begins with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from rop_otel.instrumenting import holds_some_of, places_in, plain_text, without

_LABEL: Final = re.compile(r"\s*(?:Source (\d+):|\[([A-Za-z]{0,2}\d+)\])")
"""How a node's text begins where it carries its own label: as CitationQueryEngine writes it, or in brackets."""

_PIECE: Final = 60
"""A node of which a prompt holds this many characters, from its beginning or its end, is shown in part."""


def content(node: Any) -> str:
    """Return the text of a node, without its metadata."""
    return str(node.node.get_content())


def labels(nodes: Sequence[Any]) -> list[str] | None:
    """Return the label with which each node's text begins; None where one begins with none, or two with the same."""
    found = [_LABEL.match(content(node)) for node in nodes]
    read = [match[1] or match[2] for match in found if match]
    return read if read and len(set(read)) == len(nodes) else None


def shown(nodes: list[Any], prompts: Sequence[str]) -> list[Any]:
    """Return the nodes of which prompts hold the text, or a part of it; one without text is not looked for.

    Where prompts hold words of another node, in another writing perhaps, or the nodes repeat themselves so much that
    they cannot be found in time, nothing says that one was left out: then all.
    """
    prompt = plain_text(" ".join(prompts))
    texts = [plain_text(content(node)) for node in nodes]
    held = places_in(prompt, filter(None, texts))
    if held is None:
        return nodes
    whole = [not text or text in held for text in texts]
    if all(whole):
        return nodes
    # Neighbours overlap, so a node's beginning may be another's end.
    rest = without(prompt, ((at, at + len(text)) for text, places in held.items() for at in places))
    parts = [() if found else (text[:_PIECE], _end(text)) for text, found in zip(texts, whole, strict=True)]
    left = places_in(rest, (part for each in parts for part in each))
    if left is None:
        return nodes
    seen = [found or any(part in left for part in each) for found, each in zip(whole, parts, strict=True)]
    if holds_some_of((text for text, found in zip(texts, seen, strict=True) if not found), rest):
        return nodes
    return [node for node, found in zip(nodes, seen, strict=True) if found]


def _end(text: str) -> str:
    """Return the last words of a text."""
    return text if len(text) <= _PIECE else text[-_PIECE:].partition(" ")[2] or text[-_PIECE:]
