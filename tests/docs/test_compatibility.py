"""The table of framework versions says what the packages declare and what the tests run with."""

from __future__ import annotations

import re

import pytest
from packaging.version import Version

from tests.docs import compatibility
from tests.docs.compatibility import DOCUMENT, Package, packages

PACKAGES = pytest.mark.parametrize("package", packages(), ids=lambda package: package.name)


def test_the_table_is_that_of_the_packages() -> None:
    """Each package has its row; ``python -m tests.docs.compatibility`` writes it anew."""
    assert compatibility.written(DOCUMENT.read_text(encoding="utf-8")) == compatibility.render(packages())


@PACKAGES
def test_the_code_accepts_what_the_package_declares(package: Package) -> None:
    """The range in the package's file and the one that its code checks are the same."""
    assert package.code_versions == [",".join(sorted(map(str, package.framework.specifier), reverse=True))]


@PACKAGES
def test_both_ends_are_within_the_range(package: Package) -> None:
    """The range has both bounds, and the tests run with the lower one and with a newer version inside."""
    bounds = {each.operator: Version(each.version) for each in package.framework.specifier}
    assert sorted(bounds) == ["<", ">="]
    assert Version(package.oldest) == bounds[">="]
    assert compatibility.within(package, package.newest)


@PACKAGES
def test_the_framework_is_no_requirement(package: Package) -> None:
    """Installing a package neither brings nor changes the framework: it is an extra."""
    text = (package.folder / "pyproject.toml").read_text(encoding="utf-8")
    dependencies = text.partition("\ndependencies = [")[2].partition("]\n")[0]
    assert f'"{package.framework.name}' not in dependencies
    (instrumentation,) = re.findall(r'"opentelemetry-instrumentation>=(.+)"', dependencies)
    assert f"`opentelemetry-instrumentation` {instrumentation} or newer" in DOCUMENT.read_text(encoding="utf-8")
