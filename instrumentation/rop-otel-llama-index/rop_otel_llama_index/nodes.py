"""The texts of nodes, and of what is said about them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from llama_index.core.schema import MetadataMode

PIECE: Final = re.compile(r"\ASource (\d+):")
"""How CitationQueryEngine begins the text of each of its pieces."""

_SAYING: Final = 20
"""Characters of metadata by which a node that has no text is known."""

_DOUBLES: Final = 64
"""Nodes that share their text with another, of which it is looked up how the prompt distinguishes them."""


def content(node: Any) -> str:
    """Return the text of a node, without its metadata."""
    return str(node.node.get_content())


def texts(nodes: Sequence[Any], prompts: Sequence[str]) -> tuple[dict[int, str], re.Pattern[str] | None]:
    """Return the text by which each node is looked for in prompts, by ``id()``, and how it is labelled if known.

    It is the node's own text, else all that a model is shown of it. Nodes that have the same text, and whose metadata
    the prompt shows, are looked for with that.

    Args:
        nodes: Nodes with scores.
        prompts: Of a model.
    """
    own = [content(node) for node in nodes]
    if own and all(map(PIECE.match, own)):
        return {id(node): text for node, text in zip(nodes, own, strict=True)}, PIECE
    count = Counter(own)
    found: dict[int, str] = {}
    shown: dict[str, bool] = {}
    left = _DOUBLES
    for node, text in zip(nodes, own, strict=True):
        found[id(node)] = text
        if count[text] > 1 and text and not shown.get(text) and left:
            left -= 1
            alone = _as_shown(node)
            shown[text] = alone != text and any(alone in prompt for prompt in prompts)
    for node, text in zip(nodes, own, strict=True):
        if shown.get(text) or (not text and len(_as_shown(node)) >= _SAYING):
            found[id(node)] = _as_shown(node)
    return found, None


def is_image(node: Any) -> bool:
    """Return whether a node shows an image, which no text of a prompt describes."""
    return any(getattr(node.node, name, None) for name in ("image_resource", "image", "image_url", "image_path"))


def said(what: Any) -> str:
    """Return the text of a question, a message or an answer; empty: it has none."""
    for name in ("query_str", "response", "message", "content", "text"):
        if isinstance(what, str):
            return what
        what = getattr(what, name, what)
    return what if isinstance(what, str) else ""


def words(what: Any) -> str:
    """Return the same without spaces that a layout adds."""
    return " ".join(said(what).split())


def _as_shown(node: Any) -> str:
    return str(node.node.get_content(metadata_mode=MetadataMode.LLM)).strip()
