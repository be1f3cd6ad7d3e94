"""A real Chromium, and pages opened in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.page.browser.cases import shown, usual, written
from tests.page.browser.chromium import launched, watched


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of a file's tests. While it runs an event loop runs, too, which tests elsewhere must not meet."""
    with launched() as running:
        yield running


@pytest.fixture(scope="session")
def usual_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with every kind of handoff."""
    return written(tmp_path_factory.mktemp("page") / "usual.html", shown("spans.jsonl", usual(fault=True)))


@pytest.fixture(scope="session")
def two_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with the same records before and after a fault."""
    sets = (shown("before.jsonl", usual()), shown("after.jsonl", usual(fault=True)))
    return written(tmp_path_factory.mktemp("page") / "two.html", *sets)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser window without a past."""
    with browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce") as made:
        made.set_default_timeout(10_000)
        yield made


@pytest.fixture
def page(context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A tab; whatever the page complains of, or fetches, fails the test."""
    tab = context.new_page()
    with watched(tab) as complaints:
        yield tab
    assert complaints == []


@pytest.fixture(scope="session")
def pictures() -> Path:
    """The folder in which the tests leave pictures to look at."""
    folder = Path(__file__).parents[3] / ".work" / "page"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
