"""Passages and the objects that they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from rop_otel.core.profile.resolver import Resolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One passage: the unit that is indexed, ranked, packed and cited.

    Args:
        id: Unique in the corpus.
        item: ID of the object that it is a part of.
        scope: The library that it comes from.
        title: Heading: a qualified name with its signature, or a page's title.
        text: The passage itself.
    """

    id: str
    item: str
    scope: str
    title: str
    text: str

    @property
    def titled_text(self) -> str:
        """Title and text: what models read of it."""
        return f"{self.title}. {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One object that can be selected: its passages are its members.

    Args:
        id: Key.
        title: What a reader calls it.
        kind: ``module``, ``class``, ``function``, ``method`` or ``page``.
        parent: Key of the object around it; None where there is none.
        aliases: Other names of the same object.
        chunks: Its passages in order, at least one.
    """

    id: str
    title: str
    kind: str
    parent: str | None = None
    aliases: tuple[str, ...] = ()
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Objects of the library of the questions, and of other libraries in the same index.

    Args:
        scope: The library that questions are confined to.
        items: Its objects.
        neighbours: Objects of other libraries, which the scope filter has to keep out.
        titles_searched: Whether the word index holds titles too; vectors are always those of title and text.
    """

    scope: str
    items: tuple[Item, ...]
    neighbours: tuple[Item, ...] = ()
    titles_searched: bool = True
    version: str = field(default="unversioned")

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """Every passage, neighbours last."""
        return tuple(chunk for item in (*self.items, *self.neighbours) for chunk in item.chunks)

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """Objects by key, neighbours included."""
        return {item.id: item for item in (*self.items, *self.neighbours)}

    @cached_property
    def resolver(self) -> Resolver:
        """The identity resolver of every object in the index."""
        items = (*self.items, *self.neighbours)
        return Resolver(
            {item.id: [chunk.id for chunk in item.chunks] for item in items},
            aliases={item.id: item.aliases for item in items if item.aliases},
            version=self.version,
        )

    def known(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Return those of the given IDs that resolve to an object, in order."""
        return tuple(raw for raw in ids if self.resolver.resolve(raw) is not None)
