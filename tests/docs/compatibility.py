"""The table of framework versions, from the packages' own files; run as a module, writes it into its document."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.version import Version

from tests.docs.tables import ROOT

DOCUMENT: Final = ROOT / "docs" / "frameworks" / "compatibility.md"
BEGIN: Final = "<!-- versions: `python -m tests.docs.compatibility` writes these lines -->\n"
END: Final = "<!-- /versions -->\n"
HEAD: Final = ("package", "framework", "versions", "oldest tested", "newest tested", "Python")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """An instrumentation package, as it describes itself.

    Args:
        folder: Where it is.
        name: Of its distribution.
        framework: What it watches, and in which versions.
        python: The Python versions that it runs on.
        oldest: The oldest version of the framework that its tests run with.
    """

    folder: Path
    name: str
    framework: Requirement
    python: str
    oldest: str

    @property
    def newest(self) -> str:
        """The version of the framework that the tests of this project run with."""
        return pinned()[self.framework.name]

    @property
    def code_versions(self) -> list[str]:
        """The versions that its code accepts."""
        trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(self.folder.glob("rop_otel_*/**/*.py"))]
        return [
            ast.literal_eval(node.value)
            for tree in trees
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "VERSIONS" and node.value is not None
        ]


def read(folder: Path) -> Package:
    """Return the package in a folder."""
    described = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    project = described["project"]
    ((framework,),) = (map(Requirement, extra) for extra in project["optional-dependencies"].values())
    oldest = dict(each.split("==") for each in described["dependency-groups"]["oldest"])
    return Package(
        folder=folder,
        name=project["name"],
        framework=framework,
        python=project["requires-python"],
        oldest=oldest[framework.name],
    )


def packages() -> list[Package]:
    """Return every instrumentation package, by name."""
    return [read(path.parent) for path in sorted((ROOT / "instrumentation").glob("*/pyproject.toml"))]


def pinned() -> dict[str, str]:
    """Return the exact versions that the tests are installed with."""
    lines = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8").splitlines()
    return dict(found.groups() for line in lines if (found := re.match(r"([a-z0-9.-]+)==([^ ;]+)", line)))  # type: ignore[misc]


def render(found: list[Package]) -> str:
    """Return the table.

    >>> render([]).splitlines()[0]
    '| package | framework | versions | oldest tested | newest tested | Python |'
    """
    rows = [HEAD, ("---",) * len(HEAD), *map(_row, found)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(package: Package) -> tuple[str, ...]:
    versions = ",".join(sorted(map(str, package.framework.specifier), reverse=True))
    return (
        f"[`{package.name}`](../../instrumentation/{package.folder.name})",
        f"`{package.framework.name}`",
        f"`{versions}`",
        package.oldest,
        package.newest,
        f"`{package.python}`",
    )


def within(package: Package, version: str) -> bool:
    """Tell whether a version of the framework is one that the package declares."""
    return package.framework.specifier.contains(Version(version), prereleases=True)


def written(markdown: str) -> str:
    """Return the table that stands in a document."""
    return markdown.partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    DOCUMENT.write_text(before + BEGIN + render(packages()) + END + rest.partition(END)[2], encoding="utf-8")
