"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


def program() -> str:
    """Return the path of the browser: what CHROMIUM names, else the first that is found.

    Without one a test is skipped, except in CI, where it fails: nothing is skipped there unseen.
    """
    for name in (os.environ.get("CHROMIUM"), *NAMES):
        path = shutil.which(name) if name else None
        if path is not None:
            return path
    reason = "no Chromium; on Debian: apt-get install chromium, or name one in CHROMIUM"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (CI=true, so this test may not be skipped)")
    pytest.skip(reason)


@contextmanager
def launched() -> Iterator[Browser]:
    """Run the browser without a window."""
    path = program()
    with sync_playwright() as playwright:
        # Root, as which containers run, has no sandbox.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@contextmanager
def watched(page: Page, *, server: str | None = None) -> Iterator[list[str]]:
    """Collect what a page complains of: errors, refusals of its policy, and what it fetches from elsewhere.

    Args:
        page: The tab.
        server: Address of the server that the page is from; None for a file, which fetches nothing.
    """
    own = ("file:", "blob:") if server is None else (f"{server}/", "blob:")
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"a dialog says {dialog.message!r}"))
    page.on("request", lambda asked: complaints.append(asked.url) if not asked.url.startswith(own) else None)
    yield complaints
