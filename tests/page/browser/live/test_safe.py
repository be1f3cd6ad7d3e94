"""What the served page may do, what spans cannot make it do, and that everybody can use it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from rop_otel.page import POLICY
from tests.core.build import handoff, stage
from tests.monitor.served import Served
from tests.page.browser.cases import SPECIAL
from tests.page.browser.chromium import watched
from tests.page.browser.serving import send, today
from tests.page.browser.test_accessible import faults, open_everything
from tests.page.browser.test_hostile import FORMS, as_shown

VIEWS = {
    "live": "",
    "overview": "overview",
    "handoffs": "handoffs?verdict=FAIL&run=after",
    "handoff": "handoff/",
    "compare": "compare?a.run=before&b.run=after",
    "runs": "runs",
    "run": "run/after",
}
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def views(served: Served) -> dict[str, str]:
    """The addresses of the views."""
    [row] = served.get("/api/handoffs?run=after&record=thousand")["handoffs"]
    return {name: f"{served.url}/#/{view}" for name, view in VIEWS.items()} | {
        "handoff": f"{served.url}/#/handoff/{row['handoff_id']}"
    }


def settled(page: Page) -> None:
    """Wait until a view shows what it asked for."""
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("Reading …")


def test_the_policy_lets_nothing_else_in(tab: Page, served: Served) -> None:
    """Each file of the page comes with one fixed policy, and nothing in it stands inline."""
    for path in ("/", "/assets/page.js", "/assets/page.css"):
        status, body, headers = served.ask(path)
        assert (status, headers["Content-Security-Policy"]) == (200, POLICY)
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert served.ask(path, headers={"If-None-Match": headers["ETag"]})[0] == 304
        if path == "/":
            assert b"<style" not in body
            assert body.count(b"<script") == body.count(b'<script src="assets/page.js">') == 1
    assert not {"unsafe-inline", "unsafe-eval", "*", "http"} & set(POLICY.split())
    tab.goto(f"{served.url}/")
    settled(tab)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_serious_fault(
    browser: Browser, served: Served, views: dict[str, str], pictures: Path, view: str, scheme: Scheme
) -> None:
    """Names, roles, order and contrast hold in each view, in light and dark."""
    with browser.new_context(
        color_scheme=scheme, bypass_csp=True, reduced_motion="reduce", viewport={"width": 1440, "height": 900}
    ) as window:
        page = window.new_page()
        with watched(page, server=served.url) as complaints:
            page.goto(views[view])
            settled(page)
            open_everything(page)
            assert faults(page) == []
        page.screenshot(path=pictures / f"live-{view}-{scheme}.png", full_page=True)
    assert complaints == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_narrow_screen_scrolls_down_only(browser: Browser, views: dict[str, str], pictures: Path, view: str) -> None:
    """On a telephone tables and charts scroll within themselves; the page does not go sideways."""
    with browser.new_context(viewport={"width": 375, "height": 700}, device_scale_factor=2) as window:
        page = window.new_page()
        page.goto(views[view])
        settled(page)
        open_everything(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        page.screenshot(path=pictures / f"live-{view}-narrow.png")


def test_by_keyboard_alone_from_what_arrives_to_a_loss(tab: Page, served: Served) -> None:
    """Tab, Enter and the arrow keys reach the tabs, the pause, the newest failures and the chart of one of them."""
    tab.goto(f"{served.url}/")
    settled(tab)

    def press_until(selector: str, most: int = 60) -> None:
        for _ in range(most):
            tab.keyboard.press("Tab")
            if tab.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"Tab does not reach {selector}")

    press_until(".stream button")
    tab.keyboard.press("Enter")
    expect(tab.locator(".state")).to_have_text("paused")
    press_until(".rates summary")
    tab.keyboard.press("Enter")
    expect(tab.locator(".rates tbody").first).to_be_visible()
    press_until("table.newest .row-link")
    record = tab.evaluate("document.activeElement.textContent")
    tab.keyboard.press("Enter")
    expect(tab.locator("h1")).to_have_text(record)
    expect(tab.locator("h1")).to_be_focused()
    press_until(".chart-scroll")
    tab.keyboard.press("ArrowDown")
    expect(tab.locator(".live")).not_to_be_empty()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A monitor that was sent hostile text in every field that a span can carry."""
    with Served(tmp_path_factory.mktemp("hostile") / "kept.db", quiet=0.2) as served:
        for number, form in enumerate(HOSTILE):

            def text(field: str, form: str = form) -> str:
                return FORMS[form].format(field)

            vector = replace(
                stage(text("kind"), "", source=True, name=text("stage-name"), implementation=text("implementation")),
                returned=(text("shown-id"), text("lost-id")), scopes=(text("other-scope"), text("scope")),
            )  # fmt: skip
            packing = replace(
                stage("packing", ""), returned=(text("shown-id"),), input=(text("shown-id"),), labels=(text("label"),)
            )
            trace = f"{number + 1:032x}"
            record = handoff(
                vector, packing, selected=None, name=text("name"), handoff_id=f"{trace}-{'c' * 16}", trace_id=trace,
                span_id="c" * 16, record_id=text("record"), run_id=text("run"), start_ns=1, end_ns=10**9,
            )  # fmt: skip
            record = replace(record, selected=(text("lost-id"),), judged=(text("judged"),))
            send(served, today([record]))
        yield served


