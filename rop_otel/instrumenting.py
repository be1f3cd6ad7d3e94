"""What the instrumentation packages share: settings, the handoff of the topmost call, versions, failures.

Public as the facade is: a package that watches a framework imports these two and nothing else of this project.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from types import TracebackType
from typing import Any, Final, TypeVar, cast

from opentelemetry.context import Context, create_key, get_value, set_value

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Source, as_kinds, as_positive, as_text, as_texts
from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.record import UNNAMED
from rop_otel.core.texts import holds_some_of, places_in, plain_text, shown_in, without
from rop_otel.errors import ConfigurationError, UsageError
from rop_otel.export import configure_once
from rop_otel.safety import Turns, afterwards, create_lock, insist, raise_if_delivered
from rop_otel.tracing.baggage import received, using_baggage, without_selection
from rop_otel.tracing.deferred import Deferred
from rop_otel.tracing.handoff import Handoff
from rop_otel.tracing.here import (
    Here,
    current_context,
    enter,
    here,
    in_block,
    make_current,
    moved,
    put_back,
    reset_variable,
    set_variable,
    using_context,
)
from rop_otel.tracing.importlib_bootstrap import AsyncSteps, Following, Steps
from rop_otel.tracing.keyed import ByKeys
from rop_otel.tracing.mishaps import Mishap
from rop_otel.tracing.opening import NOT_DUE
from rop_otel.tracing.runtime import current
from rop_otel.tracing.scalars import as_name
from rop_otel.tracing.selecting import Selector, as_selector
from rop_otel.tracing.silent_handoff import SilentHandoff

__all__ = [
    "NOT_DUE",
    "AsyncSteps",
    "Deferred",
    "Following",
    "Selector",
    "Settings",
    "Steps",
    "Turns",
    "afterwards",
    "configure_once",
    "create_lock",
    "current_context",
    "failure",
    "holds_some_of",
    "insist",
    "kinds",
    "make_current",
    "notes",
    "places_in",
    "plain_text",
    "raise_if_delivered",
    "reset_variable",
    "retrieved_outside",
    "set_variable",
    "shown_in",
    "supported",
    "topmost",
    "using_baggage",
    "using_context",
    "without",
]

_T = TypeVar("_T")
_logger = logging.getLogger("rop_otel")
_PROVIDERS: Final = frozenset({"tracer_provider", "meter_provider", "logger_provider"})
_warned: Final[set[tuple[str, str]]] = set()
_ASKED: Final = "asked"
"""Noted with a handoff whose selector was called: it is called once for each."""

_OUTSIDE: Final = (
    "%s: %s retrieved outside of any handoff, so that nothing says what became of its documents; write "
    "`with rop.handoff(name, selected=...):` around all that is done for one question (this is said once)"
)

_SELECTING: Final = create_key("rop_otel selecting")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a user tells an instrumentation package, decided once.

    Args:
        handoff: Name of the handoffs; None: the framework's own name of the topmost call.
        cutoff: How many of the shown documents count; None: all.
        selected_by: Tells what was selected.
        selected_key: Key of the topmost call's metadata, else of its inputs, that holds what was selected.
        id_keys: Keys of a document's metadata, the first present of which is its ID; without one it is its own ID.
        stages: Kinds of stages by the name of a component's class or of a function; None: it is no stage.
    """

    handoff: str | None = None
    cutoff: int | None = None
    selected_by: Selector | None = None
    selected_key: str | None = None
    id_keys: tuple[str, ...] = ()
    stages: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def resolve(
        cls,
        *,
        handoff: str | None = None,
        cutoff: int | None = None,
        selected_by: Selector | str | None = None,
        selected_key: str | None = None,
        id_keys: str | tuple[str, ...] | list[str] | None = None,
        stages: str | Mapping[str, str | None] | None = None,
        environ: Mapping[str, str] | None = None,
        **others: object,
    ) -> Settings:
        """Decide every setting: from its argument, else from the environment, else from its default.

        The arguments are those of the class, where ``selected_by`` may be ``module:function``, which is imported at its
        first use, ``id_keys`` a text with commas, and ``stages`` one of ``name=kind``, where an empty kind is None.
        ``environ`` is the environment to read, None for the process's; ``others`` may hold providers, which every
        instrumentor of OpenTelemetry is given and this leaves alone.

        A variable that cannot be used is logged and counts as absent: an instrumentor that raises while a program
        starts would keep OpenTelemetry from loading those after it.

        Raises:
            ConfigurationError: An argument cannot be used; the message names it and its value.
        """
        if unknown := sorted(set(others) - _PROVIDERS):
            known = ", ".join(cls.__dataclass_fields__)
            raise ConfigurationError(f"the argument {unknown[0]} is no setting; those are {known}")
        source = _Source(os.environ if environ is None else environ)
        return cls(
            handoff=source.pick("handoff", handoff, semconv.ENV_HANDOFF_NAME, as_text, None),
            cutoff=source.pick("cutoff", cutoff, semconv.ENV_CUTOFF, as_positive, None),
            selected_by=source.pick("selected_by", selected_by, semconv.ENV_SELECTED_BY, as_selector, None),
            selected_key=source.pick("selected_key", selected_key, semconv.ENV_SELECTED_KEY, as_text, None),
            id_keys=source.pick("id_keys", id_keys, semconv.ENV_ID_KEYS, as_texts, ()),
            stages=source.pick("stages", stages, semconv.ENV_STAGES, _stages, {}),
        )

    @property
    def id(self) -> Callable[[Any], str | None] | None:
        """What to give as ``id=`` to :func:`rop_otel.using_stage`; None without keys: the usual places."""
        return ByKeys(self.id_keys) if self.id_keys else None

    def told(self, component: type, *names: str) -> str | None:
        """Return the key of ``stages`` that tells what a component is; None where none does.

        Args:
            component: Its class; of those that it inherits from, the nearest counts where it is not told of itself.
            names: Other names of it, which come first.
        """
        known = (*names, *(each.__name__ for each in component.__mro__))
        return next((name for name in known if name in self.stages), None)


