"""Record files and declarations on disk: every way in, and everything that a file can do to its reader."""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.sealing import DECLARATION_FILE
from rop_otel.errors import InputError
from rop_otel.evaluation.declaration_reader import read_declaration
from rop_otel.evaluation.external_sort import ExternalSort
from rop_otel.evaluation.limits import Limits
from rop_otel.evaluation.record_files import EvaluationOptions, evaluate_files, report_of
from tests.core.profile.declared import POPULATION, files, opened

PASSING = [json.dumps({"record_id": name, "selected": "obj-a", "ids": ["a#0"]}).encode() for name in POPULATION]
COMPLETE = b"\n".join(PASSING) + b"\n"
MEBIBYTE = 1024 * 1024


def folder_of(place: Path, found: dict[str, bytes] | None = None) -> Path:
    for name, data in (found or files()).items():
        (place / name).write_bytes(data)
    return place / DECLARATION_FILE


def status(names: list[str], declaration: Opened | None = None, **options: Any) -> str:
    found = declaration or opened()
    return str(report_of(found, evaluate_files(found, names, options=EvaluationOptions(**options))).run_status)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("name", ["records.jsonl", "records.gz", "records.zst"])
def test_compressed_files_are_read(tmp_path: Path, pack: Callable[[bytes], bytes], name: str) -> None:
    """Plain, gzip and zstd give the same run, told by content; a name that promises compression is held to it."""
    (tmp_path / name).write_bytes(pack(COMPLETE))
    if pack is bytes and name != "records.jsonl":
        with pytest.raises(InputError, match="no compressed data"):
            status([str(tmp_path / name)])
    else:
        assert status([str(tmp_path / name)]) == "RUN_PASS"


def test_several_files_and_patterns_are_one_run(tmp_path: Path) -> None:
    """Files are read in turn, a pattern sorted; where one is given twice its records are duplicates."""
    for number, line in enumerate(PASSING):
        (tmp_path / f"{number}.jsonl").write_bytes(line)
    assert status([str(tmp_path / "*.jsonl")]) == "RUN_PASS"
    assert status([str(tmp_path / "[01].jsonl"), str(tmp_path / "2.jsonl")]) == "RUN_PASS"
    assert status([str(tmp_path / "*.jsonl"), str(tmp_path / "2.jsonl")]) == "RUN_INVALID"
    with pytest.raises(InputError, match="matches no file"):
        status([str(tmp_path / "*.gz")])


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash is standard input, compressed or not."""
    for data in (COMPLETE, gzip.compress(COMPLETE)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
        assert status(["-"]) == "RUN_PASS"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_truncated_file_is_an_error(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Wherever compressed data is cut there is an error and no report."""
    name = tmp_path / ("r.gz" if pack is gzip.compress else "r.zst")
    whole = pack(COMPLETE * 50)
    for length in (0, 1, 3, 5, len(whole) // 2, len(whole) - 1):
        name.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"cut short|no compressed data|damaged"):
            status([str(name)])


@pytest.mark.parametrize("number", range(1, 8))
def test_blocks_change_nothing(tmp_path: Path, number: int) -> None:
    """Lines longer than a block, and files without a last LF, are read like any other."""
    long = json.dumps({"record_id": "r1", "selected": "obj-a", "ids": ["a#0"], "x": "y" * 300_000 * number}).encode()
    (tmp_path / "r.jsonl").write_bytes(b"\n".join([long, *PASSING[1:]]))
    assert status([str(tmp_path / "r.jsonl")]) == "RUN_PASS"


def test_a_long_line_is_an_error_that_names_the_limit(tmp_path: Path) -> None:
    """A line past the limit ends the reading at once, with the setting that raises it."""
    (tmp_path / "r.jsonl").write_bytes(PASSING[0] + b"\n" + b" " * (100 * MEBIBYTE))
    with pytest.raises(InputError, match=r"r\.jsonl:2: longer than 16,777,216 bytes; raise --max-line-bytes"):
        status([str(tmp_path / "r.jsonl")])


def test_many_anomalies_are_an_error_that_names_the_limit(tmp_path: Path) -> None:
    """Malformed lines and unexpected IDs are listed up to a limit."""
    (tmp_path / "r.jsonl").write_bytes(b"\n" * 6 + b'{"record_id":"x"}\n' * 3)
    limits = Limits(max_anomalies=6)
    with pytest.raises(InputError, match=r"more than 6 .* raise --max-anomalies"):
        status([str(tmp_path / "r.jsonl")], limits=limits)
    assert status([str(tmp_path / "r.jsonl")], limits=Limits(max_anomalies=7)) == "RUN_INVALID"


