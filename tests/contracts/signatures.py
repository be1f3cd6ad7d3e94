"""What a function may be called with: the parameters that it names, and the keywords of a typed dictionary."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args, get_type_hints


def keywords(function: Callable[..., object]) -> dict[str, str]:
    """Return the keywords that ``**`` of a function stands for, each with its type as it is written."""
    several = [each.name for each in parameters_of(function) if each.kind is inspect.Parameter.VAR_KEYWORD]
    if not several:
        return {}
    found = get_args(get_type_hints(function, include_extras=True).get(several[0]))
    return {name: _written(hint) for name, hint in found[0].__annotations__.items()} if found else {}


def parameters(function: Callable[..., object]) -> list[str]:
    """Return the names that a function may be called with, without its object."""
    spelled = keywords(function)
    named = [each.name for each in parameters_of(function) if each.name != "self"]
    return [*(named[:-1] if spelled else named), *spelled]


def parameters_of(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters as Python knows them."""
    return list(inspect.signature(function).parameters.values())


def _written(hint: Any) -> str:
    return getattr(hint, "__forward_arg__", str(hint))
