"""Nothing of ours runs in finalizers, and one module alone makes contexts current."""

from __future__ import annotations

import ast

import pytest

from tests.contracts.sources import PACKAGE, ROOT, imported_names, parse, place, python_files

SOURCES = [
    *python_files("rop_otel"),
    *(path for folder in ROOT.glob("instrumentation/*/rop_otel_*") for path in python_files(str(folder))),
]
ONLY_HERE = PACKAGE / "tracing" / "position" / "context_position.py"
ATTACHING = frozenset({"attach", "detach", "use_span", "start_as_current_span"})
CALLED_BY_PYTHON = frozenset({"WeakKeyDictionary", "WeakSet", "WeakValueDictionary", "finalize"})
"""What of ``weakref`` runs Python code when an object is gone."""

KEYED_BY_LASTING = frozenset({"containing.py", "kinds.py", "patching.py", "plan.py", "process.py"})
"""Modules that keep something by classes, providers and pipelines, which are no part of a request."""

OUTSIDE_OF_APPLICATIONS = PACKAGE / "reference" / "words.py"


def variables(trees: list[ast.Module]) -> frozenset[str]:
    """Return the names of all context variables."""
    assignments = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)]
    return frozenset(
        ast.unparse(target)
        for node in assignments
        if node.value is not None and ast.unparse(node.value).startswith(("ContextVar(", "ContextVar["))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )


def contexts_set(tree: ast.Module, names: frozenset[str]) -> list[ast.AST]:
    """Return what makes a context current, or sets a context variable."""
    imports = [node for node, name in imported_names(tree) if name in {f"opentelemetry.context.{a}" for a in ATTACHING}]
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (
            node.func.attr in ATTACHING
            or (node.func.attr in ("set", "reset") and ast.unparse(node.func.value) in names)
        )
    ]
    return [*imports, *calls]


def finalizers(tree: ast.Module) -> list[ast.AST]:
    """Return what Python runs when an object is gone."""
    methods = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__del__"]
    called = [node for node, name in imported_names(tree) if name in {f"weakref.{each}" for each in CALLED_BY_PYTHON}]
    callbacks = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("ref", "weakref.ref")
        and any(isinstance(argument, ast.Lambda) for argument in node.args[1:])
    ]
    return [*methods, *called, *callbacks]


def test_one_module_alone_makes_contexts_current() -> None:
    """While the collector runs nothing may, and that module sees to it."""
    trees = {path: parse(path) for path in SOURCES}
    names = variables(list(trees.values()))
    assert len(names) >= 5
    others = {path: tree for path, tree in trees.items() if path != ONLY_HERE}
    assert [place(path, node) for path, tree in others.items() for node in contexts_set(tree, names)] == []


def test_no_python_code_runs_when_an_object_is_gone() -> None:
    """An exception that a signal handler raises there is lost, and what it interrupts may be anything."""
    looked_at = [path for path in SOURCES if path != OUTSIDE_OF_APPLICATIONS and path.name not in KEYED_BY_LASTING]
    assert [place(path, node) for path in looked_at for node in finalizers(parse(path))] == []


@pytest.mark.parametrize(
    "code",
    [
        "from opentelemetry.context import attach",
        "context.attach(here)",
        "_place.set(1)",
        "_place.reset(token)",
        "with tracer.start_as_current_span('x'): pass",
    ],
)
def test_what_makes_a_context_current_is_seen(code: str) -> None:
    """Each way to do it is found."""
    names = variables([ast.parse("_place: Final = ContextVar('place')")])
    assert contexts_set(ast.parse(code), names) != []
    assert contexts_set(ast.parse("names.set(1)"), names) == []


@pytest.mark.parametrize(
    "code",
    ["class A:\n    def __del__(self): ...", "from weakref import WeakSet", "ref(thing, lambda _: forget(thing))"],
)
def test_finalizers_are_seen(code: str) -> None:
    """Each kind is found."""
    assert finalizers(ast.parse(code)) != []
