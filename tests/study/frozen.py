"""Frozen rankings as ``rop-otel study rank`` writes them, made by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def question(key: str, **fields: Any) -> Row:
    """Return a normalised question; by default page ``u`` was selected, traced, and holds the answer."""
    return {
        "id": key,
        "question": f"What is {key}?",
        "selector": "default",
        "selected_id": f"{key}-u",
        "gold_ids": [f"{key}-u"],
        "answer": f"answer {key}",
        "table_id": None,
    } | fields


def page(key: str, text: str, *, title: str | None = None) -> Row:
    return {"id": key, "title": title or key.upper(), "text": text}


def ranking(row: Row, ids: list[str] | None, *, form: str = "title", rule: str = "bm25_body", **fields: Any) -> Row:
    """Return a line of a ranking; without IDs a row that could not be run."""
    scores = None if ids is None else [float(len(ids) - place) for place in range(len(ids))]
    said = {"query": None, "reason": "empty_query"} if ids is None else {"query": row["question"]}
    return {
        "id": row["id"],
        "selector": row["selector"],
        "form": form,
        "rule": rule,
        **said,
        "ids": ids,
        "scores": scores,
    } | fields


def freeze(folder: Path, questions: list[Row], rankings: Mapping[str, list[Row]], pages: list[Row]) -> Path:
    """Write a folder of frozen rankings.

    Args:
        folder: Where.
        questions: Normalised rows.
        rankings: Rows by ``<form>.<rule>``.
        pages: The pages, with texts.
    """
    files = {
        "questions.jsonl": json_lines(questions),
        "pages.jsonl": json_lines(
            {"id": each["id"], "title": each["title"], "text_sha256": hashlib.sha256(each["text"].encode()).hexdigest()}
            for each in sorted(pages, key=lambda each: str(each["id"]))
        ),
        **{f"rankings/{name}.jsonl": json_lines(rows) for name, rows in rankings.items()},
    }
    outputs = []
    for name, data in sorted(files.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        outputs.append({"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})
    names = [name.partition(".")[::2] for name in rankings]
    manifest = {
        "format": 1,
        "depth": 20,
        "forms": list(dict.fromkeys(form for form, _ in names)),
        "rules": list(dict.fromkeys(rule for _, rule in names)),
        "planned": len(questions),
        "outputs": outputs,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def rows(file: Path) -> list[Row]:
    """Return what a file of JSON Lines holds."""
    return [json.loads(line) for line in file.read_text().splitlines()]
