"""What a response synthesizer puts before the language model, and what it answers: packing and reader."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable
from functools import partial
from typing import Any

import rop_otel as rop
from rop_otel.instrumenting import AsyncSteps, Settings, Steps, kinds
from rop_otel_llama_index.streams import Streaming
from rop_otel_llama_index.texts import labels, shown
from rop_otel_llama_index.watched import Watched


class Synthesis(Watched):
    """A response synthesizer at work.

    Args:
        nodes: That it is given.
        answers: True where they are answers to questions of a round each, and no retrieved nodes.
        settings: Of the instrumentation.
    """

    def __init__(self, instance: Any, *, nodes: Iterable[Any], answers: bool, settings: Settings) -> None:
        self._nodes = list(nodes)
        self._answers = answers
        self._settings = settings
        self._prompts: list[str] = []
        self._arguments: list[str] = []
        self._told = False
        super().__init__(instance)
        if self.gathering is not None:
            self.gathering.clear()  # it tells what becomes of that

    def prompted(self, text: str) -> None:
        """Take in what a language model is asked."""
        self._prompts.append(text)

    def filled_in(self, text: str) -> None:
        """Take in what a prompt is made of; it counts only where no prompt is seen."""
        self._arguments.append(text)

    def returned(self, result: Any) -> None:
        """Take in the response, or watch it while it streams on."""
        sources = getattr(result, "source_nodes", None)
        stream = getattr(result, "response_gen", None)
        kind: type[Steps | AsyncSteps] | None = None
        if isinstance(stream, Generator):
            kind = Steps
        elif isinstance(stream, AsyncGenerator):
            kind = AsyncSteps
        if kind is None:
            self._pack()
            self._answer(str(result), sources)
            return
        if self.call is not None and self.call.owns:
            self.call.hold()
        else:  # the application may end its handoff before the stream ends
            self._pack()
        # It is given the sources, not the response: that holds the stream, which has to end as soon as nobody wants it.
        streaming = Streaming(self.context(), partial(self._streamed, sources))
        result.response_gen = kind(stream, streaming, at_once=True)

    def end(self, error: BaseException | None = None) -> None:
        """Tell what was packed, where the synthesizer raised."""
        if error is not None:
            self._pack(error)
        super().end(error)

    def _streamed(self, sources: object, text: str, error: BaseException | None) -> None:
        try:
            self._pack(error)
            if error is None and rop.current_handoff().assessment.verdict is None:  # it is open still
                self._answer(text, sources)
        finally:
            if self.call is not None and self.call.owns:
                self.call.release(error)

    def _pack(self, error: BaseException | None = None) -> None:
        """Tell what was packed, once."""
        if self._told or self._answers:
            return
        self._told = True
        seen = self._prompts or self._arguments
        nodes = shown(self._nodes, seen) if seen else self._nodes
        read = labels(nodes)
        if seen:
            error = None  # what a prompt held was shown, whatever came of it
        packing = rop.using_stage(
            kinds.PACKING,
            input=self._named(self._nodes),
            id=self._settings.id,
            implementation=type(self.instance).__name__,
        )
        packing.__enter__()
        if error is None:
            packing.returned(self._named(nodes), labels=read)
        packing.__exit__(None if error is None else type(error), error, None)

    def _answer(self, text: str, sources: object) -> None:
        if isinstance(sources, list):
            rop.current_handoff().answered(text, sources=self._named(sources), labels=labels(sources))
        else:
            rop.current_handoff().answered(text)

    def _named(self, nodes: list[Any]) -> list[Any]:
        """Return the nodes, and the retrieved ones in the place of copies that lost their IDs."""
        originals = {} if self.call is None else self.call.originals
        return [originals.get(node.node_id, node) for node in nodes] if originals else nodes
