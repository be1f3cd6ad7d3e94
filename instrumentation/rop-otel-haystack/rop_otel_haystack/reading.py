"""Documents and references in what components are handed and return."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Final

from rop_otel.instrumenting import raise_if_delivered
from rop_otel_haystack.kinds import ASKS

_MOST: Final = 20_000
"""Objects that are looked at in what a tool returns."""

_QUESTIONS: Final = re.compile("(?i)^(?!.*(context|doc|passage)).*(quer|question|histor|memor|conversation)")
_FILLED_IN: Final = re.compile(r"(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}")

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""What holds no documents."""


def handed(inputs: Mapping[str, Any], sockets: Sequence[str]) -> list[list[Any]]:
    """Return the lists of documents that a component is handed; a joiner is handed several by one input."""
    lists: list[list[Any]] = []
    for socket in sockets:
        value = inputs.get(socket)
        if isinstance(value, list | tuple):
            several = bool(value) and all(isinstance(each, list | tuple) for each in value)
            lists += [list(each) for each in value] if several else [list(value)]
    return lists


def filled_in(inputs: Mapping[str, Any]) -> list[Any] | None:
    """Return the documents that fill in a template, of all its variables; None where no variable has any."""
    given = inputs.get("template_variables")
    variables = {**inputs, **given} if isinstance(given, Mapping) else inputs
    values = [[value] if is_document(value) else value for value in variables.values()]
    lists = [value for value in values if isinstance(value, list) and value and is_document(value[0])]
    return [document for each in lists for document in each] if lists else None


def prompt_in(given: object) -> tuple[list[str], bool] | None:
    """Return the texts of a prompt, or of its messages, and whether these hold what is no text; None: it is none."""
    if isinstance(given, str):
        return [given], False
    if not isinstance(given, list):
        return None
    texts: list[str] = []
    more = False
    for part in given:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            said = part.get("content")
            parts = said if isinstance(said, list) else [{"text": said}]
            found = [each.get("text") for each in parts if isinstance(each, Mapping)]
            texts += [text for text in found if isinstance(text, str)]
            more = more or len(texts) < len(parts)
        elif hasattr(part, "tool_call_results"):
            texts += [*part.texts, *(_text(each.result) for each in part.tool_call_results)]
            more = more or bool(getattr(part, "images", None) or getattr(part, "files", None))
        else:
            return None
    return texts, more


def texts_in(value: object) -> list[str]:
    """Return the texts that a component is handed as one value: text, messages or answers, one or several."""
    parts = value if isinstance(value, list | tuple) else [value]
    found = [part if isinstance(part, str) else _said(part) for part in parts if not is_document(part)]
    return [text for text in found if isinstance(text, str) and text]


def _said(part: object) -> object:
    return getattr(part, "text", None) if hasattr(part, "tool_call_results") else getattr(part, "data", None)


def questions_in(inputs: object) -> list[str]:
    """Return the texts among inputs that are questions or a history, by their names; of what is nested, too."""
    if not isinstance(inputs, Mapping):
        return []
    found: list[str] = []
    for name, value in inputs.items():
        if isinstance(value, Mapping):
            found += questions_in(value)
        elif isinstance(name, str) and _QUESTIONS.search(name):
            found += texts_in(value)
    return found


def said_beside(builder: object, documents: list[Any] | None) -> list[str]:
    """Return what the template of a prompt says itself; without documents nothing is known."""
    if documents is None:
        return []
    texts = texts_in(getattr(builder, "_template_string", None) or getattr(builder, "template", None))
    return [part for text in texts for part in _FILLED_IN.split(text) if len(part.split()) > 1]


def asked_with(inputs: Mapping[str, Any]) -> object:
    """Return what a model is asked with."""
    return next((inputs[each] for each in ASKS if each in inputs), None)


def replies_in(outputs: object) -> list[str]:
    """Return the texts that a model replied."""
    return texts_in(outputs.get("replies")) if isinstance(outputs, Mapping) else []


def fallen_back(outputs: object) -> str | None:
    """Return the class of the model that replied after another one had failed; None: none had."""
    meta = outputs.get("meta") if isinstance(outputs, Mapping) else None
    if isinstance(meta, Mapping) and meta.get("successful_chat_generator_index"):
        return str(meta.get("successful_chat_generator_class"))
    return None


