"""What a declaration is made from: lists, tables and record files as they come."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from rop_otel.errors import ConfigurationError, InputError
from rop_otel.evaluation.declaration_writer import read_population, read_resolver_or_table


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
        read_resolver_or_table(str(tmp_path / "map.csv"), chunk="chunk", object_="object", version="1")


@pytest.mark.parametrize(
    ("data", "named", "message"),
    [
        (b"chunk,doc\na#1,a\n", ("chunk", "object"), r"map\.csv: no column 'object', only chunk, doc"),
        (b"", ("chunk", "object"), r"map\.csv: no column 'chunk', only none"),
        (b"chunk,object\na#1,a\nb#1\n", ("chunk", "object"), r"map\.csv:3: a row that is too short"),
        (b"chunk,object\na#1,a\n", (None, None), "a table of chunks needs --chunk-column"),
    ],
)
def test_a_table_whose_columns_are_not_found_says_which(
    tmp_path: Path, data: bytes, named: tuple[str | None, str | None], message: str
) -> None:
    """The one column that is missing is named beside those that are there, and so is what a table needs."""
    (tmp_path / "map.csv").write_bytes(data)
    with pytest.raises((InputError, ConfigurationError), match=message):
        read_resolver_or_table(str(tmp_path / "map.csv"), chunk=named[0], object_=named[1], version="1")


@pytest.mark.parametrize("version", [None, "7"])
def test_a_resolver_of_ours_says_its_version(tmp_path: Path, version: str | None) -> None:
    """Asked for by its own version or by none, it is taken; under another one it is not sealed."""
    (tmp_path / "r.jsonl").write_text('{"resolver_version": "7"}\n{"object_id": "a", "members": ["a#1"]}\n')
    assert read_resolver_or_table(str(tmp_path / "r.jsonl"), version=version)[0].version == "7"
    with pytest.raises(ConfigurationError, match=r"--resolver-version '8': .*r\.jsonl says '7'"):
        read_resolver_or_table(str(tmp_path / "r.jsonl"), version="8")
