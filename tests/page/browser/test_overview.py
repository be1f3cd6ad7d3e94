"""The overview: how many arrive, where the others are lost, and the way to their handoffs."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rop_otel.core.handoff import DropCause
from tests.page.browser.cases import shown, usual, written


def test_the_first_sentence_says_how_many_arrive_and_where_most_are_lost(
    page: Page, usual_page: str, pictures: Path
) -> None:
    """Who opens the file reads the stage, the cause and what to try before anything else."""
    page.goto(usual_page)
    expect(page.locator(".headline")).to_contain_text("selected objects reached the reader")
    expect(page.locator(".headline a")).to_contain_text(f"mmr, {DropCause.SILENT_CUT}")
    expect(page.locator(".subline")).to_contain_text("Find the slice")
    page.screenshot(path=pictures / "overview.png", full_page=True)


def test_numbers_lead_to_their_handoffs(page: Page, usual_page: str) -> None:
    """As many handoffs are listed as the number that led there says."""
    page.goto(usual_page)
    expect(page.locator(".headline")).to_be_visible()
    links = page.locator("main .headline a, .verdicts a, .lost-cell a, .causes td a, .figures a[href]").evaluate_all(
        "all => all.map(each => [each.getAttribute('href'), (each.querySelector('b') ?? each).textContent])"
    )
    assert len(links) > 20
    for href, number in dict(links).items():
        page.goto(usual_page + href)
        expect(page.get_by_role("status").first).to_contain_text("handoff")
        listed = int(page.get_by_role("status").first.inner_text().split()[0].replace(",", ""))
        if "citation" in href:
            assert (listed > 0) == (number != "0"), href
        elif "judged_loss" in href:
            assert 0 < listed <= int(number), href
        else:
            assert listed == int(number), href


def test_a_stage_leads_to_the_handoffs_that_it_lacks(page: Page, usual_page: str) -> None:
    """The survival of a stage leads to the handoffs in which its list does not hold the object."""
    page.goto(usual_page)
    row = page.locator(".survival tbody tr", has=page.get_by_role("rowheader", name="mmr", exact=True))
    kept, of = (int(part) for part in row.locator(".number a").first.inner_text().split(",")[0].split("/"))
    row.locator(".number a").first.click()
    expect(page.get_by_role("status").first).to_have_text(f"{of - kept} of 147 handoffs")


def test_every_measure_is_shown_when_asked_for(page: Page, usual_page: str) -> None:
    """Three measures are shown at first, all eight at a click."""
    page.goto(usual_page)
    columns = page.locator(".scores thead tr:last-child th")
    expect(columns).to_have_count(2 + 2 * 3)
    page.get_by_role("button", name="Show every measure").click()
    expect(columns).to_have_count(2 + 2 * 8)


def test_of_two_sets_one_is_chosen(page: Page, two_page: str) -> None:
    """The set that is looked at stands in the address."""
    page.goto(two_page)
    expect(page.locator("h1")).to_have_text("before.jsonl")
    page.get_by_role("combobox", name="Set").select_option(label="after.jsonl")
    expect(page.locator("h1")).to_have_text("after.jsonl")
    page.get_by_role("link", name="Handoffs", exact=True).click()
    assert "set=1" in page.url


def test_without_a_handoff_it_says_how_to_send_the_first(page: Page, tmp_path: Path) -> None:
    """A file without handoffs says what to type."""
    page.goto(written(tmp_path / "empty.html", shown("nothing.jsonl", ())))
    expect(page.locator("h1")).to_have_text("No handoff yet")
    expect(page.locator("main")).to_contain_text("rop-otel replay spans.jsonl --html page.html")


@pytest.mark.parametrize("count", [1, 3])
def test_handoffs_without_a_selection(page: Page, tmp_path: Path, count: int) -> None:
    """Where nothing was selected there are still verdicts, and the rest does not stumble."""
    open_ones = [each for each in usual() if each.record_id == "open"] * count
    page.goto(written(tmp_path / "open.html", shown("open.jsonl", open_ones)))
    expect(page.locator(".headline")).to_contain_text(f"{count} handoff")
    expect(page.locator(".verdicts")).to_contain_text("NOT_APPLICABLE")
