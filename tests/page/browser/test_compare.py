"""Two sets compared: what was kept, recovered, lost and missed by both."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from playwright.sync_api import Page, expect

from rop_otel.core.handoff import assess
from tests.page.browser.cases import usual

BEFORE, AFTER = (
    {record.record_id: assess(record) for record in usual(fault=fault) if record.record_id} for fault in (False, True)
)
FATES = Counter(
    f"{BEFORE[record].verdict} {AFTER[record].verdict}"
    for record in BEFORE
    if {BEFORE[record].verdict, AFTER[record].verdict} <= {"PASS", "FAIL"}
)


def test_fates_are_counted_by_record(page: Page, two_page: str, pictures: Path) -> None:
    """Each record that both sets have is in one of four fields, by its two verdicts."""
    page.goto(f"{two_page}#/compare")
    expect(page.locator(".matrix .fate b")).to_have_count(4)
    fields = page.locator(".matrix .fate b").all_inner_texts()
    expected = [FATES[each] for each in ("PASS PASS", "PASS FAIL", "FAIL PASS", "FAIL FAIL")]
    assert [int(field) for field in fields] == expected
    assert expected[1] > 10
    page.screenshot(path=pictures / "compare.png", full_page=True)


def test_a_stage_shows_where_it_begins(page: Page, two_page: str) -> None:
    """Before the fault no stage loses anything that it had; from the stage at fault on, objects are lost."""
    page.goto(f"{two_page}#/compare")
    expect(page.locator(".stages-compared")).to_be_visible()
    lost = {
        row.locator("th").inner_text(): int(row.locator("td").first.inner_text())
        for row in page.locator(".stages-compared tbody tr").all()
    }
    assert lost["rerank"] == 0
    assert lost["mmr"] > 10
    page.locator(".stages-compared tr", has_text="mmr").get_by_role("link").first.click()
    expect(page.locator("#records + .note")).to_have_text(f"{lost['mmr']} records: lost: only in A, at mmr.")
    expect(page.locator("#records").locator("xpath=../..").locator("tbody tr")).to_have_count(lost["mmr"])


def test_a_record_leads_to_both_of_its_handoffs(page: Page, two_page: str) -> None:
    """From a record that was lost one comes to the handoff before and to the one after."""
    page.goto(f"{two_page}#/compare?fate=lost")
    row = page.locator(".handoffs tbody tr").first
    record = row.locator("th").inner_text()
    row.locator("td:nth-child(4) a").click()
    expect(page.locator("h1")).to_have_text(record)
    expect(page.locator(".title .verdict")).to_have_text("FAIL")
    page.go_back()
    page.locator(".handoffs tbody tr").first.locator("td:nth-child(3) a").click()
    expect(page.locator(".title .verdict")).to_have_text("PASS")


def test_two_filters_of_one_set_are_compared(page: Page, usual_page: str) -> None:
    """One set can be both sides; where both are the same it says what to do."""
    page.goto(f"{usual_page}#/compare")
    expect(page.locator("main")).to_contain_text("A and B are the same handoffs")
    page.get_by_text("Filters of B").click()
    page.get_by_role("search", name="Filters of B").get_by_role("combobox", name="Verdict").select_option("FAIL")
    expect(page.locator("main")).not_to_contain_text("A and B are the same handoffs")
    assert "b.verdict=FAIL" in page.url
    kept, lost, recovered, missed = (int(field) for field in page.locator(".matrix .fate b").all_inner_texts())
    assert (kept, lost, recovered) == (0, 0, 0)
    assert missed > 50
    page.reload()
    expect(page.get_by_role("search", name="Filters of B").get_by_role("combobox", name="Verdict")).to_have_value(
        "FAIL"
    )


def test_the_other_set_is_chosen(page: Page, two_page: str) -> None:
    """Before and after can be exchanged."""
    page.goto(f"{two_page}#/compare")
    page.get_by_label("Set of A").select_option("1")
    page.get_by_label("Set of B").select_option("0")
    expect(page.locator(".matrix .recovered b")).to_have_text(str(FATES["PASS FAIL"]))
