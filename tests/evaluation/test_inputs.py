"""What a report says of its record files: their own names, and the size and hash of their bytes as stored."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped] # it ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # it ships no types
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rop_otel.core.profile.intake import Entry
from rop_otel.errors import InputError
from rop_otel.evaluation import record_files
from rop_otel.evaluation.record_files import evaluate_files, report_of
from tests.core.profile.declared import POPULATION, opened

RECORDS = [{"record_id": name, "selected": "obj-a", "ids": ["a#0"]} for name in POPULATION]
LINES = b"".join(json.dumps(record).encode() + b"\n" for record in RECORDS)
SKIPPED = b"\x50\x2a\x4d\x18" + (7).to_bytes(4, "little") + b"nothing"
"""A zstd frame that holds no data."""


STORED = {
    "plain": ("r.jsonl", LINES),
    "without a last LF": ("r.jsonl", LINES.rstrip(b"\n")),
    "empty": ("r.jsonl", b""),
    "gzip without its suffix": ("r", gzip.compress(LINES)),
    "gzip in two members": ("r.jsonl.gz", gzip.compress(LINES[:99]) + gzip.compress(LINES[99:])),
    "gzip and zeros": ("r.jsonl.gz", gzip.compress(LINES) + bytes(3_000_000)),
    "zstd": ("r.jsonl.zst", zstandard.ZstdCompressor().compress(LINES)),
    "zstd and empty frames": (
        "r.jsonl.zst",
        SKIPPED + zstandard.ZstdCompressor().compress(LINES) + SKIPPED * 10_000,
    ),
}


def named(name: str, data: bytes) -> dict[str, Any]:
    return {"file": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def inputs(*files: Path | str) -> Any:
    tally = evaluate_files(opened(), [str(file) for file in files])
    return report_of(opened(), tally).as_dict()["inputs"]


@pytest.mark.parametrize("worth_columns", [0, 10**9])
@pytest.mark.parametrize("kind", STORED)
def test_bytes_are_hashed_as_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, worth_columns: int
) -> None:
    """Compressed bytes, not what they hold, and all of them, also what stands behind the data."""
    name, data = STORED[kind]
    monkeypatch.setattr(record_files, "_WORTH_COLUMNS", worth_columns)
    (tmp_path / name).write_bytes(data)
    assert inputs(tmp_path / name) == [named(name, data)]


def test_parquet_is_hashed(tmp_path: Path) -> None:
    """The whole file, beside the columns that are read; one that changes while it is read is an error."""
    file = tmp_path / "r.parquet"
    pq.write_table(pa.Table.from_pylist([{**record, "more": "x" * 100} for record in RECORDS]), file)
    assert inputs(file) == [named("r.parquet", file.read_bytes())]

    def grow(_: Entry) -> None:
        with file.open("ab") as stream:
            stream.write(b" ")

    with pytest.raises(InputError, match="changed while it was read"):
        evaluate_files(opened(), [str(file)], keep=grow)


def test_standard_input_and_pipes_are_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes through them is taken in while it is read."""
    packed = gzip.compress(LINES)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(packed))))
    assert inputs("-") == [named("-", packed)]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(LINES,))
    writer.start()
    assert inputs(pipe) == [named("pipe", LINES)]
    writer.join()


def test_files_are_named_without_their_folder(tmp_path: Path) -> None:
    """In order of name, then hash, whatever folder they are in; a file that is given twice is named twice."""
    contents = {"b/r": b"1\n", "a/r": b"2\n", "a/q": b"3\n"}
    for name, data in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    expected = [named(Path(name).name, data) for name, data in contents.items()] + [named("q", b"3\n")]
    found = inputs(*(tmp_path / name for name in contents), tmp_path / "a" / ".." / "a" / "q")
    assert found == sorted(expected, key=lambda each: (each["file"], each["sha256"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=300),
    repeat=st.sampled_from([1, 1000, 20_000]),
    pack=st.sampled_from([bytes, gzip.compress, zstandard.ZstdCompressor().compress]),
)
def test_any_bytes_are_hashed_or_refused(
    tmp_path: Path, data: bytes, repeat: int, pack: Callable[[bytes], bytes]
) -> None:
    """Whatever a file holds, a report names exactly that."""
    stored = pack(data * repeat)
    (tmp_path / "r").write_bytes(stored)
    try:
        found = inputs(tmp_path / "r")
    except InputError:
        return
    assert found == [named("r", stored)]
