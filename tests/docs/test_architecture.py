"""The map says what is there."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.conftest import ROOT

MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
BLOCKS = [block.strip().splitlines() for block in re.findall(r"```\n(.*?)```", MAP, re.DOTALL)]
CONTRACTS = {
    each["id"]: each
    for each in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}
PLACE = re.compile(r"<\w+>")


@pytest.mark.parametrize(("number", "contract"), list(enumerate(["rooms", "core-rooms", "tracing-rooms"])))
def test_layers_are_those_of_the_import_contracts(number: int, contract: str) -> None:
    """Each list of layers is what import-linter holds."""
    assert BLOCKS[number] == CONTRACTS[contract]["layers"]


def test_every_room_is_on_the_map() -> None:
    """Each file and folder of the package, and each folder within core, tracing and spans, has its row."""
    named = set(re.findall(r"`([\w/.]+)`", MAP.partition("## Who may import whom")[0]))
    package = ROOT / "rop_otel"
    rooms = [each for each in package.iterdir() if each.suffix == ".py" or (each / "__init__.py").exists()]
    for room in ("core", "tracing", "spans"):
        rooms += [each.parent for each in (package / room).glob("*/__init__.py")]
    found = {str(each.relative_to(package)) + ("/" if each.is_dir() else "") for each in rooms}
    assert found - {"__init__.py"} <= named


def paths() -> list[str]:
    """Return what looks like a path of the checkout in the table of changes, and in the pictures."""
    table = re.findall(r"`((?:rop_otel|grafana|docs|tests|instrumentation)/[^`\s]+)`", MAP)
    pictures = re.findall(
        r"\b((?:tracing|core|meters|spans|export|replay|runs|evaluation|cli|instrumenting)/[\w/]+\.py)", MAP
    )
    return sorted({*table, *(f"rop_otel/{each}" for each in pictures if f"rop_otel/{each}" not in table)})


@pytest.mark.parametrize("path", paths())
def test_paths_exist(path: str) -> None:
    """Each file that the map names is there; a part in angle brackets stands for any."""
    if PLACE.search(path):
        assert any(ROOT.glob(PLACE.sub("*", path.rstrip("/"))))
    else:
        assert (ROOT / path).exists()