def documents_of(outputs: object) -> list[Any] | None:
    """Return the documents that a component returns; None where it returns none that can be read."""
    if not isinstance(outputs, Mapping):
        return None
    found = outputs.get("documents")
    if isinstance(found, list):
        return found
    lists = [value for value in outputs.values() if isinstance(value, list)]
    return next((value for value in lists if value and is_document(value[0])), lists[0] if lists else None)


def documents_in(result: object) -> list[Any]:
    """Return the documents that a tool or a pipeline returns, at whatever depth of dicts and lists.

    Where there is very much else, as in a table, not all is looked at; nor is any object asked what it is.
    """
    found: list[Any] = []
    ahead: list[Any] = [result]
    left = _MOST
    for part in ahead:  # it grows meanwhile
        if is_document(part):
            found.append(part)
        elif left and issubclass(type(part), dict | list | tuple):
            parts = list(islice(part.values() if issubclass(type(part), dict) else part, left))
            left -= len(parts)
            ahead += (each for each in parts if type(each) not in _PLAIN)
    return found


def tool_messages(outputs: object, name: str, arguments: Mapping[str, Any]) -> str:
    """Return the text that a call of a tool left among the messages of an agent.

    Args:
        outputs: What the agent returned.
        name: Of the tool.
        arguments: What it was called with: those that the model gave, and those of the agent's state.
    """
    messages = outputs.get("messages") or [] if isinstance(outputs, Mapping) else []
    results = [result for message in messages for result in message.tool_call_results]
    return "\n".join(
        _text(each.result)
        for each in results
        if each.origin.tool_name == name and each.origin.arguments.items() <= arguments.items()
    )


def last_text(outputs: object) -> str:
    """Return the text of the last message of an agent, empty where it has none."""
    messages = outputs.get("messages") or [] if isinstance(outputs, Mapping) else []
    return (messages[-1].text or "") if messages else ""


def _text(result: object) -> str:
    if isinstance(result, str):
        return result
    parts = result if isinstance(result, list | tuple) else [result]
    return "\n".join(text for part in parts if isinstance(text := getattr(part, "text", part), str))


def ranked_by(documents: Sequence[Any]) -> list[float] | None:
    """Return the scores by which a list is sorted, highest first; None where it is not.

    Haystack leaves on a document the score that an earlier component gave it, and some stores give distances.
    """
    try:
        scores: list[Any] = [document.score for document in documents]
        if None in scores or not all(first >= second for first, second in pairwise(scores)):
            return None
        return [float(score) for score in scores]
    except Exception as error:  # noqa: BLE001 - the documents' own code runs here
        raise_if_delivered(error)
        return None


def references(builder: Any, inputs: Mapping[str, Any], outputs: object) -> list[str] | None:
    """Return the numbers of documents that replies refer to, as the builder of the answers reads them.

    Without a pattern for references there are none to read, and the result is None.
    """
    pattern = inputs.get("reference_pattern") or getattr(builder, "reference_pattern", None)
    if not isinstance(pattern, str):
        return None
    replies = inputs.get("replies") or []
    if getattr(builder, "last_message_only", False):
        replies = replies[-1:]
    texts = [reply if isinstance(reply, str) else getattr(reply, "text", None) or "" for reply in replies]
    found = [each for text in texts for each in re.findall(pattern, text)]
    if all(isinstance(each, str) and each.isdecimal() for each in found):
        return [str(int(each)) for each in found]
    return _referenced(outputs)  # ranges, which the builder has taken apart


def extracted(outputs: object) -> tuple[list[Any], bool]:
    """Return the documents in which a reader found its answers, and whether its best answer is that there is none."""
    answers = outputs.get("answers") or [] if isinstance(outputs, Mapping) else []
    found = [document for each in answers if (document := getattr(each, "document", None)) is not None]
    return found, bool(answers) and getattr(answers[0], "data", "") is None


def is_document(item: object) -> bool:
    """Return whether an object is a document of Haystack, of a class that inherits from it included."""
    return any(each.__name__ == "Document" and each.__module__.startswith("haystack.") for each in type(item).__mro__)


def _referenced(outputs: object) -> list[str]:
    """Return the numbers that the builder wrote on the documents that it attached to its answers."""
    answers = outputs.get("answers") or [] if isinstance(outputs, Mapping) else []
    metas = [document.meta for answer in answers for document in answer.documents]
    return [str(meta["source_index"]) for meta in metas if meta.get("referenced", True) and "source_index" in meta]
