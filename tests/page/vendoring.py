"""Copies files of npm packages into the repository: ``make page-vendor``.

npm itself fetches the tarballs, so that its own settings say from where; each has to have the SHA-512 that stands here.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "rop_otel" / "page" / "assets" / "vendor"
TESTS: Final = ROOT / "tests" / "page" / "vendor"
TABLE: Final = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What is taken from one npm package.

    Args:
        name, version, licence: As npm knows it.
        integrity: SHA-512 of its tarball, in base64.
        files: Name here to path within the package.
    """

    name: str
    version: str
    licence: str
    integrity: str
    files: dict[str, str]

    @property
    def copied(self) -> dict[str, str]:
        """Name here to path within the package, the licence included."""
        return self.files | {f"{self.name}.LICENSE": "LICENSE"}


FOLDERS: Final = {
    PAGE: (
        Package(
            name="preact",
            version="10.29.8",
            licence="MIT",
            integrity="ej2aVZ+vZ8WO7tvlQWRM9N63A0KzF9q4mWJfDUHgYaIofWY9hu74QdnQrjoPMmZi2/nZ5gN0bJCQF49xQqx09Q==",
            files={"preact.js": "dist/preact.min.umd.js", "preact-hooks.js": "hooks/dist/hooks.umd.js"},
        ),
        Package(
            name="htm",
            version="3.1.1",
            licence="Apache-2.0",
            integrity="983Vyg8NwUE7JkZ6NmOqpCZ+sh1bKv2iYTlUkzlWmA5JD2acKoxd4KVxbMmxX/85mtfdnDmTFoNKcg5DGAvxNQ==",
            files={"htm.js": "dist/htm.umd.js"},
        ),
    ),
    TESTS: (
        Package(
            name="axe-core",
            version="4.14.1",
            licence="MPL-2.0",
            integrity="FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
            files={"axe.js": "axe.min.js"},
        ),
    ),
}
"""What lies in which folder."""


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fetch(package: Package, folder: Path) -> None:
    """Copy a package's files into a folder.

    Raises:
        ValueError: The tarball is another one.
    """
    with tempfile.TemporaryDirectory() as scratch:
        command = ["npm", "pack", f"{package.name}@{package.version}", "--silent", "--pack-destination", scratch]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)
        (tarball,) = Path(scratch).glob("*.tgz")
        found = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
        if found != package.integrity:
            raise ValueError(f"{package.name} {package.version} has SHA-512 {found}, not {package.integrity}")
        with tarfile.open(tarball) as archive:
            for name, path in package.copied.items():
                member = archive.extractfile(f"package/{path}")
                if member is None:
                    raise ValueError(f"{package.name} {package.version} has no file {path!r}")
                (folder / name).write_bytes(member.read())


def table(folder: Path, packages: Sequence[Package]) -> str:
    """Return the table of what lies in a folder, in Markdown."""
    return "\n".join(_lines(folder, packages)) + "\n"


def _lines(folder: Path, packages: Sequence[Package]) -> Iterator[str]:
    yield "# Files of others"
    yield ""
    yield "Copied from npm packages by `make page-vendor` and committed. Do not edit them."
    yield ""
    yield "| package | version | licence | SHA-512 of the tarball |"
    yield "| --- | --- | --- | --- |"
    for package in packages:
        yield f"| {package.name} | {package.version} | {package.licence} | `{package.integrity}` |"
    yield ""
    yield "| file | of | path there | SHA-256 |"
    yield "| --- | --- | --- | --- |"
    for package in packages:
        for name, path in package.copied.items():
            yield f"| {name} | {package.name} | {path} | `{sha256(folder / name)}` |"


def main() -> None:
    """Fetch everything anew and write the tables."""
    for folder, packages in FOLDERS.items():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for package in packages:
            fetch(package, folder)
        (folder / TABLE).write_text(table(folder, packages), encoding="utf-8")


if __name__ == "__main__":
    main()
