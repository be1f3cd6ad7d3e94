"""Which retrieved node each source of CitationQueryEngine is a piece of: newer versions give the pieces new IDs."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from rop_otel.instrumenting import Function, guarded
from rop_otel_llama_index.nodes import content
from rop_otel_llama_index.watched import innermost


def remembering(original: Function) -> Function:
    """Return what cuts nodes into citable pieces, and remembers in the running call which node each is of."""

    @functools.wraps(original)
    def cut(*args: Any, **kwargs: Any) -> Any:
        pieces = original(*args, **kwargs)
        with guarded("LlamaIndex, the sources of CitationQueryEngine"):
            _remember(list(args[1] if len(args) > 1 else kwargs["nodes"]), pieces)
        return pieces

    return cut


def _remember(nodes: list[Any], pieces: list[Any]) -> None:
    watched = innermost()
    known = {node.node_id for node in nodes}
    if watched is not None and watched.call is not None and any(piece.node_id not in known for piece in pieces):
        watched.call.originals.update((piece.node_id, node.node_id) for piece, node in _pairs(nodes, pieces))


def _pairs(nodes: list[Any], pieces: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Give each piece with its node. Pieces come in the order of the nodes, each behind a line with its number."""
    texts = [_spaced(content(node)) for node in nodes]
    place = 0
    for piece in pieces:
        text = _spaced(content(piece).partition("\n")[2])
        while place < len(nodes) and text not in texts[place]:
            place += 1
        if place == len(nodes):
            return
        yield piece, nodes[place]
        place += text == texts[place]  # the whole of it, so that its double comes next


def _spaced(text: str) -> str:
    return " ".join(text.split())  # splitters change spaces
