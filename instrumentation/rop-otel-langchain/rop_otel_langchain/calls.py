"""The topmost call of a chain, as a handoff where it retrieves; what it returns, as the reader's answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from langchain_core.messages import BaseMessage

import rop_otel as rop
from rop_otel.instrumenting import Deferred, afterwards, create_lock, current_context, topmost, using_context
from rop_otel_langchain.carrying import Waiting, under_way
from rop_otel_langchain.documents import are_documents, is_a
from rop_otel_langchain.labels import is_labelled, labels_of
from rop_otel_langchain.trail import Trail
from rop_otel_langchain.watching import Watching, never_raising

_ANSWERS: Final = ("answer", "result")
_SOURCES: Final = ("context", "source_documents")
"""Keys under which LangChain's own chains return the answer, and the documents that it is an answer from."""


class Call:
    """One topmost call, which may go on in pieces. It is a handoff from the first retrieval inside of it on.

    Args:
        watching: The instrumentation's settings.
        chain: What is called.
        inputs: What it is called with.
        config: Its configuration, if it is given one.
        retrieves: True makes it a handoff at once.

    Attributes:
        trail: What became of its documents; None where it is no handoff, or monitoring is off.
    """

    def __init__(self, watching: Watching, chain: Any, inputs: Any, config: Any, *, retrieves: bool) -> None:
        given = config if isinstance(config, Mapping) else {}
        bound = getattr(chain, "config", None)
        bound = bound if isinstance(bound, Mapping) else {}
        name = given.get("run_name") or bound.get("run_name") or chain.get_name()
        metadata = {**(bound.get("metadata") or {}), **(given.get("metadata") or {})}
        self._answer = ""
        self._sources: Any = None
        self._watching = watching
        self.trail: Trail | None = None
        self._lock = create_lock()  # several threads may be the first to retrieve, and a signal handler of one
        self._ended = False
        self._before = current_context()
        self._outside = rop.current_handoff().id
        self._topmost = topmost(watching.settings, name=name, inputs=inputs, metadata=metadata)
        self._deferred = Deferred(self._topmost)
        if retrieves:
            self.open()

    def open(self) -> None:
        """Make the call a handoff, unless it is one already or is over."""
        with self._lock:
            if self.trail is None and not self._ended:
                self._deferred.context()
                with self.current():
                    trail = Trail() if rop.current_handoff().id else None
                if self.trail is None:
                    self.trail = trail

    def current(self) -> using_context:
        """Return a block that is inside of the call."""
        # The call keeps no context that it is in: a cycle would leave inputs and documents to the garbage collector.
        if self._deferred.began:
            return using_context(under_way(self._deferred.context(), self))
        return using_context(under_way(self._before, Waiting(self, self._outside)))

    @never_raising
    def take(self, result: Any) -> None:
        """Take in what the chain returns, or a piece of it, as far as it is an answer from documents."""
        if is_a(result, dict):
            for key in _ANSWERS:
                self._answer += _text(result.get(key))
            for key in _SOURCES:
                if are_documents(result.get(key)):
                    self._sources = result[key]

    def end(self, error: BaseException | None = None) -> None:
        """End the handoff, where it is the call's own."""
        afterwards(partial(self._end, error))

    def _end(self, error: BaseException | None) -> None:
        with self._lock:
            self._ended = True
        if not self._deferred.began:
            return
        try:
            self._tell(error)
        finally:
            self._deferred.end(error)

    def _tell(self, error: BaseException | None) -> None:
        """Tell what was shown and answered."""
        with self.current():
            self._pack()
            if error is None and self._topmost.owns and self._answer and self._sources is not None:
                handoff = rop.current_handoff()
                labels = labels_of(handoff, self._sources)
                # Without known labels it is not known either what in the text is a citation.
                citations = None if is_labelled(handoff) else ()
                handoff.answered(self._answer, sources=self._sources, labels=labels, citations=citations)

    @never_raising
    def _pack(self) -> None:
        if self.trail is not None:
            self.trail.pack(self._watching)


def _text(answer: Any) -> str:
    answer = answer.content if isinstance(answer, BaseMessage) else answer
    return answer if isinstance(answer, str) else ""
