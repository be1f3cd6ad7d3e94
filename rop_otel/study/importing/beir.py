"""BEIR: a folder of ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``; and questions in lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rop_otel.safety.digested_files import Digest
from rop_otel.study.importing.problems import Problems, Row, is_text, missing
from rop_otel.study.importing.run_files import Judgments, judge
from rop_otel.study.importing.text_lines import read_json_lines, read_text_lines


def read_corpus(file: str, digest: Digest, problems: Problems) -> Iterator[Row]:
    """Read ``{_id, title, text}`` lines; a passage without a title gets its ID as one.

    Raises:
        InputError: The file cannot be read, or holds no passage.
    """
    rows = ((file, row.line, _passage(row.fields)) for row in read_json_lines(file, digest, problems))
    yield from problems.usable(rows, file, "passage")


def read_queries(file: str, digest: Digest, problems: Problems) -> Iterator[Row]:
    """Read ``{_id, text}`` lines.

    Raises:
        InputError: The file cannot be read, or holds no query.
    """
    rows = ((file, row.line, _query(row.fields)) for row in read_json_lines(file, digest, problems))
    yield from problems.usable(rows, file, "query")


def read_qrels(file: str, digest: Digest, problems: Problems) -> Judgments:
    """Read tab-separated ``query-id corpus-id score`` lines behind a line that names them.

    Raises:
        InputError: The file cannot be read, or holds no judgment.
    """
    found: Judgments = {}
    for number, (line, text) in enumerate(read_text_lines(file, digest, problems)):
        parts = [part.strip() for part in text.split("\t")]
        if len(parts) == 3 and parts[2].lstrip("-").isdecimal() and parts[0] and parts[1]:
            judge(found, parts[0], parts[1], int(parts[2]), (file, line), problems)
        elif number or parts[:2] != ["query-id", "corpus-id"]:
            problems.add(file, line, f"no line of 'query-id, corpus-id, score' with tabs between: {text!r:.60}")
    problems.refuse_if_none(len(found), file, "judgment")
    return found


def read_topics(file: str, digest: Digest, problems: Problems) -> Iterator[Row]:
    """Read the questions of TREC judgments: a query, a tab and its text in each line.

    Raises:
        InputError: The file cannot be read, or holds no query.
    """
    rows = ((file, line, _topic(text)) for line, text in read_text_lines(file, digest, problems))
    yield from problems.usable(rows, file, "query")


def _passage(given: dict[str, Any]) -> dict[str, Any] | str:
    """Return a passage in our names, or what is wrong with it; so do the next two."""
    if wrong := missing(given, "_id"):
        return wrong
    if not isinstance(given.get("text"), str):
        return f"'text' has to be a string, not {given.get('text')!r:.60}"
    key, title = given["_id"], given.get("title")
    return {"id": key, "title": title if is_text(title) else key, "text": given["text"]}


def _query(given: dict[str, Any]) -> dict[str, Any] | str:
    return missing(given, "_id", "text") or {"id": given["_id"], "question": given["text"]}


def _topic(text: str) -> dict[str, Any] | str:
    key, _, question = text.partition("\t")
    if key.strip() and question.strip():
        return {"id": key.strip(), "question": question.strip()}
    return f"no line of a query, a tab and its text: {text!r:.60}"
