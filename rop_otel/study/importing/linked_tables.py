"""HybridQA and OTT-QA as they are published: questions, tables with links, and the linked passages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from rop_otel.errors import InputError
from rop_otel.safety.digested_files import Digest
from rop_otel.study.importing.json_documents import read_members
from rop_otel.study.importing.problems import Problems, Row, is_text, missing

_WIKI = "/wiki/"


def read_questions(file: str, digest: Digest, problems: Problems) -> Iterator[Row]:
    """Read ``dev.json`` or ``dev.traced.json``: only the traced one has answer nodes, and so judged passages.

    Raises:
        InputError: The file cannot be read as JSON, or holds no question.
    """
    rows = ((file, line, _question(value)) for line, value in _elements(file, digest))
    yield from problems.usable(rows, file, "question")


def read_tables(source: str, digest: Digest, problems: Problems) -> Iterator[Row]:
    """Read tables: a folder with a file for each (``tables_tok``), or one file of all (``all_plain_tables.json``).

    Raises:
        InputError: Something cannot be read as JSON, or there is no table.
    """
    documents = _documents(source, digest, whole=True)
    rows = ((file, line, _table(key, value)) for file, line, key, value in documents)
    yield from problems.usable(rows, source, "table")


def read_passages(source: str, digest: Digest, problems: Problems) -> Iterator[Row]:
    """Read passages by link: a folder with a file a table (``request_tok``), or one file (``all_passages.json``).

    Raises:
        InputError: Something cannot be read as JSON, or there is no passage.
    """
    documents = _documents(source, digest, whole=False)
    rows = ((file, line, _passage(key, value)) for file, line, key, value in documents)
    yield from problems.usable(rows, source, "passage")


def title_of(link: str) -> str:
    """Return the title of the page that a link leads to; the map is one to one.

    >>> title_of("/wiki/Erikub_Atoll")
    'Erikub Atoll'
    """
    return link.removeprefix(_WIKI).replace("_", " ") or link


def _elements(file: str, digest: Digest) -> Iterator[tuple[int, Any]]:
    """Yield line and value of each element of an array."""
    for line, key, value in read_members(file, digest):
        if key is not None:
            raise InputError("an array of questions is expected, not an object", file=file, line=line)
        yield line, value


def _documents(source: str, digest: Digest, *, whole: bool) -> Iterator[tuple[str, int, str, Any]]:
    """Yield file, line, key and value of each member, of one file or of a folder's, in the order of their names.

    Args:
        source: The file or folder.
        digest: Takes in all bytes.
        whole: Whether a file of a folder is one value, named by the file; else each of its members is one.
    """
    if not os.path.isdir(source):
        for line, key, value in read_members(source, digest):
            if key is None:
                raise InputError("an object is expected, not an array", file=source, line=line)
            yield source, line, key, value
        return
    names = sorted(name for name in os.listdir(source) if name.endswith((".json", ".json.gz", ".json.zst")))
    if not names:
        raise InputError("there is no JSON file in this folder", file=source)
    for name in names:
        file = os.path.join(source, name)
        members = list(read_members(file, digest))
        if whole:
            if any(key is None for _, key, _ in members):
                raise InputError("an object is expected, not an array", file=file)
            yield file, 1, name[: name.rindex(".json")], {str(key): value for _, key, value in members}
        else:
            yield from ((file, line, str(key or ""), value) for line, key, value in members)


def _passage(key: str, value: object) -> dict[str, Any] | str:
    """Return a passage in our names, or what is wrong with it."""
    if not is_text(key):
        return "the link is empty"
    if not isinstance(value, str):
        return f"the passage {key!r} has to be a string, not {value!r:.60}"
    return {"id": key, "title": title_of(key), "text": value}


def _question(value: object) -> dict[str, Any] | str:
    """Return a question in our names, or what is wrong with it."""
    if not isinstance(value, dict):
        return f"a question has to be an object, not {type(value).__name__}"
    if wrong := missing(value, "question_id", "question", "table_id"):
        return wrong
    fields = {"id": value["question_id"], "question": value["question"]}
    if "answer-text" in value:
        if not isinstance(value["answer-text"], str):
            return f"'answer-text' has to be a string, not {value['answer-text']!r:.60}"
        fields["answer"] = value["answer-text"]
    fields["table_id"] = value["table_id"]
    if "answer-node" not in value:
        return fields
    nodes = [_node(each) for each in value["answer-node"]] if isinstance(value["answer-node"], list) else [None]
    if None in nodes:
        return "'answer-node' has to be a list of [cell, [row, column], link, where]"
    links = {node["link"] for node in nodes if node and node["where"] == "passage" and node["link"]}
    return fields | {"gold_ids": sorted(links), "answer_nodes": nodes}


def _node(value: object) -> dict[str, Any] | None:
    """Return where an answer was found, None where it does not say so."""
    match value:
        case [str(cell), [int(row), int(column)], (str() | None) as link, ("passage" | "table") as where]:
            return {"cell": cell, "row": row, "col": column, "link": link, "where": where}
    return None


def _table(key: str, value: object) -> dict[str, Any] | str:
    """Return a table in our names, or what is wrong with it."""
    if not isinstance(value, dict) or not isinstance(value.get("header"), list):
        return f"the table {key!r} has no list 'header'"
    if not isinstance(value.get("data"), list) or not all(isinstance(row, list) for row in value["data"]):
        return f"the table {key!r} has no list of lists 'data'"
    header = [_cell(each) for each in value["header"]]
    rows = [[_cell(each) for each in row] for row in value["data"]]
    if None in header or any(None in row for row in rows):
        return f"the table {key!r} has a cell that is neither a string nor [text, [links]]"
    return {
        "id": key,
        **{name: value[name] if isinstance(value.get(name), str) else "" for name in ("title", "url", "section_title")},
        "intro": value["intro"] if isinstance(value.get("intro"), str) else "",
        "header": [cell["text"] if isinstance(cell, dict) else cell for cell in header],
        "rows": rows,
        "linked_ids": sorted(
            {link for row in [header, *rows] for cell in row if isinstance(cell, dict) for link in cell["links"]}
        ),
    }


def _cell(value: object) -> str | dict[str, Any] | None:
    """Return a cell: its text, with its links where it has some; None where it is no cell."""
    match value:
        case str():
            return value
        case [str(text), [*links]] if all(isinstance(link, str) for link in links):
            return {"text": text, "links": links} if links else text
    return None
