"""What language models are asked, what they answer, and what a prompt shows of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import rop_otel as rop
from rop_otel.instrumenting import Prompted, Settings, guarded, look, record_shown
from rop_otel_llama_index.nodes import is_image, said, texts, words

_GAP: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{[^{}]*\}", re.DOTALL)
"""What is filled in in a template, in the two ways to write that."""

_CONTEXT: Final = "context"
"""How the names begin under which templates are given what was retrieved."""

_CALLS: Final = 100
"""The last calls of models, of which it is looked up what became of their answers."""

_SENTENCE: Final = 20
"""Characters of an answer that stands in a later prompt because it led to it; of a shorter one that says nothing."""


class Prompts:
    """What models are asked in some code, and answer.

    Args:
        settings: Of the instrumentation.
        beside: What else prompts hold beside nodes: the question, messages of a history.
    """

    def __init__(self, settings: Settings, *beside: object) -> None:
        self._settings = settings
        self._beside = [text for each in beside if (text := said(each))]
        self._calls: dict[tuple[str, ...], str] = {}
        self._templates: list[tuple[Any, Mapping[str, Any]]] = []
        self._current = False

    def asked(self, messages: tuple[str, ...]) -> None:
        """Take in what a model is asked."""
        self._current = True
        self._calls.pop(messages, None)
        self._calls[messages] = ""

    def answered(self, messages: tuple[str, ...], answer: str) -> None:
        """Take in what a model answered to that."""
        if messages in self._calls:
            self._calls[messages] = answer

    def filled_in(self, template: Any, arguments: Mapping[str, Any]) -> None:
        """Take in what a prompt is made of, from which it is made here where no model says that it is asked."""
        self._current = True
        self._templates.append((template, arguments))
        filled = {**(getattr(template, "kwargs", None) or {}), **arguments}
        if question := said(filled.get("query_str")):
            self._beside.append(question)

    def outdate(self) -> None:
        """Take in that something was retrieved, which no prompt so far can hold."""
        self._current = False

    def clear(self) -> None:
        """Forget what models were asked."""
        self._calls, self._templates = {}, []

    def all(self) -> list[str]:
        """Return all prompts; empty: none was seen."""
        if self._calls:
            return [text for messages in list(self._calls) for text in messages]
        with guarded("LlamaIndex, a prompt", "it could not be made from its template"):
            return [_filled(template, arguments) for template, arguments in self._templates]
        return []

    def leading_to(self, result: str) -> list[str]:
        """Return the prompts whose answers a result holds, and those whose answers led to them; empty: none.

        A model that grades, rewrites or chooses is asked, too, but what it is shown is not what the result is made of.

        Args:
            result: As :func:`~rop_otel_llama_index.nodes.words` gives it.
        """
        found: list[str] = []
        said_before: list[str] = []
        for messages, answer in reversed(list(self._calls.items())[-_CALLS:]):
            answered = words(answer)
            if answered and answered in result:
                result = result.replace(answered, " ", 1)
            elif not (
                (len(answered) >= _SENTENCE and any(answered in text for text in said_before))
                or (len(result) >= _SENTENCE and result in answered)
            ):
                continue
            found = [*messages, *found]
            said_before += map(words, messages)
        return found

    def last(self) -> list[str]:
        """Return the last prompt, and those whose answers led to it; empty: none was seen since the last retrieval."""
        if not self._current:
            return []
        if not self._calls:
            return self.all()[-1:]
        messages, answer = next(reversed(self._calls.items()))
        return self.leading_to(words(answer)) or list(messages)

    def answered_prompts(self) -> list[str]:
        """Return the last prompt, and those that were answered in more than a word; empty: as :meth:`last`."""
        if not self._current:
            return []
        answered = [
            text
            for messages, answer in list(self._calls.items())
            if len(words(answer)) >= _SENTENCE
            for text in messages
        ]
        return list(dict.fromkeys([*answered, *self.last()]))

    def show(self, packing: rop.Stage, nodes: Sequence[Any], prompts: Sequence[str] | None) -> tuple[str, ...]:
        """Record what prompts show of nodes, and return the labels that they show; empty: none.

        Args:
            packing: The stage that made the prompts.
            nodes: That it was given.
            prompts: Empty or None: nobody can say what a model was asked.
        """
        shown = self._look(nodes, prompts) if prompts and self._settings.shows == "text" else None
        record_shown(packing, nodes, shown, self._settings)
        return (shown.labels if shown is not None else None) or ()

    def _look(self, nodes: Sequence[Any], prompts: Sequence[str]) -> Prompted | None:
        looked_for, pattern = texts(nodes, prompts)
        if any(not looked_for[id(node)] and is_image(node) for node in nodes):
            return None
        read = self._settings.id or _own_id
        return look(
            prompts,
            nodes,
            [read(node) or "" for node in nodes],
            text=lambda node: looked_for[id(node)],
            beside=[*self._beside, *(each for each in self._fixed() if not _repeats(each, prompts, looked_for))],
            label_pattern=self._settings.label_pattern or pattern,
        )

    def _fixed(self) -> Iterator[str]:
        """Yield what templates hold beside what is filled in: instructions, examples, a history."""
        for template, arguments in self._templates:
            if any(name.startswith(_CONTEXT) for name in arguments):  # else it may have been written for this question
                for text in _written(template):
                    yield from _GAP.split(text)


def _filled(template: Any, arguments: Mapping[str, Any]) -> str:
    if getattr(template, "function_mappings", None):
        raise ValueError("its functions are the application's, which calls them once")
    return str(template.format(**arguments))


def _repeats(beside: str, prompts: Iterable[str], looked_for: Mapping[int, str]) -> bool:
    """Return whether a text is a prompt that a model in tests gave back as its answer, and that is asked with again."""
    beside = beside.strip()
    return any(len(prompt) > len(beside) > 0 and prompt.startswith(beside) for prompt in prompts) and any(
        text and text in beside for text in looked_for.values()
    )


def _own_id(node: Any) -> str:
    return str(node.node.node_id)


def _written(template: Any) -> Iterable[str]:
    """Return the texts of a template."""
    given = [getattr(template, "template", None), getattr(template, "template_str", None)]
    given += [each.content for each in getattr(template, "message_templates", ())]
    found = [text for text in given if isinstance(text, str)]
    for each in (
        getattr(template, "default_template", None),
        *(pair[1] for pair in getattr(template, "conditionals", None) or ()),
    ):
        if each is not None:
            found += _written(each)
    return found
