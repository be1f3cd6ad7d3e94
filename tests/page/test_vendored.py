"""What is copied from npm is what npm has, with its licence, and goes into the wheel."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from rop_otel.page.shell import script
from tests.page.vendoring import FOLDERS, PAGE, ROOT, TABLE, Package, table

NEVER = "innerHTML outerHTML insertAdjacentHTML dangerously document.write eval( Function( style=".split()
ASKING = ("fetch(", "EventSource", "XMLHttpRequest", "import(", "http:")


@pytest.mark.parametrize(("folder", "packages"), FOLDERS.items(), ids=lambda part: getattr(part, "name", None))
def test_the_files_are_those_of_the_table(folder: Path, packages: Sequence[Package]) -> None:
    """No file was edited, none is missing, and none lies there that the table does not name."""
    assert (folder / TABLE).read_text(encoding="utf-8") == table(folder, packages)
    named = {name for package in packages for name in package.copied}
    assert {path.name for path in folder.iterdir()} == {*named, TABLE}


@pytest.mark.parametrize(("folder", "packages"), FOLDERS.items(), ids=lambda part: getattr(part, "name", None))
def test_the_licences_are_there(folder: Path, packages: Sequence[Package]) -> None:
    """Each library comes with its own licence, which is the one that the table names."""
    signs = {
        "MIT": "Permission is hereby granted, free of charge",
        "Apache-2.0": "Apache License",
        "MPL-2.0": "Mozilla Public License",
    }
    for package in packages:
        assert signs[package.licence] in (folder / f"{package.name}.LICENSE").read_text(encoding="utf-8")


def test_every_script_is_named_once() -> None:
    """The page takes the scripts that ``scripts.txt`` names, and there are no others."""
    assets = Path(str(files("rop_otel.page") / "assets"))
    named = [line.split() for line in (assets / "scripts.txt").read_text(encoding="utf-8").splitlines()]
    there = {str(path.relative_to(assets)) for folder in ("app", "vendor") for path in (assets / folder).glob("*.js")}
    assert sorted(line[-1] for line in named) == sorted(there)
    assert {line[0] for line in named if len(line) > 1} == {"file", "served"}


def test_scripts_are_small_and_make_no_markup_of_text() -> None:
    """A script has at most 400 lines, and none takes text as markup or as code."""
    for path in PAGE.parent.glob("app/*.js"):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 400, path
        for never in NEVER:
            assert never not in text, (path, never)


def test_only_the_feed_of_a_server_asks_for_anything() -> None:
    """The scripts of a file load nothing."""
    for path in PAGE.parent.glob("app/*.js"):
        if path.name != "server_feed.js":
            text = path.read_text(encoding="utf-8")
            assert [each for each in ASKING if each in text] == [], path
    assert "EventSource" in script("served")
    assert "EventSource" not in script("file")


def test_the_assets_lie_in_the_package() -> None:
    """The wheel takes the whole package folder, so the page's files with it."""
    assert (ROOT / "pyproject.toml").read_text(encoding="utf-8").count('packages = ["rop_otel"') == 1
    assert PAGE.is_relative_to(ROOT / "rop_otel")
