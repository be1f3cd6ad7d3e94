"""The docstrings of some modules of the running Python's standard library, read from their sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from llama_index.core.schema import TextNode

MODULES = "bisect contextlib csv fnmatch glob heapq json queue random shutil statistics tempfile textwrap".split()
LONGEST = 1200
"""Characters of a docstring that are kept."""


def read_docstrings() -> list[TextNode]:
    """Return a passage for each public function, class and method that has a docstring; its ID is its name."""
    return [
        TextNode(id_=name, text=f"{name}: {text[:LONGEST]}", metadata={"module": module})
        for module in MODULES
        for name, text in _documented(module)
    ]


def _documented(module: str) -> Iterator[tuple[str, str]]:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    yield from _below(module, tree)


def _below(name: str, tree: ast.Module | ast.ClassDef) -> Iterator[tuple[str, str]]:
    seen = set()
    for each in tree.body:
        if not isinstance(each, ast.FunctionDef | ast.ClassDef) or each.name.startswith("_") or each.name in seen:
            continue
        text = ast.get_docstring(each)
        if text:
            seen.add(each.name)
            yield f"{name}.{each.name}", text
        if isinstance(each, ast.ClassDef):
            yield from _below(f"{name}.{each.name}", each)


NAMES = frozenset(name for module in MODULES for name, _ in _documented(module))
