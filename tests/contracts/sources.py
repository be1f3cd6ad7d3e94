"""Reading the project's own sources, for the tests of the house itself."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rop_otel"


def python_files(folder: str) -> list[Path]:
    """Return the Python files below a folder of the checkout, sorted; none where there is no such folder."""
    return sorted(path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)


def committed_files() -> list[Path]:
    """Return every file that git tracks and that is still there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def parse(path: Path) -> ast.Module:
    """Parse one source file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def place(path: Path, node: ast.AST) -> str:
    """Say where a node stands, as ``file:line``."""
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def imported_names(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Yield every imported thing by its full dotted name, wherever in the module it is imported.

    ``from a import b`` gives ``a.b``, since ``b`` may be a module.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)


def string_literals(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield every string literal that is not a docstring: those of f-strings and defaults too."""
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node


def within(name: str, modules: frozenset[str]) -> bool:
    """Tell whether a dotted name is one of the modules or lies below one.

    >>> within("opentelemetry.trace.Span", frozenset({"opentelemetry.trace"}))
    True
    >>> within("opentelemetry.tracer", frozenset({"opentelemetry.trace"}))
    False
    """
    return any(name == module or name.startswith(f"{module}.") for module in modules)
