"""Checks whether a chain retrieves anything, from what it is made of: a call that retrieves nothing is no handoff."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final
from weakref import ReferenceType, ref

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import VectorStore

from rop_otel.instrumenting import Function, raise_if_delivered
from rop_otel_langchain.documents import is_a

_MOST: Final = 5000
"""Objects that are looked at in one chain."""

_known: Final[dict[int, tuple[ReferenceType[Any], bool]]] = {}
"""Answers by the identity of a chain; one is dropped with its chain."""


def contains_retrieval(chain: Runnable[Any, Any]) -> bool:
    """Return whether a retriever or vector store is among a chain's parts, or is used by functions of its.

    What a function reaches only through other modules, or through objects in objects of the application, is not seen.
    """
    key = id(chain)
    known = _known.get(key)
    if known is not None and known[0]() is chain:
        return known[1]
    answer = _search(chain)
    with suppress(TypeError):  # where no weak reference to it can be made, it is searched again next time
        _known[key] = (ref(chain, lambda _: _known.pop(key, None)), answer)
    return answer


def _search(chain: object) -> bool:
    seen: set[int] = set()
    waiting: list[object] = [chain]
    for _ in range(10 * _MOST):  # the same ones may stand in many places
        if not waiting or len(seen) >= _MOST:
            break
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        try:
            if is_a(part, BaseRetriever | VectorStore):
                return True
            waiting += _parts(part)
        except Exception as error:  # noqa: BLE001 - the application's objects
            raise_if_delivered(error)
            continue
    return False


def _parts(part: Any) -> Iterator[object]:
    """Give what something is made of, as far as a chain may be: fields, elements, and what functions refer to."""
    if is_a(part, dict):
        yield from islice(part.values(), _MOST)
    elif is_a(part, list | tuple | set | frozenset):
        yield from islice(part, _MOST)
    elif is_a(part, partial):
        for each in (part.func, *part.args, *part.keywords.values()):
            yield from _held(each)
    elif is_a(part, MethodType):
        yield part.__func__
        yield from _held(part.__self__)
    elif is_a(part, FunctionType):
        yield from _referred(part)
    elif is_a(part, Runnable) or type(part).__module__.startswith(("langgraph.", "langchain")):
        yield from vars(part).values()
        yield from _held(getattr(part, "func", None))


def _referred(function: FunctionType) -> Iterator[object]:
    """Give the variables that a function refers to."""
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # it has no value yet
            yield from _held(cell.cell_contents)
    for name in _names(function.__code__):
        yield from _held(function.__globals__.get(name))


def _held(value: object) -> Iterator[object]:
    """Give a value, and where it is an object of the application what that holds."""
    yield value
    try:
        if not is_a(value, type | ModuleType | FunctionType):
            yield from getattr(value, "__dict__", {}).values()
    except Exception as error:  # noqa: BLE001 - what stands for another object, as one of a request, may have none now
        raise_if_delivered(error)


def _names(code: CodeType) -> Iterator[str]:
    """Give the names in a function and in those inside of it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def given(function: Function) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Any]:
    """Return what finds the first argument of a method, after its object, in a call of it.

    Args:
        function: The method, as it is wrapped. A class of the application may have a name of its own for the argument.
    """
    code = getattr(function, "__code__", None)
    named = code.co_varnames[1 : code.co_argcount] if code is not None else ()
    name = named[0] if named else "input"
    return lambda args, kwargs: args[0] if args else kwargs.get(name)
