"""Frozen rankings as the deletion study and the export need them, checked against their manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rop_otel.errors import InputError
from rop_otel.safety.digested_files import digest_of
from rop_otel.safety.files import input_errors
from rop_otel.study.json_rows import read_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenLists:
    """A folder of frozen rankings.

    Args:
        folder: Where it is.
        manifest: The content of ``manifest.json``.
        manifest_sha256: The hash of that file.
    """

    folder: Path
    manifest: dict[str, Any]
    manifest_sha256: str

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of one of its files, once that has the bytes that the manifest names.

        Raises:
            InputError: The manifest does not name it, or it changed since.
        """
        file = str(self.folder / name)
        named = next((each for each in self.manifest["outputs"] if each["name"] == name), None)
        if named is None:
            raise InputError(f"holds no {name}: {self._ranked()}", file=str(self.folder))
        with input_errors(file):
            found = digest_of(file)
        if (found.bytes, found.sha256) != (named["bytes"], named["sha256"]):
            raise InputError("changed since its manifest was written", file=file)
        return (fields for _, fields in read_rows(file))

    def ranking(self, form: str, rule: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of one query form and rule.

        Raises:
            InputError: It was not ranked, or changed since.
        """
        return self.rows(f"rankings/{form}.{rule.replace(':', '+')}.jsonl")

    def _ranked(self) -> str:
        names = [each["name"] for each in self.manifest["outputs"] if each["name"].startswith("rankings/")]
        return "it holds " + (", ".join(name.removeprefix("rankings/") for name in names) or "no rankings")


def open_frozen(folder: Path) -> FrozenLists:
    """Open a folder that ``rop-otel study rank`` wrote.

    Raises:
        InputError: It has no manifest that can be read.
    """
    file = folder / "manifest.json"
    with input_errors(str(file)):
        digest = digest_of(str(file))
        manifest = json.loads(file.read_bytes())
    outputs = manifest.get("outputs") if isinstance(manifest, dict) else None
    if not isinstance(outputs, list) or not all(
        isinstance(each, dict) and {"name", "bytes", "sha256"} <= each.keys() for each in outputs
    ):
        raise InputError("is no manifest of frozen rankings", file=str(file))
    return FrozenLists(folder=folder, manifest=manifest, manifest_sha256=digest.sha256)
