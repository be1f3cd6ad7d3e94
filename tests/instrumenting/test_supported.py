"""Which versions of a framework an instrumentation package knows."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from importlib import metadata

import pytest

from rop_otel.instrumenting import notices, supported


@pytest.fixture(autouse=True)
def _warnings() -> Iterator[None]:
    """Forget which warnings were given."""
    before = set(notices._warned)
    notices._warned.clear()
    yield
    notices._warned.clear()
    notices._warned.update(before)


def test_a_known_version_is_supported(caplog: pytest.LogCaptureFixture) -> None:
    """A version within the range is watched without a word."""
    assert supported("pytest", f"=={metadata.version('pytest')}")
    assert caplog.records == []


@pytest.mark.parametrize(
    ("package", "specifier", "words"),
    [
        ("pytest", "<1", "pytest .* is installed and is not watched: versions <1 are"),
        ("no-such-framework", ">=1", "no-such-framework is not installed and is not watched: versions >=1 are"),
    ],
)
def test_another_version_is_refused_with_one_warning(
    package: str, specifier: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A version outside the range, or none, is not watched; one warning says what is."""
    with caplog.at_level(logging.WARNING, "rop_otel"):
        assert not supported(package, specifier)
        assert not supported(package, specifier)
    (record,) = caplog.records
    assert re.fullmatch(words, record.getMessage())


def test_an_early_release_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pre-release within the range is supported: who installs one wants it watched."""
    monkeypatch.setattr(metadata, "version", lambda package: "1.5rc1")
    assert supported("framework", ">=1,<2")


@pytest.mark.parametrize("version", [None, "not a version"])
def test_an_unknown_version_is_refused(version: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken metadata is no crash."""
    monkeypatch.setattr(metadata, "version", lambda package: version)
    assert not supported("framework", ">=1")
