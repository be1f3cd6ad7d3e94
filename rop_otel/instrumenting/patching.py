"""Wraps members of a framework's classes and modules, and puts them back: the one patcher of all packages.

A wrapper is a plain function. A proxy, as ``wrapt`` makes, would break an application that pickles or copies a bound
method, as one does that hands ``chain.invoke`` to a pool of processes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from types import FunctionType, ModuleType
from typing import Any, TypeAlias
from weakref import ReferenceType, WeakKeyDictionary, ref

from rop_otel.instrumenting.guarding import guarded
from rop_otel.safety import create_lock

Function: TypeAlias = Callable[..., Any]
Wrap: TypeAlias = Callable[[Function], Function]
Take: TypeAlias = Callable[[Any], object]
"""Takes what a call returned."""
Block: TypeAlias = AbstractContextManager[Take]
"""What a call runs in."""
Begin: TypeAlias = Callable[[Any, tuple[Any, ...], dict[str, Any]], Block | None]
"""Makes the block of a call from its instance and arguments; None: the call is not watched."""

_MISSING: Any = object()


class Patches:
    """What was wrapped, so that it can be put back.

    Args:
        framework: Its name.

    Attributes:
        on: False once all was put back. What others wrapped around a wrapper stays, and passes calls on.
    """

    def __init__(self, framework: str) -> None:
        self.on = True
        self._framework = framework
        self._lock = create_lock()
        self._undo: list[Callable[[], None]] = []
        # A method may refer to its class, as one with super() does, so that neither is kept here.
        self._wrapped: WeakKeyDictionary[Any, dict[str, ReferenceType[Any]]] = WeakKeyDictionary()

    def replace(self, owner: type | ModuleType, name: str, wrap: Wrap) -> None:
        """Wrap a method or a function, once.

        Args:
            owner: The class or module that defines it; where it has none of that name, as in an older version, nothing
                is done.
            name: Of the member.
            wrap: Makes the wrapper. The first argument of a method is its object.
        """
        original: Any = vars(owner).get(name)
        if not self.on or name in self._wrapped.get(owner, ()) or not _is_method(original):
            return
        wrapper: Any = wrap(original if isinstance(owner, ModuleType) else _as_function(original))
        wrapper.__wrapped__ = original
        with self._lock:
            wrapped = self._wrapped.setdefault(owner, {})
            if name not in wrapped:  # as it is where a signal handler has just done so
                wrapped[name] = ref(wrapper)
                setattr(owner, name, wrapper)

    def family(
        self, base: Any, wraps: Mapping[str, Wrap], *, but: tuple[type, ...] = (), base_too: bool = True
    ) -> None:
        """Wrap methods wherever a class of a family defines them.

        Args:
            base: The family: this class and its subclasses, also those that are defined later.
            wraps: What to wrap a method with, by its name.
            but: Classes of which and of whose subclasses nothing is wrapped.
            base_too: False leaves the family's own base class as it is.
        """
        for each in (*([base] if base_too else []), *_below(base)):
            self._methods(each, wraps, but)
        hook = base.__dict__.get("__init_subclass__", _MISSING)

        def defined(owner: Any, /, **arguments: Any) -> None:
            if hook is _MISSING:
                super(base, owner).__init_subclass__(**arguments)
            else:
                hook.__func__(owner, **arguments)
            self._methods(owner, wraps, but)

        ours = classmethod(defined)
        setattr(base, "__init_subclass__", ours)  # noqa: B010 - not by its name: it is a method
        self._undo.append(lambda: _put_back(base, "__init_subclass__", ours, hook))

    def undo(self) -> None:
        """Put everything back, the latest first."""
        with self._lock:
            self.on = False
            while self._undo:
                self._undo.pop()()
            replaced, self._wrapped = list(self._wrapped.items()), WeakKeyDictionary()
            for owner, wrapped in replaced:
                for name, wrapper in wrapped.items():
                    if (ours := wrapper()) is not None:
                        _put_back(owner, name, ours, ours.__wrapped__)

    def called(self, around: Callable[[Function], Begin]) -> Wrap:
        """Return what runs the calls of a method in a block each, which takes what it returned.

        Args:
            around: Makes what begins a block, once for each method that is wrapped.
        """

        def wrap(original: Function) -> Function:
            begin = around(original)

            @functools.wraps(original)
            def call(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
                block = self._begun(begin, instance, args, kwargs)
                if block is None:
                    return original(instance, *args, **kwargs)
                with block as take:
                    result = original(instance, *args, **kwargs)
                    take(result)
                return result

            return call

        return wrap

    def awaited(self, around: Callable[[Function], Begin]) -> Wrap:
        """Return the same as :meth:`called` for a method that is awaited."""

        def wrap(original: Function) -> Function:
            begin = around(original)

            @functools.wraps(original)
            async def call(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
                block = self._begun(begin, instance, args, kwargs)
                if block is None:
                    return await original(instance, *args, **kwargs)
                with block as take:
                    result = await original(instance, *args, **kwargs)
                    take(result)
                return result

            return call

        return wrap

    def pair(self, around: Callable[[Function], Begin], called: str, awaited: str) -> dict[str, Wrap]:
        """Return the same for two methods that do the same, one of which is awaited, by their names."""
        return {called: self.called(around), awaited: self.awaited(around)}

    def _begun(self, begin: Begin, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Block | None:
        if not self.on:
            return None
        with guarded(f"{self._framework}, {type(instance).__name__}"):
            return begin(instance, args, kwargs)
        return None

    def _methods(self, owner: type, wraps: Mapping[str, Wrap], but: tuple[type, ...]) -> None:
        if issubclass(owner, but):
            return
        for name, wrap in wraps.items():
            # A class that cannot be watched can be defined all the same.
            with guarded(f"{self._framework}, {owner.__qualname__}.{name}"):
                if not getattr(vars(owner).get(name), "__isabstractmethod__", False):
                    self.replace(owner, name, wrap)


def no_matter(result: Any) -> None:
    """Take in nothing of what a call returned."""


def _is_method(member: Any) -> bool:
    """Return whether a member of a class is called with its object: not a static method, nor an object in its place."""
    return callable(member) and hasattr(member, "__get__") and not isinstance(member, staticmethod)


def _as_function(method: Any) -> Function:
    """Return a method as a function whose first argument is the object; what others wrapped binds in its own way."""
    if type(method) is FunctionType:
        return method

    @functools.wraps(method)
    def function(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        return method.__get__(owner, type(owner))(*args, **kwargs)

    return function


def _put_back(owner: type | ModuleType, name: str, ours: Any, original: Any) -> None:
    """Put a member back, unless another one was put over it."""
    if vars(owner).get(name) is not ours:
        return
    if original is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, original)


def _below(base: type) -> Iterator[type]:
    """Give every subclass once."""
    seen: set[type] = set()
    waiting: list[type] = type.__subclasses__(base)
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            yield each
            waiting += type.__subclasses__(each)
