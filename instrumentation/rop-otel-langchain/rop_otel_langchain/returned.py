"""What a call returns, at once or in pieces: the answer, the documents that it names as sources, and all texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage

from rop_otel.instrumenting import plain_text
from rop_otel_langchain.documents import Documents, are_documents, fields_of, is_a
from rop_otel_langchain.texts import strings_in, text_of

_ANSWERS: Final = ("answer", "result", "output", "output_text", "generation", "response")
_SOURCES: Final = ("context", "source_documents")
"""Keys under which chains return the answer, of several the first; and the documents that it is an answer from."""

_NO_ANSWER: Final = frozenset(
    {
        "Agent stopped due to iteration limit or time limit.",
        "Agent stopped due to max iterations.",
        "Sorry, need more steps to process this request.",
    }
)
"""What agents return where they come to no answer."""

_MOST: Final = 1_000_000
"""Characters that are kept of a result."""


class Returned:
    """What a call has returned so far.

    Args:
        of_graph: Whether it is a graph's, which returns its state, and streams it whole or by node.

    Attributes:
        sources: The documents that it attaches to its answer; None: none are known.
        cited: The names of the sources that it cites, where it says so apart from its answer; None: it does not.
    """

    def __init__(self, *, of_graph: bool) -> None:
        self.sources: Documents | None = None
        self.cited: list[str] | None = None
        self._of_graph = of_graph
        self._answer = self._message = ""
        self._pieces: list[str] = []
        self._texts: list[str] = []
        self._left = _MOST

    def add(self, result: Any) -> None:
        """Take in what the call returns, or a piece of it."""
        if is_a(result, str | BaseMessage):
            self._keep(self._pieces, text_of(result))
        elif self._of_graph and is_a(result, tuple):  # by several modes at once, or messages with what is known of them
            for each in result:
                if is_a(each, AIMessage | dict | tuple):
                    self.add(each)
        else:
            self._add(result)

    def _add(self, result: Any) -> None:
        states = [held for each in (result, *_inner(result)) if (held := fields_of(each)) is not None]
        for state in states if self._of_graph else states[:1]:
            answer = next((text for key in _ANSWERS if (text := text_of(state.get(key)))), "")
            self._answer = (answer or self._answer) if self._of_graph else self._answer + answer
            for key in _SOURCES:
                if are_documents(state.get(key)):
                    self.sources = state[key]
            named = state.get("sources")
            if answer and type(named) is str:
                self.cited = [name for each in re.split(r",\s|\n", named) if (name := each.strip(" ,.-*"))]
            self._message = _last_message(state) or self._message
        for text in strings_in(result):
            self._keep(self._texts, text)

    def _keep(self, texts: list[str], text: str) -> None:
        if len(text) <= self._left:
            self._left -= len(text)
            texts.append(text)

    @property
    def gives_up(self) -> bool:
        """Whether an agent of LangChain's says in the place of an answer that it has none."""
        return self.answer in _NO_ANSWER

    @property
    def answer(self) -> str:
        """The text of the answer; empty where it is unknown."""
        return self._answer or self._message or "".join(self._pieces)

    @property
    def text(self) -> str | None:
        """All that shows which answer of a model is the call's, without what templates change; None without any."""
        return plain_text(self.answer or "\n".join(self._texts)) or None


def _inner(result: Any) -> list[Any]:
    """Return what nodes add to a state, by node."""
    return list(result.values()) if is_a(result, dict) else []


def _last_message(state: Mapping[Any, Any]) -> str:
    """Return the text of the last message in an agent's state, or in what a step of it adds, if it is an answer."""
    messages = state.get("messages")
    last = messages[-1] if is_a(messages, list) and messages else messages
    return text_of(last) if is_a(last, AIMessage) and not getattr(last, "tool_calls", None) else ""
