"""The files of a folder of frozen rankings, each held against the manifest before anything of it is used."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from rop_otel.errors import InputError
from rop_otel.safety.files import read_whole

MANIFEST_FILE: Final = "manifest.json"
QUESTIONS_FILE: Final = "questions.jsonl"
PAGES_FILE: Final = "pages.jsonl"
CORPUS_FILE: Final = "corpus.json"

_FORMAT: Final = 1
_REDO: Final = "write the rankings again with rop-otel study rank"
_T = TypeVar("_T")


class Output(msgspec.Struct, frozen=True):
    """A file of the folder, as the manifest has it."""

    name: str
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """What a folder of frozen rankings says of itself.

    Args:
        format: The version of the folder's layout.
        depth: How deep every list is stored.
        forms: The query forms, in order.
        rules: The handoff rules, in order.
        planned: How many rows were planned.
        outputs: Every other file.
        notes: What whoever made the rankings has to say of them.
    """

    format: int
    depth: int
    forms: tuple[str, ...]
    rules: tuple[str, ...]
    planned: int
    outputs: tuple[Output, ...]
    notes: tuple[str, ...] = ()


class FrozenFiles:
    """Reads the files of a folder.

    Args:
        folder: Its name.

    Attributes:
        manifest: What it says of itself.
        sha256: SHA-256 of the manifest's bytes: it stands for the whole folder.

    Raises:
        InputError: There is no manifest, or it is none of a version that is known.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        place = os.path.join(folder, MANIFEST_FILE)
        if not os.path.isdir(folder):
            raise InputError("is no folder of frozen rankings", file=folder)
        if not os.path.exists(place):
            raise InputError(f"holds no {MANIFEST_FILE}, so its rankings are not complete; {_REDO}", file=folder)
        data = read_whole(place)
        self.manifest = decode(data, Manifest, file=place)
        self.sha256 = hashlib.sha256(data).hexdigest()
        if self.manifest.format != _FORMAT:
            raise InputError(f"is of format {self.manifest.format}, and only {_FORMAT} is known", file=place)
        if self.manifest.depth < 1:
            raise InputError(f"lists cannot be stored to depth {self.manifest.depth}", file=place)
        for each in self.manifest.outputs:
            if not _is_inside(each.name):
                raise InputError(f"lists {each.name!r}, which is no file within the folder", file=place)
        self._outputs: Mapping[str, Output] = {each.name: each for each in self.manifest.outputs}

    def __contains__(self, name: str) -> bool:
        return name in self._outputs

    def place(self, name: str) -> str:
        """Return where a file lies."""
        return os.path.join(self.folder, *name.split("/"))

    def read(self, name: str) -> bytes:
        """Return a file's bytes, which are those that the manifest was written for.

        Args:
            name: As the manifest has it; parts are divided by ``/``.

        Raises:
            InputError: The manifest does not list it, it is missing, or it has changed.
        """
        place, listed = self.place(name), self._outputs.get(name)
        if listed is None:
            raise InputError(f"lists no {name}; {_REDO}", file=self.place(MANIFEST_FILE))
        if not os.path.exists(place):
            raise InputError(f"is missing, though the manifest lists it; {_REDO}", file=place)
        data = read_whole(place)
        if len(data) != listed.bytes or hashlib.sha256(data).hexdigest() != listed.sha256:
            why = f"it holds {len(data)} bytes where {listed.bytes} are listed"
            if len(data) == listed.bytes:
                why = "its SHA-256 is another one"
            raise InputError(f"has changed since its manifest was written ({why}); {_REDO}", file=place)
        return data

    def lines(self, name: str) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each line of a file, from 1 on, and the line without its LF.

        Raises:
            InputError: As for :meth:`read`.
        """
        lines = self.read(name).split(b"\n")
        if not lines[-1]:
            lines.pop()
        yield from enumerate(lines, 1)


def _is_inside(name: str) -> bool:
    return "\\" not in name and "\0" not in name and not {"", ".", ".."} & {*name.split("/")}


def decode(data: bytes, kind: type[_T], *, file: str, line: int | None = None) -> _T:
    """Return JSON as a value of a type.

    Raises:
        InputError: It is none; the message says where.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=file, line=line) from None


def decode_object(data: bytes, *, file: str, line: int | None = None) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        InputError: It is none.
    """
    found: dict[str, Any] = decode(data, dict[str, Any], file=file, line=line)
    return found
