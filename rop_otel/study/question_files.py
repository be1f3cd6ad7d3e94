"""The planned rows of a study, one for each question and selector, read from question files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rop_otel.core.ranking import Page, StudyRow
from rop_otel.errors import InputError
from rop_otel.safety.digested_files import Digest
from rop_otel.safety.json_lines import is_unicode, read_objects, text_of
from rop_otel.study.study_inputs import Input

DEFAULT_SELECTOR = "default"
"""The selector of a record that names none."""

_KEPT = (
    "rewrite",
    "retrieval_fact",
    "selected_cell",
    "answer_nodes",
    "linked_from_table",
    "gold_table_id",
    "retrieved_table_id",
)
"""Fields of a record that are frozen as they are, where it has them."""


@dataclass(frozen=True, kw_only=True)
class PlannedRows:
    """Every row of a study in the order of its files.

    Args:
        rows: At least one; no two of one question and selector.
        frozen: What ``questions.jsonl`` holds of each.
        inputs: The files that they were read from.
        assumed: How many records do not say what was selected, so that a judged page counts as selected.
    """

    rows: tuple[StudyRow, ...]
    frozen: tuple[dict[str, Any], ...]
    inputs: tuple[Input, ...]
    assumed: int


def read_rows(files: Sequence[Path], pages: Mapping[str, Page]) -> PlannedRows:
    """Read records from JSON Lines, plain, gzip or zstd: ``{id, question, selected_id?, gold_ids?, selector?, ...}``.

    Where a record has no field ``selected_id``, its first judged page counts as selected: the first that the corpus
    has, else the first. ``null`` says that nothing was selected.

    Args:
        files: Question files.
        pages: The corpus by ID.

    Raises:
        InputError: A file or line cannot be used, a question and selector are there twice, or there is no record.
    """
    rows: dict[tuple[str, str], StudyRow] = {}
    frozen, inputs, assumed = [], [], 0
    for file in files:
        digest = Digest()
        for line, fields in read_objects(file, digest=digest):
            record = _record(fields, pages, file=str(file), line=line)
            key = (record["id"], record["selector"])
            if key in rows:
                what = f"the id {key[0]!r} is there twice for the selector {key[1]!r}"
                raise InputError(what, file=str(file), line=line)
            rows[key] = _row(record, fields, pages)
            frozen.append(record)
            assumed += "selected_id" not in fields and bool(record["gold_ids"])
        inputs.append(Input(name=file.name, bytes=digest.bytes, sha256=digest.sha256))
    if not rows:
        raise InputError("no question in it", file=", ".join(map(str, files)))
    return PlannedRows(rows=tuple(rows.values()), frozen=tuple(frozen), inputs=tuple(inputs), assumed=assumed)


def _record(fields: dict[str, Any], pages: Mapping[str, Page], *, file: str, line: int) -> dict[str, Any]:
    if not is_unicode(json.dumps(fields, ensure_ascii=False)):
        raise InputError("it holds half of a surrogate pair, which is no text", file=file, line=line)
    record_id = text_of(fields, "id", file=file, line=line)
    gold = fields.get("gold_ids") or []
    if not isinstance(gold, list) or not all(isinstance(one, str) and one for one in gold):
        raise InputError(f"'gold_ids' has to be a list of strings, not {gold!r:.80}", file=file, line=line)
    gold = list(dict.fromkeys(gold))
    for key in ("question", "selected_id", "selector", "table_id"):
        if not isinstance(fields.get(key), str | None):
            what = f"{key!r} has to be a string or null, not {fields[key]!r:.80}"
            raise InputError(what, file=file, line=line)
    selected = fields.get("selected_id") or None
    if "selected_id" not in fields:
        selected = next((one for one in gold if one in pages), gold[0] if gold else None)
    question = fields.get("question") or ""
    return {
        "id": record_id,
        "selector": fields.get("selector") or DEFAULT_SELECTOR,
        "question": question if question.strip() else None,
        "selected_id": selected,
        "resolves": selected in pages,
        "gold_ids": gold,
        "gold_resolves": [one in pages for one in gold],
        "answer": fields.get("answer"),
        "table_id": fields.get("table_id"),
        **{key: fields[key] for key in _KEPT if key in fields},
    }


def _row(record: dict[str, Any], fields: dict[str, Any], pages: Mapping[str, Page]) -> StudyRow:
    selected = pages.get(record["selected_id"])
    return StudyRow(
        id=record["id"],
        selector=record["selector"],
        question=record["question"],
        selected_id=record["selected_id"],
        selected_title=selected.title if selected else None,
        fields=fields,
    )