@pytest.mark.parametrize("content", [b"\n", b"0", b'{"record_id":"r1"}\n'])
@pytest.mark.parametrize("name", ["bomb.gz", "bomb.zst"])
def test_a_bomb_is_bounded(tmp_path: Path, name: str, content: bytes) -> None:
    """A small file that unpacks to a large one meets a limit or is read in a stream; memory stays where it was."""
    step = content * (MEBIBYTE // len(content) // (10 if content.startswith(b"{") else 1))
    if name.endswith(".gz"):
        with gzip.open(tmp_path / name, "wb", compresslevel=1) as packed:
            for _ in range(64):
                packed.write(step)
    else:
        (tmp_path / name).write_bytes(zstandard.ZstdCompressor().compress(step * 64))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    limits = Limits(max_anomalies=10_000)
    if content.startswith(b"{"):
        assert status([str(tmp_path / name)], limits=limits) == "RUN_INVALID"
    else:
        with pytest.raises(InputError, match="raise --max"):
            status([str(tmp_path / name)], limits=limits)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024
    assert time.process_time() - started < 60


def test_a_file_that_grows_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    """Whoever evaluates a file that is still being written is told, instead of given a report."""
    name = tmp_path / "r.jsonl"
    name.write_bytes(COMPLETE)

    def grow(_: Entry) -> None:
        with name.open("ab") as stream:
            stream.write(b" ")

    with pytest.raises(InputError, match="changed while it was read"):
        evaluate_files(opened(), [str(name)], keep=grow)


@pytest.mark.parametrize("name", ["none.jsonl", ".", "a\0b", "x" * 5000])
def test_a_file_that_is_not_there_is_an_error(tmp_path: Path, name: str) -> None:
    """A missing file, a folder and an impossible name are usage errors."""
    with pytest.raises(InputError):
        status([str(tmp_path / name)])


def test_a_declaration_is_read_with_its_files(tmp_path: Path) -> None:
    """The files beside a declaration are found from its resolved place, also through a link to it."""
    (tmp_path / "sealed").mkdir()
    place = folder_of(tmp_path / "sealed")
    (tmp_path / "link.json").symlink_to(place)
    assert read_declaration(str(place)).faults == ()
    assert read_declaration(str(tmp_path / "link.json")).faults == ()


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """A named pipe is a record file like any other: nothing of it is lost to a look at its kind."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(COMPLETE,))
    writer.start()
    assert status([str(pipe)]) == "RUN_PASS"
    writer.join()


def test_files_stay_inside_the_folder(tmp_path: Path) -> None:
    """A link out of the folder, a pipe and a folder are faults; a link inside it is fine."""
    sealed = tmp_path / "sealed"
    sealed.mkdir()
    place = folder_of(sealed)
    resolver = sealed / "resolver.json"
    resolver.rename(tmp_path / "elsewhere.json")
    resolver.symlink_to(tmp_path / "elsewhere.json")
    assert [fault.code for fault in read_declaration(str(place)).faults] == ["file_outside"]
    resolver.unlink()
    assert [fault.code for fault in read_declaration(str(place)).faults] == ["file_missing"]
    resolver.symlink_to(resolver)
    assert [fault.code for fault in read_declaration(str(place)).faults] == ["file_unreadable"]
    resolver.unlink()
    os.mkfifo(resolver)
    assert [fault.code for fault in read_declaration(str(place)).faults] == ["file_not_regular"]
    resolver.unlink()
    resolver.mkdir()
    assert {fault.code for fault in read_declaration(str(place)).faults} <= {"file_not_regular", "file_unreadable"}
    resolver.rmdir()
    (tmp_path / "elsewhere.json").rename(sealed / "real.json")
    resolver.symlink_to("real.json")
    assert read_declaration(str(place)).faults == ()


def test_large_files_are_faults_that_name_the_limit(tmp_path: Path) -> None:
    """A file past the limit is not held in memory."""
    place = folder_of(tmp_path)
    size = place.stat().st_size
    (tmp_path / "resolver.json").write_bytes(b" " * (size + 1))
    found = read_declaration(str(place), limits=Limits(max_file_bytes=size))
    assert [fault.code for fault in found.faults] == ["file_too_large"]
    assert "--max-file-bytes" in found.faults[0].message
    with pytest.raises(InputError, match="--max-file-bytes"):
        read_declaration(str(place), limits=Limits(max_file_bytes=size - 1))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.data())
def test_damaged_input_never_passes(tmp_path: Path, data: st.DataObject) -> None:
    """Any byte changed, cut or added in any file: a report or one clear error, and PASS only where nothing decides."""
    found = files()
    place = folder_of(tmp_path, found)
    (tmp_path / "records.jsonl").write_bytes(COMPLETE)
    name = data.draw(st.sampled_from([*found, "records.jsonl"]))
    whole = (tmp_path / name).read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    piece = data.draw(st.sampled_from([b"", b"\0", b"\xff", b"\n", b"\r", b"{", b'"', b"9" * 5000, b"[" * 5000]))
    cut = data.draw(st.sampled_from([0, 1, len(whole)]))
    damaged = whole[:at] + piece + whole[at + cut :]
    (tmp_path / name).write_bytes(damaged)
    try:
        result = status([str(tmp_path / "records.jsonl")], read_declaration(str(place)))
    except InputError:
        return
    if name == DECLARATION_FILE:
        assert result == "RUN_INVALID" or _same_meaning(whole, damaged)
    elif name != "records.jsonl":
        assert result == "RUN_INVALID" or damaged == whole
    else:
        assert (
            result != "RUN_PASS"
            or {line.strip() for line in damaged.split(b"\n")} - {b""} == set(PASSING)
            or (b'"ids": ["a#0"]' in damaged)
        )


def _same_meaning(one: bytes, other: bytes) -> bool:
    """Whether documents differ in the declaration's name at most: everything else is sealed or stands twice."""
    return bool({**json.loads(one), "declaration_id": ""} == {**json.loads(other), "declaration_id": ""})


def test_records_come_in_order_whatever_the_memory(tmp_path: Path) -> None:
    """Sorted by record ID by code point, equal ones by file, then line; the runs on disk change nothing."""
    entries = [
        Entry(record_id, file, line, "PASS", 1, "obj", "because")
        for record_id in ("b", "a", "é", "Z")
        for file in ("2", "1")
        for line in (10, 9)
    ]
    with ExternalSort(run=3) as external, ExternalSort() as whole:
        for entry in entries:
            external.add(entry)
            whole.add(entry)
        assert list(external) == list(whole) == sorted(entries)
        assert list(external) == sorted(entries)
