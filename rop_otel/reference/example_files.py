"""The standard library's documentation and questions about it, as files that a study reads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rop_otel.reference.assembly import load_tools, standard_library_task
from rop_otel.reference.index.cache import Progress
from rop_otel.reference.selector import Selector

PAGES, QUESTIONS = "pages.jsonl", "questions.jsonl"


def write_example(folder: Path, *, progress: Progress | None = None) -> tuple[int, int]:
    """Write a page for each documented object, and the bundled questions with what the demo's selector picks for each.

    Args:
        folder: Where to; made where it is not there.
        progress: Called with the texts encoded so far and in all, for the selector.

    Returns:
        How many pages and how many questions were written.

    Raises:
        PipelineError: A model or library is missing.
        OSError: The folder cannot be written.
    """
    task = standard_library_task()
    tools = load_tools(task.corpus, progress=progress)
    selector = Selector(tools.index, tools.encoder, tools.stemmer)
    folder.mkdir(parents=True, exist_ok=True)
    pages = (
        {"id": item.id, "title": item.title, "text": "\n\n".join(chunk.text for chunk in item.chunks)}
        for item in task.corpus.items
    )
    questions = (
        {
            "id": question.id,
            "question": question.text,
            "selected_id": selector.link(question.text),
            "gold_ids": list(question.judged),
        }
        for question in task.questions
    )
    return _write(folder / PAGES, pages), _write(folder / QUESTIONS, questions)


def _write(file: Path, rows: Iterable[dict[str, Any]]) -> int:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    file.write_text("".join(lines), encoding="utf-8")
    return len(lines)
