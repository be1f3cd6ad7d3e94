"""A folder of frozen rankings made by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rop_otel.study.frozen_study import read_study
from rop_otel.study.intervals import Bootstrap
from rop_otel.study.tables.every_table import build_tables, chosen
from rop_otel.study.tables.table_context import Context

Lists = Mapping[str, Sequence[str] | str]
"""By question what was returned, or why nothing was."""


def question(
    name: str, selected: str | None, gold: Iterable[str] = (), *, selector: str = "default", **more: Any
) -> dict[str, Any]:
    """Return a line of questions.jsonl."""
    named = {"id": name, "question": f"what of {name}?", "selector": selector, "selected_id": selected}
    return {**named, "gold_ids": [*gold], **more}


def ranked(
    questions: Sequence[Mapping[str, Any]], form: str, rule: str, lists: Lists, *, selector: str | None = None
) -> list[dict[str, Any]]:
    """Return the lines of a ranking, in the order of the questions; a question without a list has no line."""
    lines = []
    for row in questions:
        found = lists.get(row["id"])
        if found is None or (selector is not None and row["selector"] != selector):
            continue
        run = not isinstance(found, str)
        line = {"id": row["id"], "selector": row["selector"], "form": form, "rule": rule}
        line["query"] = f"{form} of {row['id']}" if run else None
        line["ids"] = [*found] if run else None
        line["scores"] = [float(-place) for place in range(len(found))] if run else None
        lines.append(line if run else {**line, "reason": found})
    return lines


def freeze(
    folder: Path,
    questions: Sequence[Mapping[str, Any]],
    rankings: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
    *,
    depth: int = 20,
    pages: Iterable[str] | None = None,
    corpus: Mapping[str, Any] | None = None,
    **manifest: Any,
) -> str:
    """Write a folder; return its name.

    Args:
        folder: Where to.
        questions: The planned rows.
        rankings: By form and rule the lines.
        depth: How deep lists are stored.
        pages: The corpus; None: whatever is returned, selected or judged.
        corpus: What is said of it.
        manifest: What the manifest says otherwise.
    """
    named = {page for lines in rankings.values() for line in lines for page in line["ids"] or ()}
    named |= {page for row in questions for page in (row["selected_id"], *row["gold_ids"]) if page}
    files: dict[str, Sequence[Mapping[str, Any]]] = {
        "questions.jsonl": questions,
        "pages.jsonl": [{"id": page, "title": f"Title {page}"} for page in sorted(named if pages is None else pages)],
        "corpus.json": [corpus or {"passages": len(named)}],
    }
    for (form, rule), lines in rankings.items():
        files[f"rankings/{form}.{rule.replace(':', '+')}.jsonl"] = lines
    (folder / "rankings").mkdir(parents=True, exist_ok=True)
    outputs = [write(folder, name, lines) for name, lines in sorted(files.items())]
    document = {
        "format": 1,
        "depth": depth,
        "forms": list(dict.fromkeys(form for form, _ in rankings)),
        "rules": list(dict.fromkeys(rule for _, rule in rankings)),
        "planned": len(questions),
        "outputs": outputs,
        "notes": [],
        **manifest,
    }
    (folder / "manifest.json").write_text(json.dumps(document))
    return str(folder)


def write(folder: Path, name: str, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write a file; return what the manifest says of it."""
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    (folder / name).write_bytes(data)
    return {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def context(
    folder: str, *, at: Sequence[int] = (), draws: int = 200, seed: int = 1, row_level: bool = False
) -> Context:
    """Return the context of a folder."""
    return Context.of(read_study(folder), at=at, bootstrap=Bootstrap(draws=draws, seed=seed), row_level=row_level)


def rows_of(folder: str, number: int, *, at: Sequence[int] = (), row_level: bool = False) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    found = build_tables(context(folder, at=at, row_level=row_level), chosen([number]))
    rows: list[dict[str, Any]] = found["tables"][str(number)]["rows"]
    return rows
