"""What no verb survives by luck: endless files, files that grow, and files that are none."""

from __future__ import annotations

import base64
import functools
import gzip
import io
import json
import os
import resource
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from rop_otel.cli.main import main
from tests.cli.sealed import DECLARATION, declared, run

PROGRAM = "from rop_otel.cli.main import main; main()"
MEBIBYTE = 1 << 20
Pack = Callable[[bytes, int], bytes]

MEMORY = 1536 * MEBIBYTE
"""Address space of a verb that reads a bomb; numpy and the like take some 700 MiB of it without any."""


def bounded(*arguments: str | Path, pipe: str = "") -> tuple[int, str]:
    """Run a verb in bounded memory, behind a shell's pipe if one is named; return its exit code and standard error."""
    command = f'{pipe and f"{pipe} | "}"$0" -c "{PROGRAM}" "$@"'
    found = subprocess.run(
        ["/bin/bash", "-c", command, sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    return found.returncode, found.stderr


def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Run a verb here, which is quicker; return its exit code and standard error."""
    monkeypatch.setattr(sys, "argv", ["rop-otel", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code, capsys.readouterr().err


def one_line(found: tuple[int, str]) -> str:
    """Return the one line with which a verb refused something."""
    assert (found[0], found[1].count("\n")) == (2, 1), found
    assert "not enough memory" not in found[1]
    return found[1].removeprefix("rop-otel: ").rstrip("\n")


READING = {
    "replay": ["replay", "{}"],
    "resolver": ["replay", "spans.json", "--resolver", "{}"],
    "declaration": ["replay", "spans.json", "--declaration", "{}"],
    "records": ["evaluate", DECLARATION, "--records", "{}"],
    "evaluated": ["evaluate", "{}", "--records", "records.jsonl"],
    "explained": ["explain", DECLARATION, "--records", "{}", "--record", "run_alpha"],
    "merged": ["merge", "{}"],
    "merged under": ["merge", "one.part", "--declaration", "{}"],
    "declared": [
        "declare",
        "new",
        *"--interface i --component c --selection s --returned r".split(),
        "--cutoff",
        "1",
        "--authority",
        "a",
        "--mode",
        "soft",
        "--resolver",
        "{}",
    ],
}


@pytest.fixture
def files(place: Path) -> Path:
    """Return the current folder with a declared run, its part and spans."""
    run("evaluate", declared(), "--records", "records.jsonl", "--partial", "--report", "one.part")
    (place / "spans.json").write_text('{"resourceSpans": []}')
    (place / "folder").mkdir()
    os.mkfifo(place / "pipe")
    return place


@pytest.mark.parametrize("verb", READING)
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "pipe", "folder", "missing"])
def test_what_is_no_file(
    files: Path, verb: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A device, a pipe that nobody writes to, a folder and nothing at all are said in one line."""
    monkeypatch.setattr("rop_otel.safety.files._PATIENCE", 0.2)
    said = one_line(in_process(monkeypatch, capsys, *(each.format(name) for each in READING[verb])))
    assert said.startswith(f"{name}: ")
    assert ("is no regular file" in said) == (name in ("/dev/zero", "/dev/null", "pipe"))


@pytest.mark.parametrize("verb", ["replay", "resolver", "records", "explained", "declared"])
@pytest.mark.parametrize("source", ["cat /dev/zero", "yes"])
def test_a_pipe_without_an_end(files: Path, verb: str, source: str) -> None:
    """What comes without end is refused at a limit, which may be lower than the usual one."""
    low = ["--max-file-bytes", "100000000"] if verb in ("resolver", "declared") else []
    low = ["--max-anomalies", "1000"] if verb == "records" else low
    low = ["--max-unpacked-bytes", "10000000"] if verb == "explained" else low
    said = one_line(bounded(*(each.format("/dev/stdin") for each in READING[verb]), *low, pipe=source))
    assert said.startswith("/dev/stdin:")


def test_what_a_shell_hands_over_is_read(files: Path) -> None:
    """A process substitution is a file like any other, for a part as well, which is read more than once."""
    reads = (
        (["evaluate", DECLARATION, "--records", "records.jsonl"], "records.jsonl"),
        (["replay", "spans.json", "--resolver", "sealed/resolver.json"], "spans.json"),
        (["replay", "spans.json", "--resolver", "sealed/resolver.json"], "sealed/resolver.json"),
        (["merge", "one.part", "--format", "json"], "one.part"),
    )
    for arguments, file in reads:
        plain = " ".join(f"'{each}'" for each in arguments)
        outputs = []
        for words in (plain, plain.replace(f"'{file}'", f"<(cat {file})")):
            command = f'"$0" -c "{PROGRAM}" {words}'
            found = subprocess.run(
                ["/bin/bash", "-c", command, sys.executable],
                capture_output=True,
                timeout=120,
                check=False,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            outputs.append((found.returncode, found.stdout, found.stderr))
        assert outputs[0] == outputs[1]
        assert outputs[0][2] == b""


def packed_gzip(unit: bytes, times: int) -> bytes:
    """Return a unit many times over, packed with gzip."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=1) as packer:
        for _ in range(times):
            packer.write(unit)
    return stream.getvalue()


def packed_gzip_members(unit: bytes, times: int) -> bytes:
    """Return it as members of its own."""
    return gzip.compress(unit) * times


def packed_zstd(unit: bytes, times: int) -> bytes:
    """Return it packed with zstd."""
    packer = zstandard.ZstdCompressor().compressobj()
    return b"".join([*(packer.compress(unit) for _ in range(times)), packer.flush()])


def packed_zstd_frames(unit: bytes, times: int) -> bytes:
    """Return it as frames of its own."""
    return zstandard.compress(unit) * times


@functools.cache
def two_gigabytes(pack: Pack) -> bytes:
    """Return a line of as many spaces, packed: once, since that takes seconds."""
    return pack(b" " * MEBIBYTE, 2048)


@pytest.mark.parametrize("pack", [packed_gzip, packed_gzip_members, packed_zstd, packed_zstd_frames])
@pytest.mark.parametrize("verb", ["replay", "records", "explained"])
def test_a_small_file_that_grows(files: Path, verb: str, pack: Pack) -> None:
    """What unpacks to more than the limit is refused by it, in bounded memory; a limit that suffices is obeyed."""
    (files / "bomb").write_bytes(pack(b'{"record_id": "run_alpha"}\n'.ljust(1000, b" ") * 100, 100))
    option = "--max-file-bytes" if verb == "replay" else "--max-unpacked-bytes"
    arguments = [each.format("bomb") for each in READING[verb]]
    if verb == "replay":
        (files / "bomb").write_bytes(pack((b'{"resourceSpans": []}' + b" " * 1000 + b"\n") * 100, 100))
    said = one_line(bounded(*arguments, option, "1000000"))
    assert said == f"bomb: holds more than 1,000,000 bytes; raise {option} to read it"
    assert bounded(*arguments, option, "20000000")[1] == ""


@pytest.mark.parametrize("pack", [packed_gzip, packed_zstd])
@pytest.mark.parametrize("verb", READING)
def test_a_line_that_grows(files: Path, verb: str, pack: Pack) -> None:
    """A line of two gigabytes in a small file costs no verb more than its memory."""
    (files / "bomb").write_bytes(two_gigabytes(pack))
    code, said = bounded(*(each.format("bomb") for each in READING[verb]))
    assert code in (2, 4), said
    assert said.count("\n") == (code == 2)
    assert "not enough memory" not in said


def test_bitmaps_that_grow(files: Path) -> None:
    """Two bitmaps of a megabyte, which a gigabyte each comes out of, take no memory, whatever the declaration is."""
    head, numbers, *records = (files / "one.part").read_text().splitlines(keepends=True)
    packer = zlib.compressobj(9)
    bomb = base64.b64encode(b"".join(packer.compress(bytes(MEBIBYTE)) for _ in range(1400)) + packer.flush()).decode()
    shape = {**json.loads(numbers), "seen": bomb, "repeated": bomb}
    (files / "bomb.part").write_text(head + json.dumps(shape) + "\n" + "".join(records))
    assert "a bitmap is cut short or too large" in one_line(bounded("merge", "bomb.part"))
    (files / "sealed" / "population.txt").unlink()
    assert "a bitmap is cut short or too large" in one_line(bounded("merge", "bomb.part"))


def test_an_id_without_end_is_given_twice(files: Path) -> None:
    """A list that unpacks to one ID over and over is refused at the second one."""
    (files / "ids.gz").write_bytes(packed_gzip(b"same\n" * 200_000, 200))
    declare = ["declare", "other", *READING["declared"][2:-1], "sealed/resolver.json", "--population", "ids.gz"]
    assert one_line(bounded(*declare)) == "ids.gz: no population: 'same' is given twice"


def test_a_table_is_held_to_the_limit(files: Path) -> None:
    """A table of chunks in CSV, and an inverse map, are no larger than what may be held in memory."""
    table = ["--chunk-column", "chunk", "--object-column", "object", "--resolver-version", "1"]
    arguments = [*(each.format("map.csv") for each in READING["declared"]), *table, "--max-file-bytes", "10"]
    assert one_line(bounded(*arguments)) == "map.csv: holds more than 10 bytes; raise --max-file-bytes to read it"
    witness = ["--witness-hash", "h", "--inverse-map", "/dev/zero"]
    arguments = [*(each.format("sealed/resolver.json") for each in READING["declared"]), *witness]
    assert one_line(bounded(*arguments)) == "/dev/zero: is no regular file but a device"


BROKEN = {
    "nested": b"[" * 1_000_000,
    "nested objects": b'{"a":' * 100_000,
    "a key twice": b'{"resolver_version":"1","resolver_version":"1","objects":{}}',
    "no number": b'{"resolver_version":NaN,"objects":{}}',
    "no UTF-8": b'{"resolver_version":"\xff"}',
    "a byte order mark": b'\xef\xbb\xbf{"resolver_version":"1","objects":{}}',
    "null bytes": b"{}\0\0\0",
    "digits": b'{"resolver_version":' + b"9" * 5000 + b"}",
    "half a pair": b'{"resolver_version":"\\ud800","objects":{}}',
    "empty": b"",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_no_document(
    files: Path, data: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON that is broken in any way is one line, or a report that says so, whatever it is given as."""
    (files / "broken.json").write_bytes(data)
    for name, arguments in READING.items():
        code, said = in_process(monkeypatch, capsys, *(each.format("broken.json") for each in arguments))
        assert "Traceback" not in said, name
        assert said.count("\n") == (code == 2), (name, said)
        assert code in (0, 2, 3, 4), (name, said)
