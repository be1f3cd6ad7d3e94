"""What is recorded of an answer that has no synthesizer, or that is made of others' answers."""

from __future__ import annotations

import re
from typing import Final

import rop_otel as rop
from rop_otel.instrumenting import unlabelled
from rop_otel_llama_index.watched import Call

_CITES: Final = re.compile(r"(?<!\w)\[\^?(?:[A-Za-z]{1,20}[ :_#-]?)?\d{1,3}\]|【\d")
"""What looks like a citation."""


def answer_of_rounds(call: Call, text: str, instance: object) -> None:
    """Record an answer to what several rounds showed, each of which may number its passages anew.

    It answers to the round whose labels hold those of all others; where there is none, nobody can say what it cites.

    Args:
        call: The topmost call.
        text: The answer; nothing is recorded where it was recorded already.
        instance: What gave it.
    """
    if not text or text == call.said or (call.said and call.labels.keys() <= {None}):
        return
    call.said = text
    shown = {number: labels for number, labels in call.labels.items() if labels}
    if not shown:
        say_if_unlabelled(text, instance)
    most = max(shown, key=lambda number: len(shown[number]), default=None)
    if any(not labels <= shown[most] for labels in shown.values()):
        rop.current_handoff().answered(text, citations=())
    elif most is None:
        rop.current_handoff().answered(text)
    else:
        with rop.using_round(most):
            rop.current_handoff().answered(text)


def say_if_unlabelled(text: str, instance: object) -> None:
    """Say once where an answer cites, and no label was read in the prompt.

    Args:
        text: The answer.
        instance: What made the prompt.
    """
    if rop.current_handoff().id and _CITES.search(text):
        unlabelled("LlamaIndex", type(instance).__name__)
