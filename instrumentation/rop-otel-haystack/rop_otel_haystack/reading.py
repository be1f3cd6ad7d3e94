"""Documents and references in what components are handed and return."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Final

from rop_otel.instrumenting import plain_text, raise_if_delivered, shown_in

_MOST: Final = 20_000
"""Objects that are looked at in what a tool returns."""

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
    lists = [value for value in variables.values() if isinstance(value, list) and value and is_document(value[0])]
    return [document for each in lists for document in each] if lists else None


def left_in(documents: list[Any], outputs: object) -> list[Any]:
    """Return the documents that a built prompt shows, of those that fill in its template, in their order.

    Where nobody can say what it shows, and where a document has no text to look for, they count as shown.
    """
    prompt = _prompt(outputs)
    texts = [plain_text(getattr(document, "content", None) or "") for document in documents]
    shown = None if prompt is None else shown_in(plain_text(prompt), texts)
    if shown is None:
        return documents
    return [document for place, document in enumerate(documents) if place in shown or not texts[place]]


def _prompt(outputs: object) -> str | None:
    """Return the text of a prompt, or that of its messages; None where there is none."""
    prompt = outputs.get("prompt") if isinstance(outputs, Mapping) else None
    if isinstance(prompt, list):
        return "\n".join(text for message in prompt for text in message.texts)
    return prompt if isinstance(prompt, str) else None


def documents_of(outputs: object) -> list[Any] | None:
    """Return the documents that a component returns; None where it returns none that can be told."""
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


def is_document(item: object) -> bool:
    """Return whether an object is a document of Haystack, of a class that inherits from it included."""
    return any(each.__name__ == "Document" and each.__module__.startswith("haystack.") for each in type(item).__mro__)


def _referenced(outputs: object) -> list[str]:
    """Return the numbers that the builder wrote on the documents that it attached to its answers."""
    answers = outputs.get("answers") or [] if isinstance(outputs, Mapping) else []
    metas = [document.meta for answer in answers for document in answer.documents]
    return [str(meta["source_index"]) for meta in metas if meta.get("referenced", True) and "source_index" in meta]
