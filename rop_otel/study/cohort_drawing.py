"""A cohort drawn by fixed rules that use no model's output: the filters of the ROP paper, B.1, and a salted order."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rop_otel.errors import InputError
from rop_otel.safety.digested_files import Digest
from rop_otel.safety.json_lines import read_objects
from rop_otel.study.importing.written_files import json_document, write_file
from rop_otel.study.ranking_file import json_line

TERMS: Final = (
    *"most least highest lowest largest smallest biggest oldest youngest first second third last latest".split(),
    *("earliest", "more than", "less than", "finished", "winner", "won", "gold", "silver", "bronze", "position"),
    "ranked",
)
"""Words of a question that asks for a comparison rather than for one page."""

FILTERS: Final = {
    "no_trace": "the record does not say where the answer stands",
    "answer_in_table": "the answer stands in the table itself",
    "not_one_linked_passage": "the answer stands in none, or in several, of the passages that cells link to",
    "no_table": "the table is not among those given",
    "linked_label_in_question": "the question names the label of a link of its table",
    "listed_term": "the question holds one of the listed terms",
}
"""Why a question is removed, in the order in which that is decided."""

LIMITS: Final = {
    "table_taken": "a question earlier in the order has the same table",
    "past_the_first": "it comes after the first so many",
}
"""Why a question that passes the filters is left out."""

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """What was drawn.

    Args:
        account: The content of ``cohort.json``.
        questions: The questions' rows as they were given, in the order of the cohort.
        eligible: ID and hash of every question that passes the filters, in order.
    """

    account: dict[str, Any]
    questions: tuple[dict[str, Any], ...]
    eligible: tuple[tuple[str, str], ...]


def normalise(text: str) -> str:
    """Return the lower-case words of a text, of letters a to z and digits, with one space between.

    >>> normalise("Who won -- the 1990 Cup?")
    'who won the 1990 cup'
    """
    return " ".join(_WORD.findall(text.lower()))


def draw(questions: Iterable[str], tables: Iterable[str], *, salt: str, first: int | None) -> Cohort:
    """Draw a cohort.

    Args:
        questions: Files of questions with ``id``, ``question``, ``table_id`` and ``answer_nodes``.
        tables: Files of their tables.
        salt: Put before each ID, with a colon between, where its SHA-256 gives its place.
        first: How many are taken; None: all.

    Raises:
        InputError: A file or line cannot be used, or an ID is there twice.
    """
    inputs: list[tuple[str, Digest]] = []
    rows = _questions(questions, inputs)
    labels = _labels(tables, {str(row.get("table_id")) for row in rows.values()}, inputs)
    faults = {key: tuple(_faults(row, labels)) for key, row in rows.items()}
    hashes = {key: hashlib.sha256(f"{salt}:{key}".encode()).hexdigest() for key, found in faults.items() if not found}
    order = sorted(hashes, key=lambda key: (hashes[key], key))
    per_table = {str(rows[key]["table_id"]): key for key in reversed(order)}
    own = [key for key in order if per_table[str(rows[key]["table_id"])] == key]
    taken = own[:first]
    removed = Counter(found[0] for found in faults.values() if found)
    met = Counter(name for found in faults.values() for name in found)
    account = {
        "salt": salt,
        "first": first,
        "sources": [
            {"name": os.path.basename(name), "bytes": digest.bytes, "sha256": digest.sha256} for name, digest in inputs
        ],
        "questions": len(rows),
        "removed": {name: {"removed": removed[name], "met": met[name], "why": why} for name, why in FILTERS.items()},
        "eligible": len(order),
        "eligible_sha256": _sha256_of(order),
        "left_out": {
            name: {"left_out": count, "why": LIMITS[name]}
            for name, count in {"table_taken": len(order) - len(own), "past_the_first": len(own) - len(taken)}.items()
        },
        "cohort": len(taken),
        "cohort_sha256": _sha256_of(taken),
        "ids": taken,
    }
    return Cohort(
        account=account,
        questions=tuple(rows[key] for key in taken),
        eligible=tuple((key, hashes[key]) for key in order),
    )


def write(cohort: Cohort, out: Path) -> None:
    """Write ``cohort.json``, ``questions.jsonl`` and ``eligible.jsonl`` into a folder.

    Raises:
        InputError: They cannot be written.
    """
    write_file(out / "questions.jsonl", map(json_line, cohort.questions))
    eligible = ({"id": key, "sha256": digest} for key, digest in cohort.eligible)
    write_file(out / "eligible.jsonl", map(json_line, eligible))
    write_file(out / "cohort.json", [json_document(cohort.account)])


def _questions(files: Iterable[str], inputs: list[tuple[str, Digest]]) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for file in files:
        inputs.append((file, Digest()))
        for line, row in read_objects(Path(file), digest=inputs[-1][1]):
            for name in ("id", "question"):
                if not isinstance(row.get(name), str) or not row[name].strip():
                    raise InputError(f"{name!r} has to be a non-empty string", file=file, line=line)
            nodes = row.get("answer_nodes", [])
            if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
                raise InputError("'answer_nodes' has to be a list of objects", file=file, line=line)
            if row["id"] in rows:
                raise InputError(f"the id {row['id']!r} is there twice", file=file, line=line)
            rows[row["id"]] = row
    if not rows:
        raise InputError("no question in it", file=", ".join(name for name, _ in inputs))
    return rows


def _labels(files: Iterable[str], wanted: set[str], inputs: list[tuple[str, Digest]]) -> dict[str, frozenset[str]]:
    """Return the normalised labels of the links of each wanted table."""
    labels: dict[str, frozenset[str]] = {}
    for file in files:
        inputs.append((file, Digest()))
        for line, table in read_objects(Path(file), digest=inputs[-1][1]):
            key, rows = table.get("id"), table.get("rows")
            if not isinstance(key, str) or not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
                raise InputError("a table has to have an 'id' and a list of lists 'rows'", file=file, line=line)
            if key in labels:
                raise InputError(f"the table {key!r} is there twice", file=file, line=line)
            if key in wanted:
                labels[key] = frozenset(filter(None, map(normalise, _linked(rows))))
    return labels


def _linked(rows: list[list[Any]]) -> Iterator[str]:
    """Yield the text of each cell that has a link."""
    for cell in (cell for row in rows for cell in row):
        match cell:
            case {"text": str(text), "links": [_, *_]}:
                yield text


def _faults(row: dict[str, Any], labels: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Yield each filter that removes a question, in the order of ``FILTERS``."""
    nodes = row.get("answer_nodes") or []
    if not nodes:
        yield "no_trace"
    if any(node.get("where") == "table" for node in nodes):
        yield "answer_in_table"
    if sum(node.get("where") == "passage" and bool(node.get("link")) for node in nodes) != 1:
        yield "not_one_linked_passage"
    question = f" {normalise(row['question'])} "
    table = labels.get(str(row.get("table_id")))
    if table is None:
        yield "no_table"
    elif any(f" {label} " in question for label in table):
        yield "linked_label_in_question"
    if any(f" {term} " in question for term in TERMS):
        yield "listed_term"


def _sha256_of(ids: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{key}\n" for key in ids).encode()).hexdigest()
