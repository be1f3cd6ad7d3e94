"""The corpus: the documentation of the functions and classes of the running Python's standard library."""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from haystack import Document

MODULES = "heapq bisect shutil tempfile glob textwrap queue shlex contextlib functools subprocess base64 copy".split()
LONGEST = 240


def documents() -> list[Document]:
    """Return one document for each documented public object; its ID is its dotted name."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    found = {document.id: document for module in MODULES for document in _of_module(folder, module)}
    return list(found.values())


def _of_module(folder: Path, module: str) -> Iterator[Document]:
    source = folder / f"{module}.py"
    source = source if source.is_file() else folder / module / "__init__.py"
    for name, text in _documented(ast.parse(source.read_text(encoding="utf-8")).body, module):
        yield Document(id=name, content=f"{name}: {' '.join(text.split())[:LONGEST]}")


def _documented(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            name = f"{prefix}.{node.name}"
            text = ast.get_docstring(node)
            if text:
                yield name, text
            if isinstance(node, ast.ClassDef):
                yield from _documented(node.body, name)
