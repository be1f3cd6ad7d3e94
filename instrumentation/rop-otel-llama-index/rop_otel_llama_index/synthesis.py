"""What a response synthesizer puts before the language model, and what it answers: packing and reader."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable
from functools import partial
from typing import Any, Final

import rop_otel as rop
from rop_otel.instrumenting import AsyncSteps, Kind, Settings, Steps, current_context, kinds, stage_of, using_context
from rop_otel_llama_index.answers import answer_of_rounds, say_if_unlabelled
from rop_otel_llama_index.nodes import PIECE, content, words
from rop_otel_llama_index.prompts import Prompts
from rop_otel_llama_index.streams import Streaming
from rop_otel_llama_index.watched import Watched

_HANDING_ON: Final = frozenset({"ContextOnly", "NoText"})
"""Synthesizers that ask no model: they hand on what they are given, and whoever reads it comes later."""


class Synthesis(Watched):
    """A response synthesizer at work.

    Args:
        nodes: That it is given.
        query: That it is to answer.
        answers: True where they are answers to questions of a round each, and no retrieved nodes.
        settings: Of the instrumentation.
    """

    def __init__(
        self, instance: Any, *, nodes: Iterable[Any], query: object, answers: bool, settings: Settings
    ) -> None:
        self._given = list(nodes)
        self._answers = answers
        self._settings = settings
        self._hands_on = any(base.__name__ in _HANDING_ON for base in type(instance).__mro__)
        self._packed = self._labelled = False
        self._packing: rop.Stage | None = None
        super().__init__(instance)
        if self.gathering is not None and not self._hands_on:
            self.gathering.clear()  # it reports what becomes of that
        self.prompts = Prompts(settings, query)

    def returned(self, result: Any) -> None:
        """Take in the response, or watch it while it streams on."""
        if self._hands_on:
            return
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
        elif not self._answers:  # the application may end its handoff first, and then nobody knows what was packed
            with using_context(current_context()):
                self._packing = self._begin()
        # It is given the sources, not the response: that holds the stream, which has to end as soon as nobody wants it.
        streaming = Streaming(self.context(), partial(self._streamed, sources))
        result.response_gen = kind(stream, streaming, at_once=True)

    def end(self, error: BaseException | None = None) -> None:
        """Report what was packed, where the synthesizer raised."""
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

    def _begin(self) -> rop.Stage:
        given = self._named(self._given)
        packing = stage_of(self._settings, Kind(kinds.PACKING), self.instance, input=given)
        packing.__enter__()
        return packing

    def _pack(self, error: BaseException | None = None) -> None:
        """Report what was packed, once."""
        if self._packed or self._answers or self._hands_on:
            return
        self._packed = True
        prompts = self.prompts.all()
        if prompts:
            error = None  # what a prompt held was shown, whatever came of it
        packing = self._packing or self._begin()
        try:
            if error is None:
                self._show(packing, prompts)
        finally:
            packing.__exit__(None if error is None else type(error), error, None)

    def _show(self, packing: rop.Stage, prompts: list[str]) -> None:
        nodes = self._named(self._given)
        if not nodes:
            packing.returned(nodes)
            return
        labels = self.prompts.show(packing, nodes, prompts)
        self._labelled = bool(labels)
        if self.call is not None:
            self.call.packed(labels, self.round)

    def _answer(self, text: str, sources: object) -> None:
        if self._answers and self.call is not None:
            answer_of_rounds(self.call, words(text), self.instance)
            return
        if self.call is not None:
            self.call.said = words(text)
        if self._given and not self._labelled:
            say_if_unlabelled(text, self.instance)
        listed = sources if isinstance(sources, list) else []
        numbers = [PIECE.match(content(source)) for source in listed]
        rop.current_handoff().answered(
            text,
            sources=self._named(listed) if isinstance(sources, list) else None,
            id=self._settings.id,
            labels=[number[1] for number in numbers if number] if listed and all(numbers) else None,
            abstained=None if self._given else True,
        )

    def _named(self, nodes: list[Any]) -> list[Any]:
        """Return the nodes, and in the place of copies that lost their IDs ones that have them."""
        originals = {} if self.call is None else self.call.originals
        if not originals:
            return nodes
        return [
            node
            if (known := originals.get(node.node_id)) is None
            else type(node)(node=node.node.model_copy(update={"id_": known}), score=node.score)
            for node in nodes
        ]
