"""Monitors in processes of their own, and tabs in which their pages are open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.monitor.served import Served
from tests.page.browser.cases import usual
from tests.page.browser.chromium import watched
from tests.page.browser.serving import of_run, send, today

QUIET = 0.2


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A monitor that keeps every kind of handoff, and the same records of two runs, of which the later has a fault."""
    with Served(tmp_path_factory.mktemp("kept") / "kept.db", quiet=QUIET) as served:
        send(served, today(of_run(usual(), "before", 1000)))
        send(served, today(of_run(usual(fault=True), "after", 2000)))
        yield served


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A monitor that keeps nothing yet."""
    with Served(tmp_path_factory.mktemp("fresh") / "kept.db", quiet=QUIET) as served:
        yield served


@pytest.fixture
def tab(context: BrowserContext, served: Served) -> Iterator[Page]:
    """A tab; whatever the page complains of, or fetches from elsewhere, fails the test."""
    page = context.new_page()
    with watched(page, server=served.url) as complaints:
        yield page
    assert complaints == []
