"""Code that retrieves and asks a model by itself, or leaves that to an agent: engines and tools.

What is retrieved in it is gathered, and looked for in the prompts that led to the answer. That is packing, unless a
response synthesizer is asked, which is packing itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from opentelemetry.context import Context

import rop_otel as rop
from rop_otel.instrumenting import Kind, Settings, kinds, stage_of, topmost, using_context
from rop_otel_llama_index.answers import answer_of_rounds, say_if_unlabelled
from rop_otel_llama_index.nodes import words
from rop_otel_llama_index.prompts import Prompts
from rop_otel_llama_index.watched import Call, Enclosing, Watched


class Gathering:
    """What was retrieved in some code, and what models were asked since.

    Args:
        settings: Of the instrumentation.
        beside: What prompts hold beside that: the question, messages of a history.
    """

    def __init__(self, settings: Settings, *beside: object) -> None:
        self._settings = settings
        self._retrieved: dict[object, str | None] = {}
        self._used = self._labelled = False
        self.prompts = Prompts(settings, *beside)
        self.nodes: dict[str, Any] = {}
        """By their IDs."""

    def listed(self, nodes: Iterable[Any], *, handed: Iterable[str] = ()) -> None:
        """Take in what was retrieved.

        Args:
            nodes: Nodes with scores.
            handed: IDs of nodes of which these are what is left.
        """
        gone = frozenset(handed)
        if not gone:
            self.prompts.outdate()
        left = {raw: node for raw, node in self.nodes.items() if raw not in gone}
        self.nodes = left | {each.node.node_id: each for each in nodes}

    def use(self) -> None:
        """Take in that what was retrieved is worked on."""
        self._used = True

    def again(self, instance: object, step: str, execution: str | None) -> bool:
        """Return whether a retriever begins another pass: it has run before, and what it found was worked on since.

        Args:
            instance: The retriever.
            step: What it runs in: the step of a workflow.
            execution: Of the step; None: it is no step.
        """
        known = self._retrieved
        again = self._used and (id(instance) in known or known.get(step, execution) != execution)
        if again:
            known.clear()
        self._used = False
        known[id(instance)] = None
        if execution is not None:
            known[step] = execution
        return again

    def clear(self) -> None:
        """Forget what was retrieved: its result has been reported."""
        self.nodes = {}
        self.prompts.clear()

    def pack(self, watched: Watched, result: Any, *, name: str | None = None, message: str | None = None) -> bool:
        """Record what the prompts show that led to a result, or a tool's message; return whether there are any.

        Args:
            watched: The code.
            result: Of it.
            name: Of the stage.
            message: That a tool returns to the model which called it.
        """
        said = words(result)
        prompts = self.prompts.leading_to(said) if said else []
        if message is not None:
            prompts.append(message)
        prompts = prompts or self.prompts.last()
        nodes = list(self.nodes.values())
        if not nodes or not prompts or _is_nodes(result):
            return False
        self._record(nodes, prompts, watched, name=name)
        if message is None and said:
            if watched.call is not None:
                watched.call.said = said
            if not self._labelled:
                say_if_unlabelled(said, watched.instance)
            sources = getattr(result, "source_nodes", None)
            if sources:
                rop.current_handoff().answered(said, sources=sources, id=self._settings.id)
            else:
                rop.current_handoff().answered(said)
        return True

    def pack_last(self) -> None:
        """Record what prompts show where nobody says what the result is."""
        nodes, prompts = list(self.nodes.values()), self.prompts.answered_prompts()
        if nodes and prompts:
            self._record(nodes, prompts, None)

    def _record(
        self, nodes: list[Any], prompts: list[str], watched: Watched | None, *, name: str | None = None
    ) -> None:
        component = None if watched is None else watched.instance
        with stage_of(self._settings, Kind(kinds.PACKING, name=name), component, input=nodes) as packing:
            labels = self.prompts.show(packing, nodes, prompts)
        self.clear()
        self._labelled = bool(labels)
        if watched is not None and watched.call is not None:
            watched.call.packed(labels, watched.inside)


class Engine(Watched):
    """A query engine or a chat.

    Args:
        settings: Of the instrumentation.
        beside: What it is asked, and a history.
        stage: That it is where a retriever asks it: what it retrieves and reads is apart from what else that does.
    """

    def __init__(
        self,
        instance: Any,
        *,
        settings: Settings,
        beside: Iterable[object],
        begins: topmost | None = None,
        number: int | None = None,
        stage: rop.Stage | None = None,
    ) -> None:
        super().__init__(instance, begins=begins, block=stage, number=number)
        self._stage = stage
        self._around = self.gathering
        self.gathering = Gathering(settings, *beside)

    def returned(self, result: Any) -> None:
        """Record what it asked a model, or leave what it retrieved to the code that called it."""
        own = cast(Gathering, self.gathering)
        with self.in_round():
            if not own.pack(self, result) and self._begun is not None and self._begun.labels:
                answer_of_rounds(self._begun, words(result), self.instance)
        if self._stage is not None:
            self._stage.returned(getattr(result, "source_nodes", None) or [])
        if self._around is not None and own.nodes:
            self._around.listed(own.nodes.values())


class ToolCall(Enclosing):
    """One call of a tool, which is a round.

    Args:
        settings: Of the instrumentation.
    """

    def __init__(self, instance: Any, settings: Settings) -> None:
        super().__init__(instance)
        self.inside = next(cast(Call, self.call).rounds)
        self.gathering = self._own = Gathering(settings)

    def place(self) -> Context:
        """Return the context in which its parts run."""
        return cast(Call, self.call).context()

    def returned(self, result: Any) -> None:
        """Record what the tool's message shows."""
        if self._own.nodes:
            with using_context(self.place()), self.in_round():
                self._own.pack(self, result, name=self.instance.metadata.get_name(), message=str(result))


def _is_nodes(result: object) -> bool:
    """Return whether a result is what was retrieved, for others to read."""
    return isinstance(result, list | tuple) and bool(result) and all(hasattr(each, "node") for each in result)
