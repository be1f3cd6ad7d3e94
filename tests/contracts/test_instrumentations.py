"""What the packages that watch a framework leave to the application."""

from __future__ import annotations

import ast

import pytest

from tests.contracts.sources import imported_names, parse, place, python_files

APPLICATIONS = frozenset({"configure", "shutdown"})


def settled(tree: ast.Module) -> list[ast.AST]:
    """Return where a module decides what is the application's to decide: the monitor's set-up and its end."""
    used = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in APPLICATIONS
        and ast.unparse(node.value) in ("rop", "rop_otel")
    ]
    imported = [node for node, name in imported_names(tree) if name in {f"rop_otel.{each}" for each in APPLICATIONS}]
    return [*used, *imported]


def test_packages_leave_the_set_up_to_the_application() -> None:
    """A package sets up what the application has not, with ``configure_once``: ``configure`` replaces its settings."""
    sources = [path for path in python_files("instrumentation") if "tests" not in path.parts]
    assert [place(path, node) for path in sources for node in settled(parse(path))] == []


@pytest.mark.parametrize("code", ["import rop_otel as rop\nrop.configure()", "from rop_otel import shutdown"])
def test_a_set_up_is_seen(code: str) -> None:
    """Both ways to reach them are found."""
    assert len(settled(ast.parse(code))) == 1
