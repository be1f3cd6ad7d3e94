"""No module imports itself by way of others, not even for its types."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.contracts.sources import PACKAGE, parse, python_files

Imports = Mapping[str, set[str]]


def module_of(parts: tuple[str, ...]) -> str:
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(sources: Mapping[str, ast.Module]) -> Imports:
    """Return what each module imports of the others, under ``TYPE_CHECKING`` and inside of functions too.

    A name that a package only passes on is an import of the package, which itself imports where the name comes from.
    """
    return {
        module: set(filter(None, (_known(each, sources) for each in _named(tree)))) - {module}
        for module, tree in sources.items()
    }


def _named(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _known(name: str, sources: Mapping[str, ast.Module]) -> str:
    while name and name not in sources:
        name = name.rpartition(".")[0]
    return name


def circle(imports: Imports) -> list[str]:
    """Return the modules of a circle, the first once more at the end; none where there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_there_is_no_circle() -> None:
    """The modules of the package can be put in an order in which each imports only those before it."""
    sources = {
        module_of(path.relative_to(PACKAGE.parent).with_suffix("").parts): parse(path)
        for path in python_files("rop_otel")
    }
    assert len(sources) > 100
    assert circle(imports_of(sources)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("import p.b", "import p.a"),
        ("from p.b import x", "from p import a"),
        ("from p.b import x", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import y"),
        ("from p.b import x", "def f():\n    from p.a import y"),
    ],
)
def test_a_circle_is_seen(one: str, other: str) -> None:
    """A circle is found whatever form its imports have."""
    assert set(circle(imports_of({"p.a": ast.parse(one), "p.b": ast.parse(other)}))) == {"p.a", "p.b"}
