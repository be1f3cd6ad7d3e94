"""Wraps methods of a class and of all its subclasses, those that are yet to come included, and puts them back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from types import FunctionType, ModuleType
from typing import Any, TypeAlias
from weakref import ReferenceType, WeakKeyDictionary, ref

from rop_otel.instrumenting import failure, raise_if_delivered

Function: TypeAlias = Callable[..., Any]
Wrap: TypeAlias = Callable[[Function], Function]
Take: TypeAlias = Callable[[Any], object]
"""Takes what a call returned."""
Block: TypeAlias = Callable[[Any, tuple[Any, ...], dict[str, Any]], AbstractContextManager[Take]]
"""Makes the block to run a call in, of its instance and arguments."""

_MISSING: Any = object()


class Patches:
    """What was wrapped, so that it can be put back."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        # A method may refer to its class, as one with super() does, so that neither is kept here.
        self._wrapped: WeakKeyDictionary[type, list[tuple[str, ReferenceType[Any]]]] = WeakKeyDictionary()

    def function(self, module: ModuleType, name: str, wrap: Wrap) -> None:
        """Wrap a function of a module; one that is not there is left out."""
        original = getattr(module, name, None)
        if original is not None:
            wrapper = wrap(original)
            setattr(module, name, wrapper)
            self._undo.append(lambda: _put_back(module, name, wrapper, original))

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
        while self._undo:
            self._undo.pop()()
        for owner, wrapped in list(self._wrapped.items()):
            for name, wrapper in reversed(wrapped):
                ours = wrapper()
                if ours is not None:
                    _put_back(owner, name, ours, ours.__wrapped__)
        self._wrapped.clear()

    def _methods(self, owner: type, wraps: Mapping[str, Wrap], but: tuple[type, ...]) -> None:
        if issubclass(owner, but):
            return
        for name, wrap in wraps.items():
            try:
                original: Any = owner.__dict__.get(name)
                if _is_method(original) and not getattr(original, "__isabstractmethod__", False):
                    self._method(owner, name, original, wrap)
            except Exception as error:  # noqa: BLE001 - a class that cannot be watched can be defined all the same
                raise_if_delivered(error)
                failure(f"LangChain, {owner.__qualname__}.{name}", "it could not be watched")

    def _method(self, owner: type, name: str, original: Any, wrap: Wrap) -> None:
        wrapper: Any = wrap(_as_function(original))
        wrapper.__wrapped__ = original
        setattr(owner, name, wrapper)
        self._wrapped.setdefault(owner, []).append((name, ref(wrapper)))


def _is_method(member: Any) -> bool:
    """Return whether a member of a class is called with its object: not a static method, nor an object in its place."""
    return callable(member) and hasattr(member, "__get__") and not isinstance(member, staticmethod)


def _as_function(method: Any) -> Function:
    """Return a method as a function whose first argument is the object; what others wrapped binds in its own way."""
    if type(method) is FunctionType:
        return method

    @functools.wraps(method)
    def function(owner: Any, *args: Any, **kwargs: Any) -> Any:
        return method.__get__(owner, type(owner))(*args, **kwargs)

    return function


def called(around: Callable[[Function], Block]) -> Wrap:
    """Return what runs the calls of a method in a block each, which takes what it returned.

    Args:
        around: Makes the block's maker, once for each method that is wrapped.
    """

    def wrap(original: Function) -> Function:
        block = around(original)

        @functools.wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with block(self, args, kwargs) as take:
                result = original(self, *args, **kwargs)
                take(result)
                return result

        return call

    return wrap


def awaited(around: Callable[[Function], Block]) -> Wrap:
    """Return the same as :func:`called` for a method that is awaited."""

    def wrap(original: Function) -> Function:
        block = around(original)

        @functools.wraps(original)
        async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with block(self, args, kwargs) as take:
                result = await original(self, *args, **kwargs)
                take(result)
                return result

        return call

    return wrap


def no_matter(result: Any) -> None:
    """Take in nothing of what a call returned."""


def given(function: Function) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Any]:
    """Return what finds the first argument of a method, after its object, in a call of it.

    Args:
        function: The method, as it is wrapped. A class of the application may have a name of its own for the argument.
    """
    code = getattr(function, "__code__", None)
    named = code.co_varnames[1 : code.co_argcount] if code is not None else ()
    name = named[0] if named else "input"
    return lambda args, kwargs: args[0] if args else kwargs.get(name)


def _put_back(owner: type | ModuleType, name: str, ours: Any, original: Any) -> None:
    """Put a member back, unless another one was put over it."""
    if owner.__dict__.get(name) is not ours:
        return
    if original is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, original)


def _below(base: type) -> Iterator[type]:
    """Give every subclass once."""
    seen: set[type] = set()
    waiting: list[type] = list(base.__subclasses__())
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            yield each
            waiting += each.__subclasses__()
