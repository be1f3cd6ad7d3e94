"""Which retrieved node each source of CitationQueryEngine is a piece of: newer versions give the pieces new IDs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rop_otel.instrumenting import failure, raise_if_delivered
from rop_otel_llama_index.nodes import content
from rop_otel_llama_index.watched import innermost


def remember(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Cut nodes into citable pieces, and remember in the running call which node each is of."""
    pieces = wrapped(*args, **kwargs)
    try:
        watched = innermost()
        nodes = list(args[0] if args else kwargs["nodes"])
        known = {node.node_id for node in nodes}
        if watched is not None and watched.call is not None and any(piece.node_id not in known for piece in pieces):
            watched.call.originals.update((piece.node_id, node.node_id) for piece, node in _pairs(nodes, pieces))
    except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
        raise_if_delivered(error)
        failure("LlamaIndex, the sources of CitationQueryEngine", "it could not be watched")
    return pieces


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
