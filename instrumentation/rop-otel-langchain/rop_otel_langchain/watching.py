"""What the wrappers share: settings, and where the caller is among components and functions that run inside each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import rop_otel as rop
from rop_otel.instrumenting import Settings
from rop_otel_langchain.documents import Documents, are_documents, same_documents
from rop_otel_langchain.kinds import Kinds

_SCORE: Final = "metadata.relevance_score"
"""Where rerankers of LangChain leave their scores; other scores in the metadata are of an earlier stage."""


class Below:
    """What ended inside of a component or function while it ran.

    Args:
        covers: Components whose own calls are no stages of their own meanwhile.
    """

    __slots__ = ("above", "covers", "last", "stages")

    def __init__(self, above: Below | None, covers: tuple[object, ...] = ()) -> None:
        self.above = above
        self.covers = covers
        self.last: Documents | None = None
        self.stages = 0

    def ended(self, documents: object) -> None:
        """Take in that a stage ended here, and what it returned."""
        at: Below | None = self
        while at is not None:
            at.stages += 1
            at.last = documents if are_documents(documents) else None
            at = at.above

    def returned(self, documents: Documents) -> bool:
        """Return whether the last stage returned these documents."""
        return self.last is not None and same_documents(self.last, documents)


_here: ContextVar[Below | None] = ContextVar("rop_otel_langchain", default=None)


class Watching:
    """The settings of one instrumentation, and the stages that it makes.

    Args:
        settings: Those that every framework has.
        kinds: Knows the kind of each component.
        label_key: Key of a document's metadata that holds its citation label.
    """

    def __init__(self, settings: Settings, kinds: Kinds, label_key: str | None) -> None:
        self.settings = settings
        self.kinds = kinds
        self.label_key = label_key
        self._id = settings.id or "id"

    def covered(self, component: object) -> bool:
        """Return whether a component is inside of its own stage, or of one that stands for it."""
        at = _here.get()
        return at is not None and any(each is component for each in at.covers)

    @property
    def in_stage(self) -> bool:
        """Whether the caller is inside of a component, whose own workings are no stages of the chain."""
        at = _here.get()
        while at is not None:
            if at.covers:
                return True
            at = at.above
        return False

    @contextmanager
    def inside(self, *covers: object) -> Iterator[Below]:
        """Be inside of a component or function."""
        below = Below(_here.get(), covers)
        token = _here.set(below)
        try:
            yield below
        finally:
            _here.reset(token)

    def stage(self, kind: str, *, source: bool = False, name: str | None = None, **described: Any) -> rop.Stage:
        """Return a stage of documents of LangChain."""
        score = None if source or kind in ("vector", "lexical") else _SCORE
        return rop.using_stage(kind, source=source, name=name, id=self._id, score=score, **described)

    def labels(self, documents: Documents) -> list[str] | None:
        """Return the citation labels of documents; None where one has none."""
        if self.label_key is None:
            return None
        labels = [document.metadata.get(self.label_key) for document in documents]
        return [str(label) for label in labels] if all(isinstance(label, str | int) for label in labels) else None


def ended(documents: object) -> None:
    """Tell what runs around the caller that a stage ended."""
    at = _here.get()
    if at is not None:
        at.ended(documents)
