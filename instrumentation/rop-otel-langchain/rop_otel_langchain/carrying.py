"""Carries a topmost call to where LangChain runs a part of it: in the context, and in a batch with the configuration.

A chain runs a batch step by step, each step for all of the inputs, so that the context does not show whose step it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks.base import BaseCallbackManager
from opentelemetry.context import Context, create_key, get_value, set_value

import rop_otel as rop

if TYPE_CHECKING:
    from rop_otel_langchain.calls import Call

_CALL: Final = create_key("rop_otel_langchain call")
_BATCH: Final = "batch"
"""In the place of a call: which one it is says the configuration."""


class Waiting:
    """In the place of a call that is no handoff yet, since nothing has retrieved inside of it.

    Args:
        call: The call.
        outside: The ID of the handoff that it began in; empty outside of any.
    """

    __slots__ = ("call", "outside")

    def __init__(self, call: Call, outside: str) -> None:
        self.call = call
        self.outside = outside


class Carrier(BaseCallbackHandler):
    """Goes through a configuration as a callback that is never called.

    Args:
        call: What it carries.
    """

    ignore_agent = ignore_chain = ignore_chat_model = ignore_custom_event = True
    ignore_llm = ignore_retriever = ignore_retry = True
    run_inline = True

    def __init__(self, call: Call | None) -> None:
        self.call = call

    def __copy__(self) -> Carrier:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Carrier:
        return self  # an application may copy its configuration; a call cannot be, and is the same one

    def __reduce__(self) -> tuple[type[Carrier], tuple[None]]:
        return Carrier, (None,)  # in another process there is no call


def is_under_way() -> bool:
    """Return whether the caller is inside of a topmost call."""
    return get_value(_CALL) is not None


def call_here() -> Call | None:
    """Return the topmost call that the caller is inside of, where the context shows it."""
    call = get_value(_CALL)
    return None if call is _BATCH or isinstance(call, Waiting) else cast("Call | None", call)


def under_way(context: Context, call: Call | Waiting) -> Context:
    """Return a context that is inside of a topmost call."""
    return set_value(_CALL, call, context)


def batched(context: Context) -> Context:
    """Return a context that is inside of a batch of them."""
    return set_value(_CALL, _BATCH, context)


def carrying(config: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """Return a configuration that carries a call."""
    callbacks = config.get("callbacks")
    carrier = Carrier(call)
    if isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.copy()
        callbacks.add_handler(carrier, inherit=True)
        return {**config, "callbacks": callbacks}
    return {**config, "callbacks": [*(callbacks or ()), carrier]}


def resumed(
    args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] = MappingProxyType({}), *, retrieves: bool = False
) -> AbstractContextManager[None]:
    """Return a block inside of the call that a part belongs to, where its context is not; else it changes nothing.

    Args:
        args: Arguments of the part after its input, of which the configuration is the first.
        kwargs: Its other arguments.
        retrieves: True where the part retrieves: a call that waits for that is a handoff from now on.
    """
    at = get_value(_CALL)
    if at is _BATCH:
        call = _carried(args[0] if args else kwargs.get("config"))
        waits = False
    elif isinstance(at, Waiting) and rop.current_handoff().id == at.outside:
        call, waits = at.call, True
    else:
        return nullcontext()
    if call is None:
        return nullcontext()
    if retrieves:
        call.open()
    return nullcontext() if waits and call.trail is None else call.current()


def _carried(config: Any) -> Call | None:
    callbacks = config.get("callbacks") if isinstance(config, Mapping) else None
    handlers = callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks
    return next((each.call for each in handlers or () if isinstance(each, Carrier)), None)
