"""Keyboard, screen reader, contrast, narrow screens and print."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browser.cases import SPECIAL, shown, written
from tests.page.browser.chromium import watched
from tests.page.vendoring import TESTS

AXE = (TESTS / "axe.js").read_text(encoding="utf-8")
VIEWS = {
    "overview": "#/",
    "handoffs": "#/handoffs?verdict=FAIL",
    "handoff": f"#/handoff/{SPECIAL['thousand'].handoff_id}",
    "labels": f"#/handoff/{SPECIAL['misattributed'].handoff_id}",
    "failed": f"#/handoff/{SPECIAL['failed'].handoff_id}",
    "compare": "#/compare",
}
Scheme = Literal["light", "dark"]


def open_everything(page: Page) -> None:
    """Open what is folded."""
    expect(page.locator("h1")).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")


def faults(page: Page) -> list[str]:
    """Return what axe finds of weight, with the place of the first."""
    # The policy of the page lets no further script in, so the test brings it by another way than an element.
    page.evaluate(f"(() => {{ const module = undefined, define = undefined; {AXE} ; window.axe = axe; }})()")
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['impact']} {each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary'][:300]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_serious_fault(browser: Browser, two_page: str, pictures: Path, view: str, scheme: Scheme) -> None:
    """Names, roles, order and contrast hold in each view, in light and dark."""
    with browser.new_context(
        color_scheme=scheme, bypass_csp=True, reduced_motion="reduce", viewport={"width": 1440, "height": 900}
    ) as window:
        page = window.new_page()
        with watched(page) as complaints:
            page.goto(two_page + VIEWS[view])
            open_everything(page)
            assert faults(page) == []
        page.screenshot(path=pictures / f"{view}-{scheme}.png", full_page=True)
    assert complaints == []


def test_the_theme_can_be_chosen(page: Page, usual_page: str) -> None:
    """Light and dark go by the system until one is chosen."""
    page.goto(usual_page)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("combobox", name="Theme").select_option("dark")
    page.wait_for_function(f"light => {paper} !== light", arg=light)
    page.reload()
    page.wait_for_function(f"light => {paper} !== light", arg=light)


def test_by_keyboard_alone_from_the_overview_to_the_lost_document(page: Page, usual_page: str) -> None:
    """Tab, Enter and arrow keys lead from the first sentence to the loss and to the next handoff."""
    page.goto(usual_page)

    def press_until(selector: str, most: int = 60) -> None:
        for _ in range(most):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"Tab does not reach {selector}")

    press_until(".headline a")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Handoffs")
    expect(page.locator("h1")).to_be_focused()
    press_until(".row-link")
    page.keyboard.press("ArrowDown")
    record = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(record)
    expect(page.locator("h1")).to_be_focused()
    press_until(".chart-scroll")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".live")).to_contain_text("selected")
    press_until("summary")
    page.keyboard.press("Enter")
    expect(page.locator(".grid")).to_be_visible()
    press_until("#findings ~ *, .findings summary, .keep button", most=80)


def test_the_way_to_the_content_is_short(page: Page, usual_page: str) -> None:
    """The first stop of the Tab key skips the frame."""
    page.goto(usual_page)
    expect(page.locator("h1")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()


@pytest.mark.parametrize("view", VIEWS)
def test_a_narrow_screen_scrolls_down_only(browser: Browser, two_page: str, pictures: Path, view: str) -> None:
    """On a telephone tables and charts scroll within themselves; the page does not go sideways."""
    with browser.new_context(viewport={"width": 375, "height": 700}, device_scale_factor=2) as window:
        page = window.new_page()
        page.goto(two_page + VIEWS[view])
        open_everything(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        page.screenshot(path=pictures / f"{view}-narrow.png")


def test_print_leaves_out_what_is_pressed(page: Page, usual_page: str, pictures: Path) -> None:
    """On paper there are facts, no buttons and filters, and what scrolls is whole."""
    page.goto(f"{usual_page}{VIEWS['labels']}")
    expect(page.locator(".ranks")).to_be_visible()
    page.emulate_media(media="print")
    assert page.locator("button:visible").count() == 0
    assert page.locator(".top").is_hidden()
    assert page.locator(".lists").evaluate("all => getComputedStyle(all).overflowX") == "visible"
    page.pdf(path=pictures / "handoff.pdf")


def test_the_title_names_the_view(page: Page, tmp_path: Path) -> None:
    """A tab and a history can be told apart by their titles."""
    page.goto(written(tmp_path / "titled.html", shown("set", tuple(SPECIAL.values())), title="Tuesday"))
    expect(page).to_have_title("Overview · Tuesday · rop-otel")
    page.get_by_role("link", name="Handoffs", exact=True).click()
    expect(page).to_have_title("Handoffs · Tuesday · rop-otel")
