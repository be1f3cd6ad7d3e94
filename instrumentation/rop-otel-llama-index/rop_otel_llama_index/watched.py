"""What is watched while it runs: engines, retrievers, postprocessors. The innermost one is found in the context.

The context is put back by attaching the one before, never by its token, and only where it is still the own one: another
handler of spans may have put it back by then, since LlamaIndex informs handlers of an end in the order of the
beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.context import Context, create_key, get_value, set_value

import rop_otel as rop
from rop_otel.instrumenting import Deferred, Take, create_lock, current_context, guarded, make_current, notes, topmost

if TYPE_CHECKING:
    from rop_otel_llama_index.by_hand import ByHand
    from rop_otel_llama_index.gathering import Gathering

_KEY: Final = create_key("rop_otel_llama_index")
BY_HAND: Final = object()
"""Under which an open handoff has a note of what was called by hand in it."""


class Call:
    """A topmost call, which is one handoff; it ends with the call, and with every answer that streams on from it.

    Args:
        block: The handoff, which begins with the first part that is watched.
    """

    __slots__ = ("_block", "_handoff", "_lock", "_running", "labels", "originals", "rounds", "said")

    def __init__(self, block: topmost) -> None:
        self._block = block
        self._handoff = Deferred(block)
        self._lock = create_lock()
        self._running = 1
        self.rounds = count(1)
        """Numbers of its rounds: a round may have rounds of its own."""
        self.originals: dict[str, str] = {}
        """IDs of retrieved nodes, by those of copies that lost theirs."""
        self.labels: dict[int | None, frozenset[str]] = {}
        """What each round showed that showed anything."""
        self.said = ""
        """The last answer that was recorded."""

    @property
    def owns(self) -> bool:
        """Whether the handoff ends with the call, and is none of the application's own."""
        return self._block.owns

    def context(self) -> Context:
        """Return the context in which the handoff is current; it begins with the first call of this."""
        return self._handoff.context()

    def packed(self, labels: Iterable[str], number: int | None) -> None:
        """Take in what a round showed, and under which labels; None: what is in none."""
        self.labels[number] = self.labels.get(number, frozenset()).union(labels)

    def hold(self) -> None:
        """Leave the handoff open until one more :meth:`release`."""
        with self._lock:
            self._running += 1

    def release(self, error: BaseException | None = None) -> None:
        """End the handoff, where nothing else holds it."""
        with self._lock:
            self._running -= 1
            last = self._running == 0
        if last:
            self._handoff.end(error)


class Watched:
    """Something that is watched while it runs; it is current from its making to :meth:`finish`.

    Args:
        instance: The engine, retriever, postprocessor or synthesizer.
        begins: A topmost call that begins with it where it runs in none.
        block: What it is inside of the handoff: a stage.
        number: Of the round that it is; None: it belongs to that around it.
    """

    def __init__(
        self,
        instance: Any,
        *,
        begins: topmost | None = None,
        block: AbstractContextManager[Any] | None = None,
        number: int | None = None,
    ) -> None:
        outer = innermost()
        hand = at_hand() if outer is None else None
        level = outer or hand
        around = None if outer is None else outer.round
        self.round: int | None = number or (None if level is None else level.inside)
        self.inside: int | None = self.round
        """The round of its parts."""
        self.instance = instance
        self.result: Any = None
        """What it returned, where it is used as a block."""
        self.call: Call | None = None if outer is None else outer.call
        self.gathering: Gathering | None = None if level is None else level.gathering
        """What takes what is retrieved here, and what models are asked."""
        self._before = current_context()
        self._begun: Call | None = None
        self._block = ExitStack()
        try:
            if self.call is None and begins is not None:
                self.call = self._begun = Call(begins)
                if hand is not None:
                    self._begun.rounds = hand.rounds
                make_current(self._begun.context())
            elif isinstance(outer, Enclosing) and not isinstance(self, Enclosing):
                make_current(outer.place())
            if self.round is not None and self.round != around:
                self._block.enter_context(rop.using_round(self.round))
            if block is not None:
                self._block.enter_context(block)
            make_current(self.context())
        except BaseException as error:  # of strict mode, or delivered; nobody else ends what began
            make_current(self._before)
            Watched.end(self, error)
            raise

    def __enter__(self) -> Take:
        return self._take

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish(self.result, error)

    def _take(self, result: Any) -> None:
        self.result = result

    @property
    def rounds(self) -> Iterator[int] | None:
        """Numbers of rounds in it; None where nothing has retrieved yet."""
        return None if self.call is None else self.call.rounds

    def context(self) -> Context:
        """Return the current context, with this as the innermost."""
        return set_value(_KEY, self)

    def in_round(self) -> AbstractContextManager[Any]:
        """Return a block in the round of its parts."""
        return nullcontext() if self.inside is None else rop.using_round(self.inside)

    def returned(self, result: Any) -> None:
        """Take in what it returns."""

    def finish(self, result: Any, error: BaseException | None = None) -> None:
        """Take in what it returns or raises, and end; what goes wrong in that is logged."""
        current = get_value(_KEY) is self
        try:
            if error is None:
                with guarded(f"LlamaIndex, what {type(self.instance).__name__} returned"):
                    self.returned(result)
            with guarded(f"LlamaIndex, the end of {type(self.instance).__name__}"):
                self.end(error)
        finally:
            if current:
                make_current(self._before)

    def end(self, error: BaseException | None = None) -> None:
        """End what began with it."""
        try:
            self._block.__exit__(None if error is None else type(error), error, None)
        finally:
            if self._begun is not None:
                self._begun.release(error)


class Listing(Watched):
    """A retriever or a postprocessor: a stage that returns a list of nodes.

    Args:
        stage: The stage, which begins here.
        handed: What others retrieved, on which it works.
    """

    def __init__(
        self, instance: Any, *, stage: rop.Stage, handed: Iterable[Any] = (), begins: topmost | None = None
    ) -> None:
        self.stage = stage
        self._handed = [each.node.node_id for each in handed]
        super().__init__(instance, begins=begins, block=stage)
        self._around, self.gathering = self.gathering, None  # what it asks others for is its own

    def returned(self, result: Any) -> None:
        """Take in the nodes."""
        self.stage.returned(result)
        if self._around is not None:
            self._around.listed(result, handed=self._handed)


class Enclosing(Watched):
    """Code of which nobody knows whether it retrieves: what does, inside of it, enters the handoff."""

    def place(self) -> Context:
        """Return the context in which its parts run."""
        raise NotImplementedError


def outside() -> Context:
    """Return the current context with nothing that is watched: a selector may be asked in it, and retrieve."""
    return set_value(_KEY, None)


def innermost() -> Watched | None:
    """Return what is watched here, None outside of all."""
    found = get_value(_KEY)
    return found if isinstance(found, Watched) else None


def at_hand() -> ByHand | None:
    """Return what was called by hand in the open handoff; None where nothing was."""
    handoff = rop.current_handoff()
    found: ByHand | None = notes(handoff).get(BY_HAND) if handoff.id else None
    return found
