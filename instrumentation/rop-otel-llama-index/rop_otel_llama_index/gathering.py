"""Code that retrieves and asks a model by itself, or leaves that to an agent: engines and tools.

What is retrieved in it is gathered, and looked for in what the model is asked. That is packing, unless a response
synthesizer is asked, which tells it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, cast

from opentelemetry.context import Context

import rop_otel as rop
from rop_otel.instrumenting import Settings, current_context, kinds, topmost, using_context
from rop_otel_llama_index.texts import shown
from rop_otel_llama_index.watched import Call, Enclosing, Watched


class Gathering:
    """What was retrieved in some code, and what models were asked since.

    Args:
        settings: Of the instrumentation.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._prompts: list[str] = []
        self.nodes: dict[str, Any] = {}
        """By their IDs."""

    def listed(self, nodes: Iterable[Any], *, handed: bool) -> None:
        """Take in what was retrieved, or what is left of it."""
        named = {each.node.node_id: each for each in nodes}
        self.nodes = named if handed else self.nodes | named

    def prompted(self, text: str) -> None:
        """Take in what a language model is asked."""
        if self.nodes:
            self._prompts.append(text)

    def clear(self) -> None:
        """Forget what was retrieved: what became of it has been told."""
        self.nodes = {}
        self._prompts = []

    def pack(self, instance: object, *, name: str | None = None, message: str | None = None) -> None:
        """Tell what prompts show or, where they show nothing, a tool's message.

        Where that holds no text of any node, nobody can say what it shows, and all count.
        """
        nodes = list(self.nodes.values())
        seen = shown(nodes, self._prompts) if self._prompts else []
        if message is not None:
            seen = seen or shown(nodes, [message]) or nodes
        if not seen:
            return
        self.clear()
        with rop.using_stage(
            kinds.PACKING, name=name, input=nodes, id=self._settings.id, implementation=type(instance).__name__
        ) as packing:
            packing.returned(seen)


class Engine(Watched):
    """A query engine or a chat.

    Args:
        settings: Of the instrumentation.
    """

    def __init__(
        self,
        instance: Any,
        *,
        settings: Settings,
        begins: topmost | None = None,
        block: AbstractContextManager[Any] | None = None,
    ) -> None:
        super().__init__(instance, begins=begins, block=block)
        self._around, self._own = self.gathering, Gathering(settings)
        self.gathering = self._own

    def returned(self, result: Any) -> None:
        """Tell what it asked a model, or leave what it retrieved to the code that called it."""
        self._own.pack(self.instance)
        if self._around is not None:
            self._around.listed(self._own.nodes.values(), handed=False)


class ToolCall(Enclosing):
    """One call of a tool, which is a round.

    Args:
        settings: Of the instrumentation.
    """

    def __init__(self, instance: Any, settings: Settings) -> None:
        super().__init__(instance)
        self._call = cast(Call, self.call)
        self._number = next(self._call.rounds)
        self.gathering = self._own = Gathering(settings)

    def place(self) -> Context:
        """Return the context in which its parts run: the round."""
        with using_context(self._call.context()), rop.using_round(self._number):
            return current_context()

    def returned(self, result: Any) -> None:
        """Tell what the tool's message shows."""
        if self._own.nodes:
            with using_context(self.place()):
                self._own.pack(self.instance, name=self.instance.metadata.get_name(), message=str(result))
