"""The table of handoffs: search, filters, order, pages, and all of it in the address."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, expect

from rop_otel.core.handoff import assess
from tests.page.browser.cases import OTHER_NAME, SPECIAL, usual

ALL = [(record, assess(record)) for record in usual(fault=True)]


def listed(page: Page) -> int:
    """Return how many handoffs the filters let through."""
    expect(page.get_by_role("status").first).to_contain_text("handoff")
    return int(page.get_by_role("status").first.inner_text().split()[0].replace(",", ""))


def params(page: Page) -> dict[str, list[str]]:
    """Return what the address says beside the view."""
    return parse_qs(page.url.partition("#")[2].partition("?")[2])


def test_what_is_no_filter_is_said(page: Page, usual_page: str) -> None:
    """A misspelt name in an address shows all, and says so."""
    page.goto(f"{usual_page}#/handoffs?colour=red&verdict=FAIL&sort=rank")
    expect(page.locator("main .warn-text")).to_have_text(
        ["The address has colour, which is no filter; it changes nothing."]
    )
    page.goto(f"{usual_page}#/handoffs?verdict=FAIL&sort=rank&page=1")
    expect(page.get_by_role("status").first).to_contain_text("handoff")
    expect(page.locator("main .warn-text")).to_have_count(0)


@pytest.mark.parametrize(
    ("label", "value", "name"),
    [
        ("Verdict", "FAIL", "verdict"),
        ("Lost at", "mmr", "at"),
        ("Lost at", "-", "at"),
        ("Cause", "truncated", "cause"),
        ("Finding", "silent_cut", "finding"),
        ("Finding", "silent_cut@mmr", "finding"),
        ("Handoff", OTHER_NAME, "name"),
        ("Service", "gateway", "service"),
    ],
)
def test_each_choice_filters(page: Page, usual_page: str, label: str, value: str, name: str) -> None:
    """A choice lets through as many as it says, and is there again when its address is opened anew."""
    page.goto(f"{usual_page}#/handoffs")
    box = page.get_by_role("combobox", name=label)
    promised = int(box.locator(f'option[value="{value}"]').inner_text().rpartition("(")[2].rstrip(")"))
    box.select_option(value)
    expect(page.locator(".chips")).to_contain_text(label)
    assert params(page) == {name: [value]}
    assert listed(page) == promised > 0
    page.reload()
    expect(page.get_by_role("combobox", name=label)).to_have_value(value)
    assert listed(page) == promised
    page.locator(".chips a").first.click()
    expect(page.locator(".chips")).to_have_count(0)
    assert listed(page) == len(ALL)


@pytest.mark.parametrize(
    ("label", "typed", "expected"),
    [
        ("Search", "Q10", sum("q10" in (record.record_id or "") for record, _ in ALL)),
        ("Record", "rounds", 1),
        ("Object", "doc180", 1),
        ("Object", "zebra", 1),
        ("Search", SPECIAL["scope"].handoff_id, 1),
        ("Search", "no such thing", 0),
    ],
)
def test_each_search_filters(page: Page, usual_page: str, label: str, typed: str, expected: int) -> None:
    """What is typed is looked for as it is typed, and stands in the address."""
    page.goto(f"{usual_page}#/handoffs")
    page.get_by_role("searchbox", name=label).fill(typed)
    expect(page.get_by_role("status").first).to_have_text(f"{expected} of {len(ALL)} handoffs")
    page.reload()
    expect(page.get_by_role("searchbox", name=label)).to_have_value(typed)
    expect(page.get_by_role("status").first).to_have_text(f"{expected} of {len(ALL)} handoffs")
    expect(page.get_by_text("No handoff matches these filters")).to_have_count(0 if expected else 1)


def test_filters_hold_together(page: Page, usual_page: str, pictures: Path) -> None:
    """Each further filter lets through fewer, and the counts of its choices go by the others."""
    page.goto(f"{usual_page}#/handoffs?verdict=FAIL&cause=silent_cut&at=mmr")
    lost = [each for _, each in ALL if each.drop_cause == "silent_cut" and each.dropped_at == "mmr"]
    assert listed(page) == len(lost)
    assert page.get_by_role("combobox", name="Verdict").locator("option").count() == 2
    page.screenshot(path=pictures / "handoffs.png")


def test_the_order_is_chosen_and_kept(page: Page, usual_page: str) -> None:
    """A click on a heading sorts by it; the address keeps it."""
    page.goto(f"{usual_page}#/handoffs?verdict=PASS")
    page.get_by_role("columnheader", name="Rank").get_by_role("link").click()
    expect(page).to_have_url(re.compile("sort=rank"))
    cells = page.locator(".handoffs tbody tr td:nth-child(5)").all_inner_texts()
    ranks = [int(cell) for cell in cells if cell.isdigit()]
    assert ranks == sorted(ranks)
    assert len(ranks) == len(cells) > 3
    expect(page.get_by_role("columnheader", name="Rank")).to_have_attribute("aria-sort", "ascending")


def test_pages_are_turned(page: Page, usual_page: str) -> None:
    """A hundred handoffs a page."""
    page.goto(f"{usual_page}#/handoffs")
    expect(page.locator(".handoffs tbody tr")).to_have_count(100)
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".handoffs tbody tr")).to_have_count(len(ALL) - 100)
    assert params(page) == {"page": ["2"]}
    page.go_back()
    expect(page.locator(".handoffs tbody tr")).to_have_count(100)


def test_from_one_handoff_to_the_next_within_the_filter(page: Page, usual_page: str) -> None:
    """A handoff opened from a filter leads to the others of that filter, and back."""
    page.goto(f"{usual_page}#/handoffs?name={OTHER_NAME}")
    page.get_by_role("link", name="rounds").click()
    expect(page.locator("h1")).to_have_text("rounds")
    expect(page.locator(".steps")).to_contain_text(f"2 of {len(SPECIAL)} in this filter")
    page.get_by_role("link", name="Next").click()
    expect(page.locator("h1")).to_have_text("cut")
    page.get_by_role("link", name="in this filter").click()
    assert listed(page) == len(SPECIAL)


def test_an_address_of_nowhere_is_answered(page: Page, usual_page: str) -> None:
    """A handoff that the file does not have, and a filter that means nothing, are said to be so."""
    page.goto(f"{usual_page}#/handoff/unheard-of")
    expect(page.locator("main")).to_contain_text("has no handoff")
    page.goto(f"{usual_page}#/handoffs?selected=nothing:9&verdict=NO&page=77&set=12&sort=constructor")
    expect(page.locator("main")).to_contain_text("No handoff matches these filters")
    page.goto(f"{usual_page}#/nowhere/%E0%A4%A")
    expect(page.locator(".headline")).to_be_visible()
