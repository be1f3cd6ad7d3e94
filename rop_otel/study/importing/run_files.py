"""Rankings and judgments of TREC and ranx."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rop_otel.errors import InputError
from rop_otel.safety.digested_files import Digest
from rop_otel.study.importing.json_documents import read_members
from rop_otel.study.importing.problems import Problems, is_text
from rop_otel.study.importing.text_lines import read_text_lines

Judgments = dict[str, dict[str, int]]
"""Grades by document, by query."""


@dataclass(slots=True)
class Run:
    """Rankings of one system.

    Args:
        name: What the file calls it; a file of ranx has no name, and gives its own.
        queries: Query to its documents, each with its score and its rank where the file has one.
    """

    name: str
    queries: dict[str, dict[str, tuple[float, int]]] = field(default_factory=dict)

    def rows(self, *, form: str, rule: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a frozen ranking: by falling score as trec_eval reads them, ties by rank, then by ID."""
        for query, documents in self.queries.items():
            order = sorted(documents, key=lambda each: (-documents[each][0], documents[each][1], each))
            yield {
                "id": query,
                "selector": "default",
                "form": form,
                "rule": rule,
                "query": None,
                "ids": order,
                "scores": [documents[each][0] for each in order],
            }


def read_trec_run(file: str, digest: Digest, problems: Problems) -> list[Run]:
    """Read lines of ``query Q0 document rank score tag``; each tag is a run. A tag may have blanks, as ranx writes it.

    Raises:
        InputError: The file cannot be read, or holds no such line.
    """
    runs: dict[str, Run] = {}
    for line, text in read_text_lines(file, digest, problems):
        parts = text.strip().split(maxsplit=5)
        score, rank = (_number(parts[4]), _whole(parts[3])) if len(parts) == 6 else (None, None)
        if score is None or rank is None:
            problems.add(file, line, f"no line of 'query Q0 document rank score tag': {text!r:.60}")
            continue
        run = runs.setdefault(parts[5], Run(parts[5]))
        documents = run.queries.setdefault(parts[0], {})
        if parts[2] in documents:
            problems.add(file, line, f"the document {parts[2]!r} is there twice for {parts[0]!r}; the first is kept")
        else:
            documents[parts[2]] = (score, rank)
    problems.refuse_if_none(len(runs), file, "line of a run")
    return list(runs.values())


def read_trec_qrels(file: str, digest: Digest, problems: Problems) -> Judgments:
    """Read lines of ``query iteration document grade``.

    Raises:
        InputError: The file cannot be read, or holds no such line.
    """
    found: Judgments = {}
    for line, text in read_text_lines(file, digest, problems):
        parts = text.split()
        grade = _whole(parts[3]) if len(parts) == 4 else None
        if grade is None:
            problems.add(file, line, f"no line of 'query iteration document grade': {text!r:.60}")
        else:
            judge(found, parts[0], parts[2], grade, (file, line), problems)
    problems.refuse_if_none(len(found), file, "judgment")
    return found


def read_ranx_run(file: str, digest: Digest, problems: Problems) -> list[Run]:
    """Read ``{query: {document: score}}``.

    Raises:
        InputError: The file cannot be read as JSON, or holds no ranking.
    """
    run = Run(Path(file).name.partition(".")[0])
    for line, query, documents in _by_query(file, digest, problems):
        if query in run.queries:
            problems.add(file, line, f"the query {query!r} is there twice; the first is kept")
            continue
        scores = {name: _score(value) for name, value in documents.items()}
        for name, score in scores.items():
            if score is None:
                problems.add(file, line, f"the score of {name!r} for {query!r} is no number: {documents[name]!r:.60}")
        run.queries[query] = {name: (score, 0) for name, score in scores.items() if score is not None}
    problems.refuse_if_none(len(run.queries), file, "ranking")
    return [run]


def read_ranx_qrels(file: str, digest: Digest, problems: Problems) -> Judgments:
    """Read ``{query: {document: grade}}``.

    Raises:
        InputError: The file cannot be read as JSON, or holds no judgment.
    """
    found: Judgments = {}
    for line, query, documents in _by_query(file, digest, problems):
        for name, grade in documents.items():
            if isinstance(grade, int) and not isinstance(grade, bool):
                judge(found, query, name, grade, (file, line), problems)
            else:
                problems.add(file, line, f"the grade of {name!r} for {query!r} is no whole number: {grade!r:.60}")
    problems.refuse_if_none(len(found), file, "judgment")
    return found


def judge(found: Judgments, query: str, name: str, grade: int, place: tuple[str, int], problems: Problems) -> None:
    """Add a judgment; a second one of the same document is a problem."""
    grades = found.setdefault(query, {})
    if name in grades:
        problems.add(*place, f"the document {name!r} is judged twice for {query!r}; the first grade is kept")
    else:
        grades[name] = grade


def judged(grades: dict[str, int]) -> list[str]:
    """Return the documents with a grade above zero, sorted."""
    return sorted(name for name, grade in grades.items() if grade > 0)


def _by_query(file: str, digest: Digest, problems: Problems) -> Iterator[tuple[int, str, dict[str, Any]]]:
    for line, query, documents in read_members(file, digest):
        if query is None:
            raise InputError("an object of queries is expected, not an array", file=file, line=line)
        if is_text(query) and isinstance(documents, dict):
            yield line, query, documents
        else:
            problems.add(file, line, f"the query {query!r} has no object of documents: {documents!r:.60}")


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _score(value: object) -> float | None:
    return _number(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None
