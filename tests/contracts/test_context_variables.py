"""Context variables of ours."""

from __future__ import annotations

import ast

from tests.contracts.sources import ROOT, parse, place, python_files


def defaults(tree: ast.Module) -> list[tuple[ast.Call, bool]]:
    """Return each context variable that a module makes, and whether it is None where nothing set it."""
    made = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ContextVar"
    ]
    return [
        (node, any(each.arg == "default" and getattr(each.value, "value", 0) is None for each in node.keywords))
        for node in made
    ]


def test_each_is_none_where_nothing_set_it() -> None:
    """What an interrupted reset leaves behind is None, which whoever reads the variable has to expect."""
    packages = [path.relative_to(ROOT) for path in (ROOT / "instrumentation").glob("*/rop_otel_*")]
    files = [path for folder in ["rop_otel", *map(str, packages)] for path in python_files(folder)]
    found = [(path, *each) for path in files for each in defaults(parse(path))]
    assert len(found) > 5
    assert [place(path, node) for path, node, is_none in found if not is_none] == []


def test_another_default_is_seen() -> None:
    """A variable with another default, or without any, is found."""
    made = defaults(
        ast.parse("a = ContextVar('a', default=())\nb = ContextVar('b')\nc = ContextVar('c', default=None)")
    )
    assert [is_none for _, is_none in made] == [False, False, True]