class topmost:  # noqa: N801 - used like a function
    """A ``with`` block that is one handoff: the open one, else a new one that the block ends.

    The open one is neither renamed nor ended, and is told a selection only where it has none. A selection comes from
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
            return SilentHandoff(self._name, "monitoring is off")
        if get_value(_SELECTING):
            return SilentHandoff(self._name, "it is a part of selecting")
        found = here().handoff
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

    def _begin(self, found: Handoff | None) -> Handoff:
        try:
            self._receive()
            if found is None or found._assessment is not None:
                return self._open()
            self._tell(found)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            current().mishaps.failure(Mishap.HANDOFF, self._place, "it could not be opened or told its selection")
        return found or SilentHandoff(self._name, "it could not be opened")

    @property
    def owns(self) -> bool:
        """Whether the handoff is the block's own: it ends with the block, and its answer is for the package to tell."""
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
        opened = rop.handoff(self._name, cutoff=self._settings.cutoff, selected=self._selected())
        notes(opened)[_ASKED] = True
        self._own = opened.__enter__()
        return self._own

    def _tell(self, found: Handoff) -> None:
        if found._record.selected is not None or (self._settings.selected_by is not None and _ASKED in notes(found)):
            return
        notes(found)[_ASKED] = True
        selected = self._selected()
        if selected is not NOT_DUE:
            found.select(selected)

    def _selected(self) -> object:
        """Return what was selected, ``NOT_DUE`` where no selection is or none can be found out."""
        try:
            return self._look()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a selector, or the program it is in and that its import runs
            raise_if_delivered(error)
            wrong = "what was selected could not be found out, so it has no selection"
            current().mishaps.failure(Mishap.HANDOFF, self._place, wrong)
            return NOT_DUE

    def _look(self) -> object:
        settings = self._settings
        if settings.selected_by is not None:
            return _answer(settings.selected_by, self._inputs)
        for held in (self._metadata, self._inputs):
            if settings.selected_key is not None and isinstance(held, Mapping) and settings.selected_key in held:
                return held[settings.selected_key]
        carried = None if self._moved is None else received(self._moved[1])
        return NOT_DUE if carried is None else carried


def _answer(selector: Selector, inputs: object) -> object:
    """Ask a selector, outside of any handoff: it may retrieve by the same framework, and be asked for that too."""
    with using_context(set_value(_SELECTING, True, moved(current_context(), Here()))):
        selected = selector(inputs)
    if inspect.iscoroutine(selected):
        selected.close()
        raise UsageError("the selector is a coroutine function; it must be a plain one")
    return selected


def supported(package: str, specifier: str) -> bool:
    """Return whether the installed version of a framework is one that an instrumentation package knows.

    Where it is not, one warning says so; the package then instruments nothing.

    Args:
        package: Name of the framework's distribution.
        specifier: The versions, as in ``>=1.0,<2``.
    """
    from packaging.specifiers import SpecifierSet  # comes with opentelemetry-instrumentation, not with this package

    try:
        version = metadata.version(package)
        if SpecifierSet(specifier).contains(version, prereleases=True):
            return True
        found = f"{package} {version} is installed"
    except metadata.PackageNotFoundError:
        found = f"{package} is not installed"
    except Exception as error:  # noqa: BLE001 - metadata without a version, or one that is none
        raise_if_delivered(error)
        found = f"the installed version of {package} is not known"
    _warn_once(package, "%s and is not watched: versions %s are", found, specifier)
    return False


def failure(place: str, message: str) -> None:
    """Count and log an exception of an instrumentation package's own code, which is being handled.

    Args:
        place: Where it happened, with the framework's name; the same message is logged once for each.
        message: What became of it, in one sentence.
    """
    current().mishaps.failure(Mishap.INSTRUMENTATION, place, message)


def notes(handoff: Handoff) -> dict[object, Any]:
    """Return what instrumentation packages keep with a handoff, each under keys of its own; freed with it."""
    kept: dict[object, Any] = vars(handoff).setdefault("_notes", {})
    return kept


def retrieved_outside(framework: str, what: str) -> None:
    """Say, once for each framework, that something retrieved outside of any handoff: no verdict is to be had then.

    Where monitoring is off, and inside of a selector, it is as it should be, and nothing is said.

    Args:
        framework: Its name.
        what: What retrieved.
    """
    if here().handoff is None and current().enabled and not get_value(_SELECTING):
        _warn_once(framework, _OUTSIDE, framework, what)


def _warn_once(about: str, message: str, *values: object) -> None:
    if (about, message) not in _warned:
        _warned.add((about, message))
        _logger.warning(message, *values)


class _Source(Source):
    """A source whose variables count as absent where they cannot be used."""

    __slots__ = ()

    def pick(
        self, name: str, argument: object, variable: str | None, read: Callable[[object, str], _T], default: _T | None
    ) -> _T:
        """Return the argument, else the variable's value where it can be used, else the default."""
        try:
            return Source.pick(self, name, argument, variable, read, default)
        except ConfigurationError as error:
            if argument is not None:
                raise
            _logger.warning("%s; it counts as absent", error)
            return cast(_T, default)


def _stages(value: object, place: str) -> dict[str, str | None]:
    return {name: kind or None for name, kind in as_kinds(value, place)}
