"""What catches anything lets through what was delivered for somebody else."""

from __future__ import annotations

import ast

import pytest

from tests.contracts.sources import ROOT, parse, place, python_files

GUARD = "raise_if_delivered"
BROAD = frozenset({"BaseException", "Exception", "OSError", "RuntimeError", "SystemExit", "TimeoutError"})
"""What an exception may be caught as that ends a task: timeouts are often a TimeoutError, which is an OSError."""

ELSEWHERE = {
    "rop_otel/cli": "commands, which nobody calls in a task of an application",
    "rop_otel/reference": "an application of its own",
    "rop_otel/monitor": "a service of its own",
    "rop_otel/evaluation": "files of the past, read by commands",
    "rop_otel/study": "files of the past, and readers that commands ask",
    "rop_otel/safety/compressed_files.py": "files of the past, read by commands",
    "rop_otel/export/background_caller.py": "a thread of ours, in which no signal handler runs and nobody else's task",
    "rop_otel/export/prometheus.py": "the start of a server, which raises what went wrong",
    "rop_otel/export/serving.py": "a thread of ours, likewise",
    "rop_otel/safety/delivered.py": "the guard itself",
    "rop_otel/instrumenting/guarding.py": "the guard of the packages, which asks that one first",
}
HANDED_ON = {
    "_async_generator": "it is thrown into the application's own generator",
    "__await__": "it is thrown into what is awaited",
}
"""Functions in which what was caught is not swallowed."""


def names_in(node: ast.expr | None) -> set[str]:
    """Return the names of the classes that an ``except`` names; without any it catches all."""
    if node is None:
        return {"BaseException"}
    return {ast.unparse(each) for each in (node.elts if isinstance(node, ast.Tuple) else [node])}


def guards(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler begins with the guard, or ends with the exception raised again."""
    first, last = handler.body[0], handler.body[-1]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Call):
        call = first.value
        if ast.unparse(call.func) == GUARD and [ast.unparse(each) for each in call.args] == [handler.name]:
            return True
    returns = [node for statement in handler.body for node in ast.walk(statement) if isinstance(node, ast.Return)]
    return isinstance(last, ast.Raise) and last.exc is None and not returns


def swallowing(tree: ast.Module) -> list[ast.AST]:
    """Return what may swallow: broad handlers without the guard, suppress(), and ways out of a ``finally``."""
    found: list[ast.AST] = []
    handed_on = [
        (node.lineno, node.end_lineno or 0)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in HANDED_ON
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and names_in(node.type) & BROAD and not guards(node):
            if not any(first <= node.lineno <= last for first, last in handed_on):
                found.append(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            found += [each for each in node.args if ast.unparse(each) in BROAD]
        elif isinstance(node, ast.Try):
            inside = [each for statement in node.finalbody for each in ast.walk(statement)]
            found += [each for each in inside if isinstance(each, ast.Return | ast.Break | ast.Continue)]
        elif isinstance(node, ast.FunctionDef) and node.name == "__exit__":
            found += [each for each in ast.walk(node) if isinstance(each, ast.Return) and not _is_none(each.value)]
    return found


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def test_delivered_exceptions_are_let_through() -> None:
    """A time limit that a signal handler or another thread raises in our code reaches the task that it ends."""
    sources = [*python_files("rop_otel"), *python_files("instrumentation")]
    looked_at = [
        path
        for path in sources
        if "tests" not in path.parts and not any(path.is_relative_to(ROOT / name) for name in ELSEWHERE)
    ]
    assert [place(path, node) for path in looked_at for node in swallowing(parse(path))] == []


def test_exceptions_to_the_rule_are_there() -> None:
    """Nothing is excepted that is no longer there."""
    assert [name for name in ELSEWHERE if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    f()\nexcept Exception:\n    pass",
        "try:\n    f()\nexcept:\n    pass",
        "try:\n    f()\nexcept (KeyError, OSError) as error:\n    g(error)",
        "try:\n    f()\nexcept Exception as error:\n    g()\n    raise_if_delivered(error)",
        "try:\n    f()\nexcept Exception as error:\n    raise_if_delivered(other)",
        "try:\n    f()\nexcept Exception as error:\n    raise ValueError from error",
        "def h():\n    try:\n        f()\n    except Exception:\n        if g():\n            return\n        raise",
        "with suppress(OSError):\n    f()",
        "for each in g():\n    try:\n        f()\n    finally:\n        break",
        "def __exit__(self, *args):\n    return True",
    ],
)
def test_what_swallows_is_seen(code: str) -> None:
    """Each way to swallow an exception is found."""
    assert len(swallowing(ast.parse(code))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    f()\nexcept Exception as error:\n    raise_if_delivered(error)\n    g()",
        "try:\n    f()\nexcept BaseException:\n    g()\n    raise",
        "try:\n    f()\nexcept (KeyError, ValueError):\n    pass",
        "with suppress(ValueError):\n    f()",
    ],
)
def test_what_lets_through_is_left_alone(code: str) -> None:
    """The guard, raising again, and what catches nothing that ends a task are fine."""
    assert swallowing(ast.parse(code)) == []
