"""The handoff of the topmost call that an instrumentation package sees."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeVar

from opentelemetry.context import Context, create_key, get_value, set_value

import rop_otel as rop
from rop_otel.core.handoff.record import UNNAMED
from rop_otel.errors import UsageError
from rop_otel.instrumenting.baggage import received, without_selection
from rop_otel.instrumenting.settings import Settings
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.handoffs.handoff_opening import NOT_DUE, handoff_at
from rop_otel.tracing.handoffs.handoff_protocol import Handoff
from rop_otel.tracing.handoffs.live_handoff import LiveHandoff
from rop_otel.tracing.handoffs.noop_handoff import NoopHandoff
from rop_otel.tracing.position.context_position import (
    Position,
    current_context,
    enter,
    in_block,
    moved,
    put_back,
    using_context,
)
from rop_otel.tracing.results.scalars import as_name
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import current

T = TypeVar("T")

_ASKED: Final = "asked"
"""Noted with a handoff whose selector was called: it is called once for each."""

_SELECTING: Final = create_key("rop_otel selecting")


class topmost:  # noqa: N801 - used like a function
    """A ``with`` block that is one handoff: the open one, else a new one that the block ends.

    The open one is neither renamed nor ended, and gets a selection only if it has none. A selection comes from
    ``selected_by``, else ``selected_key``, else the baggage of the calling service, which goes no further. What a
    selector itself retrieves is no handoff, nor a stage of one. The block itself never raises.

    Args:
        settings: Of the instrumentation package.
        name: The framework's name of the call.
        inputs: What the call was given.
        metadata: What else the application said about it.
    """

    __slots__ = ("_inputs", "_metadata", "_moved", "_name", "_own", "_settings")

    def __init__(
        self, settings: Settings, *, name: str, inputs: object = None, metadata: Mapping[str, object] | None = None
    ) -> None:
        self._settings = settings
        self._name = settings.handoff or name
        self._inputs = inputs
        self._metadata = metadata
        self._own: Handoff | None = None
        self._moved: tuple[Context, Context] | None = None

    def __enter__(self) -> Handoff:
        runtime = current()
        if not runtime.enabled:
            return NoopHandoff(self._name, "monitoring is off")
        if is_selecting():
            return NoopHandoff(self._name, "it is a part of selecting")
        found = handoff_at()
        try:
            return self._begin(found)
        except BaseException as error:  # of strict mode, or delivered; the block is never entered: nothing else ends it
            self.__exit__(type(error), error, None)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._own is not None:
                self._own.__exit__(kind, error, trace)
        finally:
            if self._moved is not None:
                put_back(*self._moved)

    def _begin(self, found: LiveHandoff | None) -> Handoff:
        try:
            self._receive()
            if found is None or found.is_over:
                return self._open()
            self._select(found)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            current().diagnostics.failure(
                Problem.HANDOFF, self._place, "it could not be opened, or could not take its selection"
            )
        return found or NoopHandoff(self._name, "it could not be opened")

    @property
    def owns(self) -> bool:
        """Whether the handoff is the block's own: it ends with the block, and the package reports its answer."""
        return self._own is not None

    @property
    def _place(self) -> str:
        return f"handoff {as_name(self._name) or UNNAMED!r}"

    def _receive(self) -> None:
        """Take the caller's selection out of the context, whose baggage goes with every request to whoever is asked."""
        before = current_context()
        context = without_selection(before)
        if context is not before:
            context = in_block(context)
            self._moved = context, before
            enter(context, before)

    def _open(self) -> Handoff:
        settings = self._settings
        opened = rop.handoff(
            self._name,
            cutoff=settings.cutoff,
            selected=self._selected(),
            judged=self._judged(),
            record_id=self._held(settings.record_key),
            scope=self._held(settings.scope_key),
            expected=settings.expected,
        )
        notes(opened)[_ASKED] = True
        self._own = opened.__enter__()
        return self._own

    def _select(self, found: LiveHandoff) -> None:
        if found.selected is not None or (self._settings.selected_by is not None and _ASKED in notes(found)):
            return
        notes(found)[_ASKED] = True
        selected = self._selected()
        if selected is not NOT_DUE:
            found.select(selected)

    def _selected(self) -> object:
        """Return what was selected, ``NOT_DUE`` where no selection is or none can be found out."""
        wrong = "what was selected could not be found out, so it has no selection"
        return self._found_out(self._look, wrong, otherwise=NOT_DUE)

    def _judged(self) -> Any:
        """Return the judged objects, None where none are or none can be found out."""
        judge = self._settings.judged_by
        if judge is None:
            return None
        wrong = "what is judged could not be found out, so nothing is"
        return self._found_out(partial(_answer, judge, self._inputs), wrong, otherwise=None)

    def _found_out(self, look: Callable[[], object], wrong: str, *, otherwise: object) -> Any:
        try:
            return look()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's function, or the program that its import runs
            raise_if_delivered(error)
            current().diagnostics.failure(Problem.HANDOFF, self._place, wrong)
            return otherwise

    def _look(self) -> object:
        settings = self._settings
        if settings.selected_by is not None:
            return _answer(settings.selected_by, self._inputs)
        held = self._held(settings.selected_key, NOT_DUE)
        if held is not NOT_DUE:
            return held
        carried = None if self._moved is None else received(self._moved[1])
        return NOT_DUE if carried is None else carried

    def _held(self, key: str | None, otherwise: object = None) -> Any:
        """Return what the call's metadata, else its inputs, hold under a key."""
        if key is not None:
            for held in (self._metadata, self._inputs):
                if isinstance(held, Mapping) and key in held:
                    return held[key]
        return otherwise


