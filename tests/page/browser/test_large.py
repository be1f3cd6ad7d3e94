"""Many handoffs: the file opens and its filters answer before one notices."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rop_otel.core.handoff import HandoffRecord
from tests.core.build import stage
from tests.page.browser.cases import ordinary, shown, timed, written

MANY, USUAL = 20_000, 2_000
SOON = 0.5
"""Seconds within which a filter has to answer; it takes a fifth of that on a quiet machine."""


def copies(templates: Sequence[HandoffRecord], count: int) -> list[HandoffRecord]:
    """Return many handoffs that differ in their IDs."""
    return [
        replace(
            templates[number % len(templates)],
            handoff_id=f"h{number}",
            record_id=f"r{number}",
            trace_id=f"{number:032x}",
        )
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def many_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with 20,000 small handoffs, of which a third fails."""
    kept, lost = (timed(stage("packing", ids), number=1, selected="a") for ids in ("a", "b"))
    return written(tmp_path_factory.mktemp("large") / "many.html", shown("many", copies((kept, kept, lost), MANY)))


def test_filters_answer_quickly_over_20000_handoffs(page: Page, many_page: str) -> None:
    """From a filter that is put on to the rows that it lets through."""
    page.goto(f"{many_page}#/handoffs")
    state = page.get_by_role("status").first
    expect(state).to_have_text("20,000 handoffs")
    began = time.perf_counter()
    page.get_by_role("combobox", name="Verdict").select_option("FAIL")
    expect(state).to_have_text("6,666 of 20,000 handoffs")
    chosen = time.perf_counter() - began
    began = time.perf_counter()
    page.get_by_role("searchbox", name="Search").fill("r1234")
    expect(state).to_have_text("3 of 20,000 handoffs")
    searched = time.perf_counter() - began
    page.get_by_role("link", name="Remove all").click()
    expect(state).to_have_text("20,000 handoffs")
    began = time.perf_counter()
    page.get_by_role("columnheader", name="Duration").get_by_role("link").click()
    expect(page.get_by_role("columnheader", name="Duration")).to_have_attribute("aria-sort", "descending")
    ordered = time.perf_counter() - began
    assert max(chosen, searched, ordered) < SOON, (chosen, searched, ordered)
    assert page.locator(".handoffs tbody tr").count() == 100


def test_the_last_of_20000_handoffs_is_opened(page: Page, many_page: str) -> None:
    """Its block is unpacked when it is asked for."""
    page.goto(f"{many_page}#/handoff/h{MANY - 1}")
    expect(page.locator("h1")).to_have_text(f"r{MANY - 1}")
    expect(page.locator(".ranks")).to_be_visible()


def test_a_file_of_2000_handoffs_opens_in_two_seconds(browser: Browser, tmp_path: Path) -> None:
    """From the address to the first sentence, and to a handoff of it, in a browser without a past."""
    records = copies([ordinary(number, fault=True) for number in range(50)], USUAL)
    address = written(tmp_path / "usual.html", shown("usual", records))
    assert (tmp_path / "usual.html").stat().st_size < 10_000_000
    taken = []
    for view, sign in (("", ".headline"), ("#/handoffs", ".row-link"), (f"#/handoff/h{USUAL - 1}", ".ranks")):
        with browser.new_context() as window:
            page = window.new_page()
            began = time.perf_counter()
            page.goto(address + view)
            page.locator(sign).first.wait_for()
            taken.append(time.perf_counter() - began)
    assert max(taken) < 2, taken