HOSTILE = [form for form in FORMS if form != "half a pair"]
"""Half a pair of surrogates has no form in UTF-8, so that no request can hold it."""


@pytest.mark.parametrize("form", HOSTILE)
def test_every_text_is_shown_as_text(context: BrowserContext, hostile: Served, form: str) -> None:
    """Every field in every view is read as it was written, and nothing in it does anything."""
    trace = f"{HOSTILE.index(form) + 1:032x}"
    page = context.new_page()
    seen = ""
    with watched(page, server=hostile.url) as complaints:
        for view in ("", "overview", "handoffs", f"handoff/{trace}-{'c' * 16}", "runs", "compare"):
            page.goto(f"{hostile.url}/#/{view}")
            settled(page)
            page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
            seen += page.locator("main").inner_text()
        page.get_by_role("link", name="Runs", exact=True).click()
        page.locator(".row-link").nth(0).click()
        settled(page)
    fields = "shown-id lost-id kind stage-name implementation other-scope name record run judged".split()
    assert [field for field in fields if as_shown(form, field) not in seen] == []
    assert page.locator(".hostile").count() == 0
    assert page.evaluate("window.hit") is None
    assert not any(ord(char) in (0x1B, 0x9B, 0x7, 0x202E, 0x2066, 0x200B) for char in seen)
    assert complaints == []


def test_a_browser_gives_the_token_as_a_password(browser: Browser, tmp_path: Path) -> None:
    """With a token the page is asked for with Basic, and its questions and its stream carry it, too."""
    (tmp_path / "token").write_text("s3cret")
    with (
        Served(tmp_path / "kept.db", "--token-file", str(tmp_path / "token"), quiet=0.2) as served,
        browser.new_context(http_credentials={"username": "me", "password": "s3cret"}) as window,
    ):
        assert served.ask("/")[0] == 401
        basic = {"Authorization": f"Basic {base64.b64encode(b'me:s3cret').decode()}"}
        assert json.loads(served.ask("/api/head", headers=basic)[1])["live"] is True
        page = window.new_page()
        page.goto(f"{served.url}/")
        expect(page.locator("h1")).to_have_text("No handoff yet")


def test_special_handoffs_are_drawn_as_from_a_file(tab: Page, served: Served) -> None:
    """Nothing that a handoff can be makes the page stumble, whatever feeds it."""
    for name in SPECIAL:
        found = [
            row for row in served.get(f"/api/handoffs?run=after&record={name}")["handoffs"] if row["record_id"] == name
        ]
        for row in found:
            tab.goto(f"{served.url}/#/handoff/{row['handoff_id']}")
            expect(tab.locator("h1")).to_have_text(name)
            expect(tab.locator(".ranks")).to_be_visible()
