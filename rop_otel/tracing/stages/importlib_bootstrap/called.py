"""Functions, and other callables, of the application that are stages."""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable
from operator import attrgetter
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Protocol

import wrapt

from rop_otel.tracing.running.runtime import Runtime, current
from rop_otel.tracing.stages.live_stage import LiveStage
from rop_otel.tracing.stages.spec import Spec

if TYPE_CHECKING:
    _Proxy = wrapt.BaseObjectProxy[Any]
else:  # before version 2 there is one whose objects all look iterable
    _Proxy = getattr(wrapt, "BaseObjectProxy", wrapt.ObjectProxy)


class Handing(Protocol):
    """What the calls of one decorated function have in common."""

    @property
    def spec(self) -> Spec:
        """What the decorator says."""

    @property
    def hands_over(self) -> bool:
        """Whether a call reports anything to its stage."""

    def report_input(self, stage: LiveStage, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Report to a stage what its call hands over, before the function can change it."""


Run = Callable[[Runtime, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""Runs a call where monitoring is on."""


def monitored_function(function: FunctionType, calls: Handing) -> Callable[..., Any]:
    """Return a function that runs a plain one as a stage: a real function, which is the quickest to call."""

    def monitored(*args: Any, **kwargs: Any) -> Any:
        runtime = current()
        if not runtime.enabled:
            return function(*args, **kwargs)
        with LiveStage(calls.spec, runtime) as stage:
            if calls.hands_over:
                calls.report_input(stage, args, kwargs)
            result = function(*args, **kwargs)
            if not stage._reported:
                stage.returned(result)
            return result

    monitored.__defaults__, monitored.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return functools.update_wrapper(monitored, function)


def monitored_call(calls: Handing) -> Run:
    """Return what runs the calls of a callable that is no plain function, as a stage each."""

    def run(runtime: Runtime, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with LiveStage(calls.spec, runtime) as stage:
            if calls.hands_over:
                calls.report_input(stage, args, kwargs)
            result = function(*args, **kwargs)
            if not stage._reported:
                stage.returned(result)
            return result

    return run


class Monitored(_Proxy):
    """A callable that is called as a stage, and is the application's own in all else: attributes, kind, copies.

    Args:
        function: What is decorated.
        run: Runs a call.
    """

    def __init__(self, function: Callable[..., Any], run: Run) -> None:
        super().__init__(function)
        self._self_run = run

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - its callable says it
        runtime = current()
        if not runtime.enabled:
            return self.__wrapped__(*args, **kwargs)
        return self._self_run(runtime, self.__wrapped__, args, kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind to an object where the callable itself does."""
        bind = getattr(type(self.__wrapped__), "__get__", None)
        if instance is None or bind is None or bind(self.__wrapped__, instance, owner) is self.__wrapped__:
            return self
        return MethodType(self, instance)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __copy__(self) -> Monitored:
        return self._self_like(copy.copy(self.__wrapped__))

    def __deepcopy__(self, memo: dict[int, Any]) -> Monitored:
        return self._self_like(copy.deepcopy(self.__wrapped__, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Be pickled by name where that leads here, else as the callable itself, without the stage."""
        wrapped = self.__wrapped__
        name = wrapped.__qualname__ if isinstance(wrapped, FunctionType) else wrapped.__reduce_ex__(protocol)
        if isinstance(name, str) and _found(wrapped.__module__, name) is not self:
            return _itself, (wrapped,)
        return name

    def _self_like(self, function: Callable[..., Any]) -> Monitored:
        return self if function is self.__wrapped__ else Monitored(function, self._self_run)


def _found(module: str, name: str) -> object:
    try:
        return attrgetter(name)(sys.modules[module])
    except (AttributeError, KeyError):
        return None


def _itself(thing: Any) -> Any:
    return thing
