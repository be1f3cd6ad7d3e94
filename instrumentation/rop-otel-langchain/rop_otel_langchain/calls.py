"""The topmost call of a chain, as a handoff where it retrieves; what it returns, as the reader's answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import rop_otel as rop
from rop_otel.instrumenting import (
    Deferred,
    afterwards,
    create_lock,
    current_context,
    topmost,
    unlabelled,
    using_context,
)
from rop_otel_langchain.carrying import Waiting, under_way
from rop_otel_langchain.labels import is_labelled, labels_of
from rop_otel_langchain.returned import Returned
from rop_otel_langchain.texts import strings_in
from rop_otel_langchain.trail import Trail, trail_of
from rop_otel_langchain.watching import Watching, never_raising

_CITES: Final = re.compile(r"(?<![\w`])[\[【](?:[A-Za-z]{1,10}[ :_#.-]?)?\d{1,3}[\]】]")
"""What looks like a citation, where no label is known."""


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
        mark: Marks what is a part of it.
    """

    def __init__(self, watching: Watching, chain: Any, inputs: Any, config: Any, *, retrieves: bool) -> None:
        given = config if isinstance(config, Mapping) else {}
        bound = getattr(chain, "config", None)
        bound = bound if isinstance(bound, Mapping) else {}
        name = given.get("run_name") or bound.get("run_name") or chain.get_name()
        metadata = {**(bound.get("metadata") or {}), **(given.get("metadata") or {})}
        self._returned = Returned(of_graph=_is_graph(chain))
        self._inputs = inputs
        self._no_documents = getattr(chain, "response_if_no_docs_found", None)
        self._watching = watching
        self.trail: Trail | None = None
        self.mark = object()
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
                    trail = self._trail()
                if self.trail is None:
                    self.trail = trail

    def _trail(self) -> Trail | None:
        """Return the call's own trail; in a handoff that the application opened, the one of that."""
        handoff = rop.current_handoff()
        if not handoff.id:
            return None
        if not self._topmost.owns:
            return trail_of(handoff, self._watching)
        trail = Trail()
        trail.beside(strings_in(self._inputs))
        return trail

    def current(self) -> using_context:
        """Return a block that is inside of the call."""
        # The call keeps no context that it is in: a cycle would leave inputs and documents to the garbage collector.
        if self._deferred.began:
            return using_context(under_way(self._deferred.context(), self))
        return using_context(under_way(self._before, Waiting(self, self._outside)))

    @never_raising
    def take(self, result: Any) -> None:
        """Take in what the chain returns, or a piece of it."""
        self._returned.add(result)

    def end(self, error: BaseException | None = None) -> None:
        """End the handoff, where it is the call's own."""
        afterwards(partial(self._end, error))

    def _end(self, error: BaseException | None) -> None:
        with self._lock:
            self._ended = True
        if not self._deferred.began:
            return
        try:
            self._report(error)
        finally:
            self._deferred.end(error)

    def _report(self, error: BaseException | None) -> None:
        """Report what was shown and answered."""
        with self.current():
            self._pack()
            if error is None and self._topmost.owns:
                self._answer()

    @never_raising
    def _pack(self) -> None:
        if self.trail is None:
            return
        if self._topmost.owns:
            self.trail.pack(self._watching, self._returned.text)
        else:
            self.trail.settle(self.mark, self._returned.text)

    @never_raising
    def _answer(self) -> None:
        """Report what was answered, where the documents that it is an answer from are known, or their labels are."""
        handoff, answer, sources = rop.current_handoff(), self._returned.answer, self._returned.sources
        labelled, abstained = is_labelled(handoff), self._abstains(answer)
        if self._returned.cited is not None:
            self._cite(handoff, answer, self._returned.cited, abstained=abstained)
            return
        if not abstained and (not answer or not (labelled or sources is not None)):
            return
        if not labelled and _CITES.search(answer):
            unlabelled("LangChain", handoff.name)
        handoff.answered(
            answer,
            sources=sources,
            id=self._watching.settings.id,
            labels=None if sources is None else labels_of(handoff, sources),
            citations=None if labelled else (),  # it is not known what in the text is one
            abstained=abstained,
        )

    def _abstains(self, answer: str) -> bool | None:
        """Return True where the chain, the agent or the model says so by itself; None: it is not known."""
        asked = () if self.trail is None else [each for each in self.trail.readers if each.by_model]
        refused = bool(asked) and all(each.refused for each in asked)
        return True if refused or self._returned.gives_up or (answer and answer == self._no_documents) else None

    def _cite(self, handoff: rop.Handoff, answer: str, names: list[str], *, abstained: bool | None) -> None:
        """Report an answer that names the sources which it cites, as documents of LangChain name theirs."""
        shown = [each for asked in (() if self.trail is None else self.trail.readers) for each in asked.documents]
        known = {str(each.metadata.get("source")): each for each in (*shown, *(self._returned.sources or ()))}
        sources = [known[name] for name in names if name in known]
        labels = labels_of(handoff, sources)
        if names and labels is None:
            unlabelled("LangChain", handoff.name)
        handoff.answered(
            answer,
            sources=None if names and not sources and labels is None else sources,  # they may have other names
            id=self._watching.settings.id,
            labels=labels,
            citations=() if labels is None else names,
            attaches="cited",
            abstained=abstained,
        )


def _is_graph(chain: Any) -> bool:
    return type(getattr(chain, "bound", chain)).__module__.startswith("langgraph.")
