"""Who may import whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rop_otel
from tests.contracts.sources import PACKAGE, ROOT, imported_names, parse, place, python_files, string_literals, within

API = frozenset(
    f"opentelemetry.{name}"
    for name in (
        "_logs",
        "attributes",
        "baggage",
        "context",
        "metrics",
        "propagate",
        "propagators",
        "trace",
        "util.types",
    )
)
PURE = frozenset(
    """__future__ abc base64 bisect collections contextlib copy dataclasses enum functools hashlib heapq hmac html
    itertools json math operator re reprlib statistics string types typing unicodedata zlib rop_otel""".split()
)
BORDER = frozenset({"msgspec", "pydantic", "pydantic_core", "rfc8785"})
"""Pure libraries that read and write values, in the profile only."""
FINDS_FILES = {PACKAGE / "core" / "measures" / "every.py": frozenset({"importlib", "pkgutil"})}
"""A measure is one file, so that one module imports what lies beside it."""

IMPURE_CALLS = frozenset({"open", "print", "input", "breakpoint"})


def beyond_the_api(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """Return what a module takes from OpenTelemetry outside its API, by import or by name."""
    imports = [(node, name) for node, name in imported_names(tree) if within(name, frozenset({"opentelemetry"}))]
    named = [(node, str(node.value)) for node in string_literals(tree) if str(node.value).startswith("opentelemetry.")]
    return [(node, name) for node, name in [*imports, *named] if not within(name, API)]


def impurities(tree: ast.Module, *, allowed: frozenset[str]) -> list[tuple[ast.AST, str]]:
    """Return the imports outside the allowed modules, and the calls that read or write."""
    imports = [(node, name) for node, name in imported_names(tree) if name.split(".")[0] not in allowed]
    calls = [
        (node, node.func.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS
    ]
    return [*imports, *calls]


def report(path: Path, found: list[tuple[ast.AST, str]]) -> list[str]:
    return [f"{place(path, node)} {name}" for node, name in found]


def test_import_contracts_hold() -> None:
    """The layers of the architecture, exhaustive, hold over the whole import graph."""
    linter = Path(sys.executable).parent / "lint-imports"
    run = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("room", ["tracing", "meters"])
def test_api_only(room: str) -> None:
    """Code that runs inside applications needs the OpenTelemetry API and nothing else of OpenTelemetry."""
    assert [
        line for path in python_files(f"rop_otel/{room}") for line in report(path, beyond_the_api(parse(path)))
    ] == []


@pytest.mark.parametrize(
    "code",
    [
        "import opentelemetry.sdk.trace",
        "from opentelemetry import sdk",
        "from opentelemetry.sdk.trace import TracerProvider",
        "def f():\n    from opentelemetry.exporter.otlp import proto",
        "import importlib\nimportlib.import_module('opentelemetry.sdk.trace')",
        "import opentelemetry",
    ],
)
def test_going_beyond_the_api_is_seen(code: str) -> None:
    """The SDK is found at any depth, in any form of import."""
    assert len(beyond_the_api(ast.parse(code))) == 1


def test_core_is_pure() -> None:
    """The core, the names and the errors do no I/O and read neither a clock nor the environment."""
    found = []
    for path in [*python_files("rop_otel/core"), PACKAGE / "errors.py"]:
        at_the_border = path.is_relative_to(PACKAGE / "core" / "profile")
        allowed = PURE | BORDER if at_the_border else PURE | FINDS_FILES.get(path, frozenset())
        found += report(path, impurities(parse(path), allowed=allowed))
    semconv = PACKAGE / "semconv.py"
    found += report(semconv, impurities(parse(semconv), allowed=PURE | {"opentelemetry"}))
    assert found == []


def test_names_come_from_the_semantic_conventions_alone() -> None:
    """Of OpenTelemetry the module of names takes the stable attributes of the semantic conventions."""
    taken = {
        name for _, name in imported_names(parse(PACKAGE / "semconv.py")) if within(name, frozenset({"opentelemetry"}))
    }
    assert taken
    assert {name for name in taken if not within(name, frozenset({"opentelemetry.semconv.attributes"}))} == set()


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "from time import time",
        "import datetime",
        "open('x')",
        "def f():\n    print(1)",
        "from pathlib import Path",
    ],
)
def test_impurity_is_seen(code: str) -> None:
    """A clock, a file and the environment are found at any depth."""
    assert len(impurities(ast.parse(code), allowed=PURE)) == 1


@pytest.mark.parametrize(
    ("folder", "besides"),
    [
        ("examples", {"rop_otel.testing"}),
        ("instrumentation", {"rop_otel.instrumenting", "rop_otel.testing"}),
        ("grafana", {"rop_otel.semconv", "rop_otel.core.handoff", "rop_otel.core.measures"}),
        (
            "rop_otel/reference",
            {
                "rop_otel.reference",
                "rop_otel.core",
                "rop_otel.spans",
                "rop_otel.safety.callables",  # rules and query forms may be the user's own
                "rop_otel.safety.json_lines",  # corpora may be compressed
                "rop_otel.errors",
            },
        ),
    ],
)
def test_users_code_takes_public_names(folder: str, besides: set[str]) -> None:
    """Examples and instrumentations import what users may, and the reference pipeline is instrumented as theirs are.

    The instrumentations' own tests may look behind it.
    """
    allowed = frozenset(besides | {f"rop_otel.{name}" for name in rop_otel.__all__})
    found = [
        f"{place(path, node)} {name}"
        for path in python_files(folder)
        if path.parent.name != "tests"
        for node, name in imported_names(parse(path))
        if name.startswith("rop_otel.") and not within(name, allowed)
    ]
    assert found == []
