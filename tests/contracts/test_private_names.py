"""Instrumentation packages, and what they share, use what other modules offer: no name with an underscore."""

from __future__ import annotations

import ast

import pytest

from tests.contracts.sources import imported_names, parse, place, python_files

FRAMEWORKS = frozenset({"_sockets_dict"})
"""What a framework offers in no public way: the sockets of one of Haystack's components."""

OF_THE_LANGUAGE = frozenset({"_replace", "_fields", "_asdict"})
"""Public names of named tuples."""


def is_private(name: str) -> bool:
    """Return whether a name begins with one underscore."""
    return name.startswith("_") and not name.startswith("__")


def defined_in(tree: ast.Module) -> set[str]:
    """Return the names that a module defines: its functions, methods, classes, and attributes of its objects."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            found.add(node.attr)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def foreign_private_names(tree: ast.Module) -> list[ast.AST]:
    """Return where a module imports or reads a name with an underscore that is another module's."""
    known = defined_in(tree) | FRAMEWORKS | OF_THE_LANGUAGE
    imported: list[ast.AST] = [
        node
        for node, name in imported_names(tree)
        if not name.startswith("__future__") and any(map(is_private, name.split(".")))
    ]
    read = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and node.attr not in known
        and ast.unparse(node.value) not in ("self", "super()")
    ]
    return imported + read


@pytest.mark.parametrize("folder", ["rop_otel/instrumenting", "instrumentation"])
def test_no_name_with_an_underscore_of_another_module(folder: str) -> None:
    """What the packages need is public where it is."""
    sources = [path for path in python_files(folder) if "tests" not in path.parts]
    assert [place(path, node) for path in sources for node in foreign_private_names(parse(path))] == []


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("from rop_otel.tracing._x import y", 1),
        ("from rop_otel.tracing import _y", 1),
        ("handoff._selected", 1),
        ("def f(a):\n    a.b._c = 1", 1),
        ("class A:\n    def f(self, other):\n        self._x = other._x", 0),
        ("pair._replace(a=1)", 0),
        ("from __future__ import annotations", 0),
    ],
)
def test_such_a_name_is_seen(code: str, count: int) -> None:
    """It is found in imports and in chains of attributes; what a module defines is its own."""
    assert len(foreign_private_names(ast.parse(code))) == count
