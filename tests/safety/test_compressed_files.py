"""Lines of plain and compressed files."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from rop_otel.errors import InputError
from rop_otel.safety.compressed_files import read_lines

TEXT = b'{"a": 1}\n{"b": 2}\r\n\nlast'
LINES = [(1, b'{"a": 1}\n'), (2, b'{"b": 2}\r\n'), (3, b"\n"), (4, b"last")]


def framed(*parts: bytes) -> bytes:
    """Return what the collector's file exporter writes with compression: a length before each frame."""
    frames = [zstandard.compress(part) for part in parts]
    return b"".join(struct.pack(">I", len(frame)) + frame for frame in frames)


PACKED = {
    "plain": TEXT,
    "bom": b"\xef\xbb\xbf" + TEXT,
    "gzip": gzip.compress(TEXT),
    "gzip-members": gzip.compress(TEXT[:10]) + gzip.compress(TEXT[10:]),
    "zstd": zstandard.compress(TEXT),
    "zstd-skipped": b"\x5a\x2a\x4d\x18" + struct.pack("<I", 4) + b"size" + zstandard.compress(TEXT),
    "zstd-frames": zstandard.compress(TEXT[:10]) + zstandard.compress(TEXT[10:]),
}


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
def test_lines(tmp_path: Path, packed: bytes) -> None:
    """The lines are the same however the file is packed, whatever its name."""
    file = tmp_path / "traces"
    file.write_bytes(packed)
    assert list(read_lines(str(file))) == LINES


def test_requests_behind_their_length(tmp_path: Path) -> None:
    """Each compressed request of the collector's file exporter is a line."""
    file = tmp_path / "traces"
    file.write_bytes(framed(b'{"a": 1}', b'{"b": 2}'))
    assert list(read_lines(str(file))) == [(1, b'{"a": 1}\n'), (2, b'{"b": 2}\n')]


def test_large_frames(tmp_path: Path) -> None:
    """A frame much larger than what is taken in at a time gives the same lines."""
    text = b"".join(b"%d\n" % number for number in range(300_000))
    file = tmp_path / "traces"
    file.write_bytes(zstandard.compress(text))
    assert b"".join(line for _, line in read_lines(str(file))) == text


def outcome(file: Path) -> list[tuple[int, bytes]] | str:
    """Return the lines, or the message with which the file is refused."""
    try:
        return list(read_lines(str(file)))
    except InputError as error:
        return str(error).removeprefix(str(file))


@pytest.mark.parametrize("packed", [gzip.compress(TEXT), zstandard.compress(TEXT)], ids=["gzip", "zstd"])
def test_cut_short_at_every_byte(tmp_path: Path, packed: bytes) -> None:
    """A compressed file cut short anywhere is refused by file and line."""
    file = tmp_path / "traces"
    for length in range(4, len(packed)):
        file.write_bytes(packed[:length])
        assert outcome(file) in {f":{line}: the compressed data is cut short" for line in range(1, 5)}


def test_requests_behind_their_length_cut_short(tmp_path: Path) -> None:
    """So is a file of the collector's file exporter, except between its requests."""
    file = tmp_path / "traces"
    one, packed = framed(b"{}"), framed(b"{}", b"{}")
    for length in range(8, len(packed)):
        file.write_bytes(packed[:length])
        expected = (
            [(1, b"{}\n")] if length == len(one) else f":{1 + (length > len(one))}: the compressed data is cut short"
        )
        assert outcome(file) == expected


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(TEXT), zstandard.ZstdCompressor(write_checksum=True).compress(TEXT)],
    ids=["gzip", "zstd"],
)
def test_damaged_data(tmp_path: Path, packed: bytes) -> None:
    """Compressed data with a wrong byte in it is refused."""
    file = tmp_path / "traces"
    file.write_bytes(packed[:14] + b"\xff\xff\xff" + packed[17:])
    with pytest.raises(InputError, match="traces:1: the compressed data is damaged"):
        list(read_lines(str(file)))


@pytest.mark.parametrize(
    ("pack", "size", "most"),
    [(gzip.compress, 50_000_000, 1_000_000), (zstandard.compress, 200_000_000, 80_000_000)],
    ids=["gzip", "zstd"],
)
def test_a_longest_line(tmp_path: Path, pack: Callable[[bytes], bytes], size: int, most: int) -> None:
    """A line longer than the limit, out of a small file, is refused before it fills the memory."""
    file = tmp_path / "traces"
    file.write_bytes(pack(b"short\n" + bytes(size)))
    tracemalloc.start()
    with pytest.raises(InputError, match="traces:2: longer than 1,000 bytes"):
        list(read_lines(str(file), max_bytes=1000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < most


def test_what_is_no_file(tmp_path: Path) -> None:
    """A missing file, a directory and an impossible name are refused with the system's reason."""
    for name in ("missing", ".", "nul\0"):
        with pytest.raises(InputError, match="cannot be read: "):
            list(read_lines(f"{tmp_path}/{name}"))


def test_an_empty_file(tmp_path: Path) -> None:
    """An empty file has no lines."""
    file = tmp_path / "traces"
    file.write_bytes(b"")
    assert list(read_lines(str(file))) == []
