"""Kinds, finding codes, drop causes and measures: each is typed once, in its own row."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rop_otel.core.handoff import FINDINGS, DropCause, kinds
from rop_otel.core.measures.every import MEASURES
from tests.contracts.sources import PACKAGE, ROOT, parse, place, python_files, string_literals

NAMES = {*kinds.KINDS, *(code.value for code in FINDINGS), *(cause.value for cause in DropCause)}
WORDS = "|".join(sorted(name for name in NAMES if "_" in name))
"""Names with an underscore are no English words: they are found in sentences, too."""

MEASURE_NAMES = "|".join(measure.name for measure in MEASURES)
TYPED = re.compile(rf"({'|'.join(NAMES)}|({MEASURE_NAMES})(@.*)?)")
IN_A_SENTENCE = re.compile(rf"\b({WORDS})\b|`({TYPED.pattern})`|\b({MEASURE_NAMES})@")

ROWS = (
    *(PACKAGE / "core" / "handoff" / name for name in ("kinds.py", "assessment.py")),
    *(PACKAGE / "core" / "handoff" / "findings").glob("about_*.py"),
    *python_files("rop_otel/core/measures"),
)
"""Where the rows are."""

OTHER_MEANINGS = {
    ("rop_otel/core/handoff/written.py", "dropped"): "a key of a report",
    ("rop_otel/page/detail.py", "reader"): "a key of a label",
    ("rop_otel/page/stage_detail.py", "dropped"): "a key of a report",
    ("rop_otel/runs/journal.py", "truncated"): "how a line of a journal was cut off",
    ("rop_otel/spans/conventions/openllmetry.py", "rerank"): "a value of another convention",
}
"""Literals that are equal to a name of ours and mean something else, with what they mean."""


def typed_names(tree: ast.Module) -> list[ast.Constant]:
    """Return the literals that are, or hold, a name that has a row."""
    return [
        node
        for node in string_literals(tree)
        if TYPED.fullmatch(str(node.value)) or IN_A_SENTENCE.search(str(node.value))
    ]


def sources() -> Iterator[Path]:
    """Yield the files of the product that hold no rows."""
    for folder in ("rop_otel", "grafana", "instrumentation"):
        yield from (path for path in python_files(folder) if path not in ROWS and "tests" not in path.parts)


def test_names_are_typed_in_their_rows_only() -> None:
    """No kind, finding code, drop cause or measure is typed where its row could be imported."""
    found = {
        (str(path.relative_to(ROOT)), str(node.value)): place(path, node)
        for path in sources()
        for node in typed_names(parse(path))
    }
    assert {key: where for key, where in found.items() if key not in OTHER_MEANINGS} == {}
    assert set(OTHER_MEANINGS) <= set(found)


@pytest.mark.parametrize(
    "code",
    [
        "stage('rerank')",
        "f(f'recall@{k}')",
        "x = {'rr': 1}",
        "equal(FINDING, 'scope_leak')",
        "'=~\"label_.*|citation_unresolved\"'.x",
        "print('`truncated`: it was cut')",
    ],
)
def test_a_typed_name_is_seen(code: str) -> None:
    """A name is found alone, in f-strings, in queries and in sentences."""
    assert len(typed_names(ast.parse(code))) == 1


def test_words_of_english_are_no_names() -> None:
    """A sentence may speak of recall, of a reader and of what was dropped."""
    assert typed_names(ast.parse("x = 'the reader dropped what fusion found; recall fell'")) == []


def test_names_are_unique_within_their_table() -> None:
    """No two findings, and no two measures, have one name."""
    codes, measures = [code.value for code in FINDINGS], [measure.name for measure in MEASURES]
    assert (len(set(codes)), len(set(measures))) == (len(codes), len(measures))
