"""The texts in what chains, prompts and models take and give."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import PromptValue

from rop_otel_langchain.documents import fields_of, is_a

_MOST: Final = 2_000
"""Texts that are looked at in one object."""

_DEEPEST: Final = 8
"""Objects in one another that are looked into."""

_JSON: Final = 100_000
"""Characters of an answer that is read as JSON."""

_QUESTION: Final = 20_000
"""Characters of a text that asks something."""

_REFUSALS: Final = ("refusal", "content_filter")
"""Why a model stopped, where it refused."""

_VARIABLE: Final = re.compile(r"\{%.*?%\}|\{+[^{}]*\}+")


def texts_of(prompt: Any) -> tuple[str, ...]:
    """Return the texts of whatever a model may be given."""
    return tuple(_texts(prompt))


def _texts(prompt: Any) -> Iterator[str]:
    if is_a(prompt, str):
        yield prompt
    elif is_a(prompt, PromptValue):
        yield from _texts(prompt.to_messages())
    elif is_a(prompt, BaseMessage):
        yield from _texts(prompt.content)
    elif is_a(prompt, dict):
        yield from _texts(prompt.get("content") or prompt.get("text"))
    elif is_a(prompt, list | tuple):
        for each in prompt:
            yield from _texts(each)


def text_of(answer: Any) -> str:
    """Return the text of an answer, of a message or as it is; empty where it has none."""
    return "".join(texts_of(answer)) if is_a(answer, str | BaseMessage) else ""


def is_prompt(value: Any) -> bool:
    """Return whether a value is what models are given."""
    return is_a(value, str | PromptValue | BaseMessage) or (
        is_a(value, list) and bool(value) and is_a(value[0], BaseMessage)
    )


def messages_in(prompt: Any) -> list[Any]:
    """Return the messages of a prompt; none of one that is no list of them."""
    messages = prompt.to_messages() if is_a(prompt, PromptValue) else prompt
    return [each for each in messages if is_a(each, BaseMessage)] if is_a(messages, list | tuple) else []


def said_before(prompt: Any) -> list[str]:
    """Return what the model itself has said, according to a prompt."""
    return [text for each in messages_in(prompt) if is_a(each, AIMessage) for text in _texts(each)]


def asked_before(prompt: Any) -> list[str]:
    """Return what was asked in a prompt before the model last said something, which may be what it was shown then."""
    messages = messages_in(prompt)
    last = max((at for at, each in enumerate(messages) if is_a(each, AIMessage)), default=0)
    return [text for each in messages[:last] if is_a(each, HumanMessage) for text in _texts(each)]


def asked_in(prompt: Any) -> list[str]:
    """Return what a prompt without any documents asks."""
    humans = [text for each in messages_in(prompt) if is_a(each, HumanMessage) for text in _texts(each)]
    return [each for each in ([*humans, prompt] if is_a(prompt, str) else humans) if len(each) < _QUESTION]


def literals_in(template: Any, deep: int = 0) -> Iterator[str]:
    """Give what a template says by itself, around its variables, and its examples."""
    if deep > _DEEPEST:
        return
    if is_a(template, str):
        yield from (each for part in _VARIABLE.split(template) if len((each := part.strip()).split()) > 1)
    elif is_a(template, BaseMessage):
        yield from _texts(template.content)
    elif is_a(template, list | tuple):
        for each in template[:_MOST]:
            yield from literals_in(each, deep + 1)
    elif is_a(template, dict):
        yield from literals_in([each for each in template.values() if is_a(each, str)], deep + 1)
    elif not is_a(template, Document):
        held = getattr(template, "__dict__", {})
        for name in ("template", "messages", "prompt", "prefix", "suffix", "examples"):
            yield from literals_in(held.get(name, ()), deep + 1)


def strings_in(value: Any) -> list[str]:
    """Return the texts in a result or an input; documents, and what tools said, are none of them."""
    return [*islice(_strings(value, 0), _MOST)]


def _strings(value: Any, deep: int) -> Iterator[str]:
    if deep > _DEEPEST or is_a(value, Document):
        return
    if is_a(value, str):
        yield value
    elif is_a(value, BaseMessage):
        if is_a(value, AIMessage | HumanMessage):
            yield from _texts(value)
    elif is_a(value, list | tuple):
        for each in islice(value, _MOST):
            yield from _strings(each, deep + 1)
    elif (held := fields_of(value)) is not None:
        for each in islice(held.values(), _MOST):
            yield from _strings(each, deep + 1)


def said_by(result: Any) -> list[str] | None:
    """Return what a model says, as a text and by the fields of a structured answer; None where it is not known yet."""
    if is_a(result, LLMResult):
        answers = [each for several in result.generations for each in several]
        return [text for each in answers for text in said_by(getattr(each, "message", each.text)) or ()]
    if is_a(result, BaseMessage):
        called = [each.get("args") for each in getattr(result, "tool_calls", None) or ()]
        return [*_structured(text_of(result)), *strings_in(called)]
    return _structured(result) if is_a(result, str) else None


def refuses(result: Any) -> bool:
    """Return whether a model's message says by itself, beside its text, that it refuses to answer."""
    if is_a(result, LLMResult):
        return any(refuses(getattr(each, "message", None)) for several in result.generations for each in several)
    if not is_a(result, AIMessage):
        return False
    blocks = result.content if is_a(result.content, list) else []
    reason = result.response_metadata.get("stop_reason") or result.response_metadata.get("finish_reason")
    return (
        bool(result.additional_kwargs.get("refusal"))
        or reason in _REFUSALS
        or any(is_a(each, dict) and each.get("type") == "refusal" for each in blocks)
    )


def _structured(text: str) -> list[str]:
    held: Any = None
    if text[:1] in ("{", "[") and len(text) < _JSON:
        with suppress(ValueError, RecursionError):
            held = json.loads(text)
    return [text, *(each for each in strings_in(held) if len(each.split()) > 2)]
