"""What a declaration is made from: lists, tables and record files as they come."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from rop_otel.errors import InputError
from rop_otel.replay.declare import read_population, read_resolver


def test_a_byte_order_mark_is_no_part_of_the_first_id(tmp_path: Path) -> None:
    """A list that an editor or a spreadsheet marked holds the IDs that it shows."""
    (tmp_path / "ids.txt").write_bytes(codecs.BOM_UTF8 + b"r1\r\nr2\r\n")
    assert read_population(str(tmp_path / "ids.txt")) == b"r1\nr2\n"


def test_records_end_at_line_feeds_alone(tmp_path: Path) -> None:
    """A carriage return is white space in JSON, here as in the evaluation."""
    (tmp_path / "r.jsonl").write_bytes(b'{"record_id":\r"r1"}\r\n{"record_id":"r2"}')
    assert read_population(str(tmp_path / "r.jsonl"), field="record_id") == b"r1\nr2\n"


@pytest.mark.parametrize("data", [b"chunk,object\nd\xe9j\xe0,a\n", b"chunk,object\n" + b"x" * 200_000 + b",a\n"])
def test_a_table_that_cannot_be_read_is_an_error(tmp_path: Path, data: bytes) -> None:
    """Another encoding, or a field beyond the reader's limit, names the file and leaves no traceback."""
    (tmp_path / "map.csv").write_bytes(data)
    with pytest.raises(InputError, match=r"map\.csv: cannot be read as CSV in UTF-8"):
        read_resolver(str(tmp_path / "map.csv"), chunk="chunk", object_="object", version="1")
