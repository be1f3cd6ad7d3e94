"""What the wrappers share: settings, and inside of which components and functions the caller is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final

import rop_otel as rop
from rop_otel.instrumenting import Kind, Settings, kinds, never_raising_in, set_variable, stage_of
from rop_otel_langchain.documents import Documents, are_documents, same_documents
from rop_otel_langchain.feeding import Fed
from rop_otel_langchain.kinds import Kinds

never_raising = never_raising_in("LangChain")
"""Makes a function return None where it would raise."""

_SCORE: Final = "metadata.relevance_score"
"""Where rerankers of LangChain leave their scores; other scores in the metadata are of an earlier stage."""


class Below:
    """What ended inside of a component or function while it ran.

    Args:
        covers: Components whose own calls are no stages of their own meanwhile.
        planned: How the stages inside feed each other, where their order does not show that.
        instead: What is called where another part fails.
        fallback: Whether this is called since another part failed.
    """

    __slots__ = ("above", "covers", "fallback", "instead", "last", "planned", "stages")

    def __init__(
        self,
        above: Below | None,
        covers: tuple[object, ...] = (),
        planned: dict[int, Fed] | None = None,
        instead: Sequence[object] = (),
        *,
        fallback: bool = False,
    ) -> None:
        self.above = above
        self.covers = covers
        self.instead = instead
        self.fallback = fallback
        self.planned = planned or {}
        self.last: Documents | None = None
        self.stages = 0

    def ended(self, documents: object) -> None:
        """Take in that a stage ended here, and what it returned."""
        at: Below | None = self
        while at is not None:
            at.stages += 1
            at.last = documents if are_documents(documents) else None
            at = at.above

    def holds(self, documents: Documents) -> bool:
        """Return whether these documents are some of those that the last stage returned."""
        known = {id(each) for each in self.last or ()} | {each.id for each in self.last or ()} - {None}
        return bool(documents) and all(id(each) in known or each.id in known for each in documents)

    def returned(self, documents: Documents) -> bool:
        """Return whether the last stage returned these documents."""
        return self.last is not None and same_documents(self.last, documents)


_here: ContextVar[Below | None] = ContextVar("rop_otel_langchain", default=None)


class Watching:
    """The settings of one instrumentation, and the stages that it makes.

    Args:
        settings: The user's.

    Attributes:
        kinds: Knows the kind of each component.
        rewritten: Whether prompts show documents in another form, so that they are not looked for.
        on: False once it is over: what others wrapped around a wrapper of ours cannot be put back.
    """

    def __init__(self, settings: Settings) -> None:
        self.on = True
        self.settings = settings
        self.kinds = Kinds(settings)
        self.rewritten = settings.shows == "rewritten"
        self._id = settings.id or "id"

    def covered(self, component: object) -> bool:
        """Return whether a component is inside of its own stage, or of one that stands for it."""
        at = _here.get()
        return at is not None and any(each is component for each in at.covers)

    @property
    def component(self) -> Any:
        """The innermost component that the caller is inside of; None outside of any."""
        at = _here.get()
        return at.covers[0] if at is not None and at.covers else None

    @property
    def in_stage(self) -> bool:
        """Whether the caller is inside of a component, whose own workings are no stages of the chain."""
        at = _here.get()
        while at is not None:
            if at.covers:
                return True
            at = at.above
        return False

    def fed(self, component: object) -> Fed | None:
        """Return how a component's stage stands among others; None where their order shows it."""
        at = _here.get()
        while at is not None:
            if id(component) in at.planned:
                return at.planned[id(component)]
            at = at.above
        return None

    def falls_back(self, part: object) -> bool:
        """Return whether a part is called since another one failed, or is inside of such a one."""
        at = _here.get()
        while at is not None:
            if at.fallback or any(each is part for each in at.instead):
                return True
            at = at.above
        return False

    def id_by(self, key: str) -> Any:
        """Return where small documents name the larger one that they are of: where all have IDs, else under a key."""
        return replace(self.settings, id_keys=(*self.settings.id_keys, key)).id

    @contextmanager
    def inside(
        self,
        *covers: object,
        planned: dict[int, Fed] | None = None,
        instead: Sequence[object] = (),
        fallback: bool = False,
    ) -> Iterator[Below]:
        """Be inside of a component or function."""
        below = Below(_here.get(), covers, planned, instead, fallback=fallback)
        set_variable(_here, below)
        try:
            yield below
        finally:
            if _here.get() is below:  # a coroutine that is given up is closed elsewhere
                set_variable(_here, below.above)

    def stage(self, kind: Kind, component: object = None, **described: Any) -> rop.Stage:
        """Return a stage of documents of LangChain; their IDs are where the settings say, unless given otherwise."""
        score = None if kinds.is_source(kind) else _SCORE
        return stage_of(self.settings, kind, component, **{"id": self._id, "score": score, **described})


def ended(documents: object) -> None:
    """Report what runs around the caller that a stage ended."""
    at = _here.get()
    if at is not None:
        at.ended(documents)
