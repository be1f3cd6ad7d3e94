"""Prose says *report*, *identify*, *distinguish* or *say*: the verb that they replace has too many meanings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.sources import ROOT, committed_files, parse, string_literals

VERB = re.compile(r"\b(tell|tells|told|telling)\b", re.IGNORECASE)

PYTHON = ("rop_otel/", "instrumentation/", "grafana/", "examples/", "benchmarks/")

NAMES_OF_CODE = re.compile(r"``[^`]*``|`[^`]*`")
"""A name of the code may stand in prose: it is no verb there."""


def text_of(markdown: str) -> str:
    """Return a document without the names of code in it, every line kept."""
    return NAMES_OF_CODE.sub("", markdown)


def prose_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every docstring and message of a module with its line, without the names of code in them."""
    docstrings = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    for node in (*docstrings, *string_literals(tree)):
        text = str(node.value)
        if " " in text:
            yield node.lineno, text_of(text)


def documents() -> Iterator[Path]:
    """Yield the committed documents."""
    yield from (path for path in committed_files() if path.suffix == ".md")


def modules() -> Iterator[Path]:
    """Yield the modules whose docstrings and messages users read."""
    for path in committed_files():
        name = str(path.relative_to(ROOT))
        if path.suffix == ".py" and name.startswith(PYTHON) and "/tests/" not in name:
            yield path


def names_of_arguments(text: str) -> str:
    """Return a docstring without the names of arguments at the beginning of its lines."""
    return re.sub(r"^\s+\w+(, \w+)*:", "", text, flags=re.MULTILINE)


def test_documents_use_plain_verbs() -> None:
    """No page of the documentation has the verb."""
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in documents()
        for line in text_of(path.read_text(encoding="utf-8")).splitlines()
        if VERB.search(line)
    ]
    assert found == []


def test_docstrings_and_messages_use_plain_verbs() -> None:
    """No docstring and no message of the product, its examples and its benchmarks has the verb."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {match[0]}"
        for path in modules()
        for line, text in prose_of(parse(path))
        if (match := VERB.search(names_of_arguments(text)))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        '"""Tells which stage it is."""',
        'def f():\n    """Return x.\n\n    Args:\n        a: Told of each problem.\n    """',
        'raise ValueError(f"{x} is no list; tell the list")',
    ],
)
def test_the_verb_is_seen(code: str) -> None:
    """It is found in docstrings, in descriptions of arguments and in messages."""
    assert any(VERB.search(names_of_arguments(text)) for _, text in prose_of(ast.parse(code)))


def test_names_of_code_are_no_verbs() -> None:
    """A sentence may name a method or an argument in backquotes, and an argument may be described by its name."""
    code = '"""Look it up with ``settings.tell``.\n\n    Args:\n        told: The fields.\n    """\nx = "told"'
    assert not any(VERB.search(names_of_arguments(text)) for _, text in prose_of(ast.parse(code)))


def words_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every name that a module defines, reads or gives an argument, with its line, as words."""
    for node in ast.walk(tree):
        for part in ("id", "attr", "arg", "name"):
            name = getattr(node, part, None)
            if isinstance(name, str):
                yield getattr(node, "lineno", 1), re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", name)


@pytest.mark.parametrize("folder", ["rop_otel/core", "rop_otel/tracing", "rop_otel/instrumenting", "instrumentation"])
def test_names_use_plain_verbs(folder: str) -> None:
    """No function, argument or variable that packages and applications meet is named with the verb."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in modules()
        if str(path.relative_to(ROOT)).startswith(folder)
        for line, words in words_of(parse(path))
        if VERB.search(words)
    ]
    assert found == []


def test_the_verb_is_seen_in_names() -> None:
    """It is found in names of several words, of either style, and in arguments and attributes."""
    code = "class TellAll:\n    def _tell(self, was_told): return self.telling"
    assert sum(bool(VERB.search(words)) for _, words in words_of(ast.parse(code))) == 4
