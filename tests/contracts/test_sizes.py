"""Sizes of files and functions."""

from __future__ import annotations

import ast

import pytest

from tests.contracts.sources import ROOT, parse, place, python_files

FILE_LINES, FUNCTION_LINES = 400, 80
EXCUSE = "Long because"
FOLDERS = ["rop_otel", "tests", "benchmarks", "examples", "grafana", "instrumentation"]


def oversized(source: str) -> list[ast.AST]:
    """Return the module and the functions that are too long, unless the top of the file says why."""
    tree = ast.parse(source)
    if EXCUSE in (ast.get_docstring(tree) or ""):
        return []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found: list[ast.AST] = [node for node in functions if (node.end_lineno or 0) - node.lineno + 1 > FUNCTION_LINES]
    return [tree, *found] if source.count("\n") > FILE_LINES else found


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_and_functions_are_small(folder: str) -> None:
    """A file has at most 400 lines and a function 80, unless the file's docstring says why it is long."""
    files = [path for path in python_files(folder) if not path.is_relative_to(ROOT / "tests" / "conformance" / "cases")]
    assert [place(path, node) for path in files for node in oversized(path.read_text(encoding="utf-8"))] == []


def test_length_is_seen() -> None:
    """One line over either limit is found, and an excuse at the top is heard."""
    body = "    pass\n" * FUNCTION_LINES
    assert len(oversized(f"def f():\n{body}")) == 1
    assert len(oversized("x = 1\n" * FILE_LINES)) == 0
    assert len(oversized("x = 1\n" * (FILE_LINES + 1))) == 1
    assert oversized(f"'Long because it is a table.'\ndef f():\n{body}") == []


def test_sources_parse() -> None:
    """Every folder that is looked at has sources that this Python reads."""
    assert all(parse(path) for folder in FOLDERS for path in python_files(folder))
