"""Packages' ``__init__`` files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.contracts.sources import ROOT, parse, python_files

INITS = [path for path in python_files("rop_otel") if path.name == "__init__.py"]


def exported(tree: ast.Module) -> list[str] | None:
    """Return ``__all__``, or None where there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def logic(tree: ast.Module) -> list[str]:
    """Return every statement that is neither the docstring, an import of our own, nor ``__all__``."""
    return [ast.unparse(node) for node in tree.body if not _is_re_export(node)]


def _is_re_export(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__" or str(node.module).split(".")[0] == "rop_otel"
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "__all__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@pytest.mark.parametrize("path", INITS, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_re_exports(path: Path) -> None:
    """An ``__init__`` imports from its own package and lists exactly what it imported."""
    tree = parse(path)
    assert logic(tree) == []
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    }
    assert set(exported(tree) or []) == imported


@pytest.mark.parametrize(
    "code", ["import os", "VERSION = 1", "try:\n    import faiss\nexcept ImportError:\n    pass", "f()"]
)
def test_logic_is_seen(code: str) -> None:
    """Side effects, optional imports and constants are found."""
    assert logic(ast.parse(code)) != []
