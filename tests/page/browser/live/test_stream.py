"""The view of what arrives now: it follows, it can be paused, it says when the connection is lost."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from tests.monitor.served import Served
from tests.page.browser.cases import ordinary
from tests.page.browser.chromium import watched
from tests.page.browser.serving import of_run, send, today

SOON = 15_000
"""Milliseconds within which the view has to follow: it asks for totals every two seconds."""


def count(page: Page) -> int:
    """Return how many handoffs the view says there are."""
    found = re.match(r"([\d,]+) handoffs? assessed", page.locator("main > .note").first.inner_text())
    assert found is not None
    return int(found[1].replace(",", ""))


def some(first: int, number: int = 3) -> list[int]:
    """Return numbers of ordinary handoffs, of which some are lost."""
    return list(range(first, first + number))


def sent(served: Served, numbers: list[int]) -> None:
    """Send ordinary handoffs."""
    send(served, today(of_run([ordinary(each, fault=True) for each in numbers], "live", numbers[0] + 10_000)))


def test_the_first_handoff_is_waited_for(context: BrowserContext, fresh: Served, pictures: Path) -> None:
    """A monitor that keeps nothing says how to send to it; when the first handoff is there, it is shown."""
    page = context.new_page()
    with watched(page, server=fresh.url) as complaints:
        page.goto(f"{fresh.url}/")
        expect(page.locator("h1")).to_have_text("No handoff yet")
        expect(page.locator("main")).to_contain_text(f"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT={fresh.url}/v1/traces")
        page.screenshot(path=pictures / "live-first.png", full_page=True)
        sent(fresh, some(1))
        expect(page.locator("h1")).to_have_text("Live", timeout=SOON)
        expect(page.locator("main")).to_contain_text("3 handoffs assessed", timeout=SOON)
        expect(page.locator(".headline")).to_contain_text("selected objects reached the reader")
    assert complaints == []


def test_it_follows_what_arrives(tab: Page, served: Served, pictures: Path) -> None:
    """Totals, charts and the newest handoffs that failed follow without a touch, and nothing is drawn anew."""
    tab.goto(f"{served.url}/")
    expect(tab.locator(".state")).to_have_text("live", timeout=SOON)
    box = tab.locator(".state").bounding_box()
    assert box is not None
    assert box["width"] > 30
    before = count(tab)
    table = tab.locator("table.newest").element_handle()
    sent(served, some(100, 12))
    expect(tab.locator("main > .note").first).to_contain_text(f"{before + 12} handoffs assessed", timeout=SOON)
    expect(tab.locator("figure[aria-label='Verdicts in the last five minutes'] .volume")).not_to_have_count(0)
    expect(tab.locator("[aria-live=polite]")).to_contain_text("arrived")
    assert table is not None
    assert table.evaluate("table => table.isConnected")
    newest = served.get("/api/handoffs?verdict=FAIL&limit=15")["handoffs"]
    expect(tab.locator("table.newest .row-link")).to_have_text([row["record_id"] for row in newest], timeout=SOON)
    tab.screenshot(path=pictures / "live.png", full_page=True)
    tab.locator("table.newest .row-link").first.click()
    expect(tab.locator("h1")).to_have_text(newest[0]["record_id"])


def test_an_hour_leads_to_its_handoffs(tab: Page, served: Served) -> None:
    """Each column of the chart by the hour is a way to its handoffs; so is each row of its table."""
    tab.goto(f"{served.url}/#/live?past=all")
    figure = tab.locator("figure[aria-label='Verdicts by hour']")
    figure.get_by_text("The same as a table").click()
    rows = figure.locator("tbody tr")
    hours = served.get("/api/summary")["hours"]
    expect(rows).to_have_count(len(hours))
    expect(rows.first.locator("td").first).to_have_text(str(hours[-1]["handoffs"]))
    rows.first.get_by_role("link").click()
    expect(tab.locator("h1")).to_have_text("Handoffs")
    expect(tab.locator(".chips")).to_contain_text("Since: ")


def test_it_is_paused_and_goes_on(tab: Page, served: Served) -> None:
    """While it is paused nothing moves; it says what has arrived meanwhile, and shows it when it goes on."""
    tab.goto(f"{served.url}/")
    expect(tab.locator(".state")).to_have_text("live", timeout=SOON)
    before = count(tab)
    tab.get_by_role("button", name="Pause").focus()
    tab.keyboard.press("Enter")
    expect(tab.locator(".state")).to_have_text("paused")
    sent(served, some(200))
    expect(tab.locator(".stream")).to_contain_text("3 handoffs arrived meanwhile", timeout=SOON)
    assert count(tab) == before
    tab.get_by_role("button", name="Go on").click()
    expect(tab.locator("main > .note").first).to_contain_text(f"{before + 3} handoffs assessed", timeout=SOON)


def test_a_lost_connection_is_said_and_mended(context: BrowserContext, served: Served) -> None:
    """Where the stream ends the view says so, tries again, and is up to date when it is back."""
    page = context.new_page()
    page.route("**/api/stream", lambda route: route.fulfill(status=503, json={"error": "too many look on"}))
    page.goto(f"{served.url}/")
    expect(page.locator(".state")).to_have_text("connection lost; trying again …", timeout=SOON)
    expect(page.locator(".headline")).to_be_visible()
    before = count(page)
    sent(served, some(300))
    page.unroute("**/api/stream")
    expect(page.locator(".state")).to_have_text("live", timeout=SOON)
    expect(page.locator("main > .note").first).to_contain_text(f"{before + 3} handoffs assessed", timeout=SOON)


def test_a_monitor_that_ends_is_said_to(context: BrowserContext, fresh: Served) -> None:
    """A page of a monitor that was stopped says that it does not answer, and keeps what it shows."""
    sent(fresh, some(400))
    page = context.new_page()
    page.goto(f"{fresh.url}/")
    expect(page.locator(".state")).to_have_text("live", timeout=SOON)
    fresh.process.terminate()
    fresh.process.wait()
    expect(page.locator(".state")).to_have_text("connection lost; trying again …", timeout=SOON)
    expect(page.locator(".headline")).to_be_visible()
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_role("alert")).to_have_text("The monitor does not answer.")
