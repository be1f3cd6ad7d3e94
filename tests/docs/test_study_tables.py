"""What the document on a study's tables says is what there is."""

from __future__ import annotations

from rop_otel.study.tables.every_table import TABLES
from tests.docs.tables import read, table


def test_every_table_is_explained() -> None:
    """Each stands with its number and title, in order."""
    rows = table(read("docs/study-tables.md"), "table")
    assert [(row[0], row[1]) for row in rows] == [(str(each.number), each.title) for each in TABLES.values()]
