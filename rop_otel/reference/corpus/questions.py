"""Questions with what was selected and what was judged for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rop_otel.errors import InputError
from rop_otel.safety.json_lines import is_unicode, read_objects, text_of

BUNDLED = Path(__file__).parent.parent / "data" / "questions.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question.

    Args:
        id: Unique in its file.
        text: The question.
        judged: The objects judged relevant.
        selected: The object that was selected for it; None: none was.
        recorded: Whether the file says what was selected, or that nothing was.
    """

    id: str
    text: str
    judged: tuple[str, ...] = ()
    selected: str | None = None
    recorded: bool = False


def bundled_questions() -> tuple[Question, ...]:
    """Read the questions about the standard library that come with this package."""
    return read_questions([BUNDLED])


def read_questions(files: Iterable[Path]) -> tuple[Question, ...]:
    """Read questions from JSON Lines, plain, gzip or zstd: ``{id, question, selected_id?, gold_ids?}``.

    Raises:
        InputError: A file or line cannot be used; the message says where and why.
    """
    questions: dict[str, Question] = {}
    named = list(files)
    for file in named:
        for line, fields in read_objects(file):
            question = _question(fields, file=str(file), line=line)
            if question.id in questions:
                raise InputError(f"the question id {question.id!r} is there twice", file=str(file), line=line)
            questions[question.id] = question
    if not questions:
        raise InputError("no question in it", file=", ".join(map(str, named)))
    return tuple(questions.values())


def _question(fields: dict[str, Any], *, file: str, line: int) -> Question:
    judged = fields.get("gold_ids") or []
    if not isinstance(judged, list) or not all(isinstance(one, str) and one and is_unicode(one) for one in judged):
        raise InputError(f"'gold_ids' has to be a list of strings, not {judged!r}", file=file, line=line)
    selected = fields.get("selected_id")
    if selected is not None and not (isinstance(selected, str) and is_unicode(selected)):
        raise InputError(f"'selected_id' has to be a string or null, not {selected!r}", file=file, line=line)
    return Question(
        id=text_of(fields, "id", file=file, line=line),
        text=text_of(fields, "question", file=file, line=line),
        judged=tuple(dict.fromkeys(judged)),
        selected=selected or None,
        recorded="selected_id" in fields,
    )
