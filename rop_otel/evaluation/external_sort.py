"""The records of a report in order, in bounded memory: sorted runs on disk, merged when they are read."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from operator import itemgetter
from types import TracebackType
from typing import IO, Final, Self

from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.json_values import decode, encode

_RUN: Final = 100_000
"""Records held in memory before they are sorted and written to disk."""

in_order: Final = itemgetter(0, 1, 2)
"""Key of the order of a report: record ID, file name, line."""


class ExternalSort:
    """Takes records in any order and gives them back by record ID, file name and line, as often as asked."""

    def __init__(self, *, run: int = _RUN) -> None:
        self._run = run
        self._held: list[Entry] = []
        self._files = ExitStack()
        self._runs: list[IO[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._files.close()

    def add(self, entry: Entry) -> None:
        """Keep a record."""
        self._held.append(entry)
        if len(self._held) >= self._run:
            self._write_run()

    def __iter__(self) -> Iterator[Entry]:
        self._held.sort(key=in_order)
        return heapq.merge(*map(self._read, self._runs), self._held, key=in_order)

    def _write_run(self) -> None:
        self._held.sort(key=in_order)
        stream = self._files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 # closed with the others
        stream.writelines(self._lines(self._held))
        self._runs.append(stream)
        self._held = []

    def _lines(self, entries: Iterable[Entry]) -> Iterator[bytes]:
        for entry in entries:
            yield encode(entry) + b"\n"

    def _read(self, stream: IO[bytes]) -> Iterator[Entry]:
        stream.seek(0)
        return (decode(line, Entry) for line in stream)
