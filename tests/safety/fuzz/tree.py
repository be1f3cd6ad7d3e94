"""A program as a tree of statements, so that it can be read as source, and made smaller by leaving statements out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain


@dataclass(frozen=True, slots=True)
class Node:
    """A statement.

    Args:
        text: Its own lines: all of a simple statement, the head of a block.
        below: The statements of the block; None for a simple statement.
    """

    text: str
    below: tuple[Node, ...] | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """What is run twice and more.

    Args:
        seed: What it was made from.
        nodes: Its statements; they define ``main``.
        leaky: Whether a bare generator in it may leave a handoff's context to its consumer.
    """

    seed: str
    nodes: tuple[Node, ...]
    leaky: bool = False

    @property
    def source(self) -> str:
        """The text of a module."""
        return "\n".join(_lines(self.nodes, "")) + "\n"


def block(text: str, below: Sequence[Node]) -> Node:
    """Return a block, with ``pass`` where it is empty."""
    return Node(text, tuple(below) or (Node("pass"),))


def smaller(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """Give the same statements without one, or with a block replaced by what is in it; the largest steps first.

    Some of these are no programs: whoever runs them finds out.
    """
    for size in sorted({len(nodes) // 2, 3, 2, 1} - {0}, reverse=True):
        for place in range(0, len(nodes), size):
            yield nodes[:place] + nodes[place + size :]
    for place, node in enumerate(nodes):
        if node.below is None:
            continue
        yield nodes[:place] + node.below + nodes[place + 1 :]
        for below in smaller(node.below):
            yield (*nodes[:place], block(node.text, below), *nodes[place + 1 :])


def _lines(nodes: Sequence[Node], indent: str) -> Iterator[str]:
    for node in nodes:
        yield from (indent + line for line in node.text.split("\n"))
        if node.below is not None:
            yield from chain(_lines(node.below, indent + "    "))
