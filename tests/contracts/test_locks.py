"""Who makes locks."""

from __future__ import annotations

import ast

import pytest

from tests.contracts.sources import ROOT, imported_names, parse, place, python_files, within

LOCKS = frozenset(
    f"{module}.{name}"
    for module in ("threading", "_thread", "multiprocessing")
    for name in ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier", "allocate_lock")
)
MADE_BY = {"rop_otel/safety/locks.py"}
"""It makes the locks of all others, which a forked process finds free and which their own thread can take again."""


def locks(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """Return where a module names a lock of the standard library, by import or as an attribute, types included."""
    imported = [(node, name) for node, name in imported_names(tree) if within(name, LOCKS)]
    named = [
        (node, f"{node.value.id}.{node.attr}")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    ]
    return [*imported, *((node, name) for node, name in named if name in LOCKS)]


def test_locks_are_made_in_one_place() -> None:
    """No other module of the product makes a lock by itself."""
    packages = [path.relative_to(ROOT) for path in (ROOT / "instrumentation").glob("*/rop_otel_*")]
    found = [
        f"{place(path, node)} {name}"
        for folder in ["rop_otel", *map(str, packages)]
        for path in python_files(folder)
        if path.relative_to(ROOT).as_posix() not in MADE_BY
        for node, name in locks(parse(path))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "from threading import Lock",
        "import threading\nthreading.RLock()",
        "def f():\n    from _thread import RLock",
    ],
)
def test_a_lock_is_seen(code: str) -> None:
    """A lock is found in any form of import."""
    assert len(locks(ast.parse(code))) == 1
