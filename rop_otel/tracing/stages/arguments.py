"""Finds one argument of a decorated function in the values that it is called with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

from rop_otel.errors import UsageError

InputWhere = str | Sequence[str] | Callable[..., object] | None
"""The parameter or parameters with the documents that a stage is handed, or a callable that takes all arguments."""

Inputs = Callable[[tuple[Any, ...], dict[str, Any]], Sequence[object]]
"""Gives the lists that a call with these arguments hands over."""

_POSITIONAL: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)


class Argument:
    """Where a named argument is in a call.

    Args:
        function: The function that is called.
        name: The parameter's name.
        option: The decorator's argument that names it, for the message.

    Raises:
        UsageError: The function has no such parameter.
    """

    __slots__ = ("_default", "_name", "_place", "_several")

    def __init__(self, function: Callable[..., object], name: object, *, option: str) -> None:
        parameters = list(inspect.signature(function).parameters.values())
        names = [parameter.name for parameter in parameters]
        any_keyword = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
        if not isinstance(name, str) or (name not in names and not any_keyword):
            raise UsageError(
                f"{option}={name!r}: the function has no such parameter, only {', '.join(names) or 'none'}"
            )
        self._name = name
        self._place: int | None = None
        self._default: object = None
        self._several = False
        for place, parameter in enumerate(parameters):
            if parameter.name == name:
                self._place = place if parameter.kind in _POSITIONAL else None
                self._default = None if parameter.default is inspect.Parameter.empty else parameter.default
                self._several = parameter.kind is inspect.Parameter.VAR_POSITIONAL

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Return the argument of a call, else the parameter's default, else None; of ``*name`` the list of them."""
        if self._place is not None and self._several:
            return list(args[self._place :])
        if self._place is not None and self._place < len(args):
            return args[self._place]
        return kwargs.get(self._name, self._default)


def inputs_of(function: Callable[..., object], where: InputWhere) -> Inputs | None:
    """Return what gives the lists that a call hands over; None where none are named.

    Raises:
        UsageError: The function has no such parameter.
    """
    if where is None:
        return None
    if callable(where):
        return lambda args, kwargs: (where(*args, **kwargs),)
    if isinstance(where, str):
        argument = Argument(function, where, option="input_arg")
        return lambda args, kwargs: (argument.of(args, kwargs),)
    arguments = [Argument(function, name, option="input_arg") for name in where]
    return lambda args, kwargs: [argument.of(args, kwargs) for argument in arguments]
