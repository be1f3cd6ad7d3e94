"""Every table by its number, and several of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rop_otel.errors import ConfigurationError
from rop_otel.study.tables.accounting import ACCOUNTING
from rop_otel.study.tables.joint_tables import COMPLETE, DIFFERENT, JOINT, STACKS
from rop_otel.study.tables.losses import BY_SELECTOR, LOSSES, RETURNS
from rop_otel.study.tables.misses import EXAMPLE, MISSES
from rop_otel.study.tables.partition import PARTITION
from rop_otel.study.tables.study_table import Table
from rop_otel.study.tables.table_context import Context
from rop_otel.study.tables.title_check import TITLE_CHECK
from rop_otel.study.tables.trace_recall import DIFFERENCE, RECALL

TABLES: Final[Mapping[int, Table]] = {
    table.number: table
    for table in (
        ACCOUNTING, LOSSES, BY_SELECTOR, MISSES, JOINT, TITLE_CHECK, RETURNS, EXAMPLE, STACKS, COMPLETE, DIFFERENT,
        PARTITION, RECALL, DIFFERENCE,
    )
}  # fmt: skip
"""The tables in the paper's order."""

_OF_OMIT: Final = frozenset({9, 10, 21})


def chosen(numbers: Sequence[int]) -> tuple[Table, ...]:
    """Return tables in the paper's order.

    Args:
        numbers: Theirs; none stands for all.

    Raises:
        ConfigurationError: A number is none of theirs.
    """
    known = ", ".join(map(str, TABLES))
    for number in numbers:
        if number in _OF_OMIT:
            raise ConfigurationError(f"--table {number}: that is written by rop-otel study omit; here are {known}")
        if number not in TABLES:
            raise ConfigurationError(f"--table {number}: there is no such table; there are {known}")
    return tuple(table for number, table in TABLES.items() if not numbers or number in numbers)


def build_tables(context: Context, tables: Sequence[Table]) -> dict[str, Any]:
    """Return the JSON of tables, with the choices that they were made under."""
    return {**context.choices(), "tables": {str(table.number): table.build(context) for table in tables}}