def is_selecting() -> bool:
    """Return whether the caller is a part of selecting."""
    return bool(get_value(_SELECTING))


def _answer(function: Callable[[Any], Any], inputs: object) -> Any:
    """Ask a function outside of any handoff: it may retrieve by the same framework, and be asked for that too."""
    with using_context(set_value(_SELECTING, True, moved(current_context(), Position()))):
        found = function(inputs)
    if inspect.iscoroutine(found):
        found.close()
        raise UsageError("the selector is a coroutine function; it must be a plain one")
    return found


def notes(handoff: Handoff) -> dict[object, Any]:
    """Return what instrumentation packages keep with a handoff, each under keys of its own; freed with it."""
    return handoff.notes if isinstance(handoff, LiveHandoff) else {}


def kept_until_the_end(handoff: Handoff, key: object, make: Callable[[], T], settle: Callable[[T], object]) -> T:
    """Return what a package keeps with an open handoff, such as prompts, until it is recorded at the end of that.

    Args:
        handoff: An open one.
        key: Under which it is kept, one for each package.
        make: Makes it, where it is needed for the first time.
        settle: Records it, inside of the handoff, once.
    """
    kept = notes(handoff)
    found: T | None = kept.get(key)
    if found is None:
        made = make()
        found = kept.setdefault(key, made)  # several threads may need it at once, and a signal handler
        if found is made:

            def end() -> None:
                kept.pop(key, None)
                settle(made)

            before_the_end(handoff, end)
    return found


def before_the_end(handoff: Handoff, record: Callable[[], None]) -> None:
    """Record something when a handoff ends, or gets its answer: facts that are known only of the whole handoff.

    Args:
        handoff: An open one, or one that does nothing, in which nothing is recorded.
        record: Is called once, wherever the handoff ends; it must not raise.
    """
    if isinstance(handoff, LiveHandoff):
        handoff.kept.add(record)


def has_shown(handoff: Handoff) -> bool:
    """Return whether what a reader was shown is recorded in a handoff already."""
    return isinstance(handoff, LiveHandoff) and handoff.opened is not None and handoff.opened.shows()


def moment(handoff: Handoff) -> int:
    """Return a moment of an open handoff, later than any before."""
    return handoff.trace.now() if isinstance(handoff, LiveHandoff) else 0


def citations_in(handoff: Handoff, text: str) -> tuple[str, ...]:
    """Return the labels that an answer cites, as a handoff finds them when it gets the answer."""
    return handoff.citations_in(text) if isinstance(handoff, LiveHandoff) else ()
