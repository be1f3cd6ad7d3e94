"""The views over a monitor that keeps handoffs: totals, handoffs, one handoff, two filters, runs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from rop_otel.core.handoff import assess
from tests.cli.sealed import DECISIONS, DECLARATION, TABLE, run
from tests.monitor.served import Served
from tests.page.browser.cases import OTHER_NAME, SPECIAL, ordinary, usual
from tests.page.browser.serving import of_run, send, today

BEFORE, AFTER = (
    {record.record_id or record.handoff_id: assess(record) for record in usual(fault=fault)} for fault in (False, True)
)
ALL = len(BEFORE) + len(AFTER)


def opened(tab: Page, served: Served, view: str) -> None:
    """Open a view."""
    tab.goto(f"{served.url}/#/{view}")
    expect(tab.locator("h1")).to_be_visible()


def status(tab: Page) -> int:
    """Return the number with which the view says how many handoffs there are."""
    said = tab.get_by_role("status").first
    expect(said).to_contain_text("handoff")
    return int(re.sub(r"\D*([\d,]+).*", r"\1", said.inner_text()).replace(",", ""))


def test_the_overview_adds_up_all_that_is_stored(tab: Page, served: Served, pictures: Path) -> None:
    """Verdicts are those of every stored handoff, and of a choice of them."""
    opened(tab, served, "overview")
    assert status(tab) == ALL
    expected = Counter(each.verdict for each in (*BEFORE.values(), *AFTER.values()))
    shown = tab.locator(".verdicts li").all_inner_texts()
    assert {text.split()[1]: int(text.split()[0]) for text in shown} == expected
    tab.screenshot(path=pictures / "live-overview.png", full_page=True)
    tab.get_by_role("combobox", name="Run").select_option("after")
    expect(tab.get_by_role("status").first).to_have_text(f"{len(AFTER)} handoffs")
    assert "run=after" in tab.url
    tab.get_by_role("combobox", name="Assessed").select_option("hour")
    expect(tab.locator(".chips")).to_contain_text("in the last hour")
    expect(tab.get_by_role("status").first).to_have_text(f"{len(AFTER)} handoffs")
    tab.get_by_role("combobox", name="Service").select_option("gateway")
    expect(tab.get_by_role("status").first).to_have_text(f"{len(SPECIAL)} handoffs")


def test_numbers_lead_to_their_handoffs(tab: Page, served: Served) -> None:
    """As many handoffs are listed as the number that led there says, also where a choice is made."""
    opened(tab, served, f"overview?{urlencode({'run': 'after', 'past': 'hour'})}")
    expect(tab.locator(".headline")).to_be_visible()
    links = tab.locator("main .headline a, .verdicts a, .lost-cell a, .causes td a, .figures a[href]").evaluate_all(
        "all => all.map(each => [each.getAttribute('href'), (each.querySelector('b') ?? each).textContent])"
    )
    assert len(links) > 20
    for href, number in dict(links).items():
        assert {"run": ["after"], "past": ["hour"]}.items() <= parse_qs(href.partition("?")[2]).items()
        tab.goto(f"{served.url}/{href}")
        tab.reload()
        if "citation" in href:
            assert (status(tab) > 0) == (number != "0"), href
        elif "judged_loss" in href:
            assert 0 < status(tab) <= int(number), href
        elif int(number) <= 100:
            assert status(tab) == int(number), href


def test_a_stage_leads_to_the_handoffs_that_it_lacks(tab: Page, served: Served) -> None:
    """Marks of lists are known to the page alone, which looks through what it has loaded."""
    opened(tab, served, "overview?run=after")
    row = tab.locator(".survival tbody tr", has=tab.get_by_role("rowheader", name="mmr", exact=True))
    kept, of = (int(part) for part in row.locator(".number a").first.inner_text().split(",")[0].split("/"))
    row.locator(".number a").first.click()
    expect(tab.locator("h1")).to_have_text("Handoffs")
    expect(tab.get_by_role("status").first).to_have_text(f"{of - kept} handoffs")


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
def test_each_choice_is_asked_of_the_monitor(tab: Page, served: Served, label: str, value: str, name: str) -> None:
    """A choice lets through what the API gives for it, and is there again when its address is opened anew."""
    opened(tab, served, "handoffs?run=after")
    tab.get_by_role("combobox", name=label).select_option(value)
    expect(tab.locator(".chips")).to_contain_text(label)
    expected = len(served.get(f"/api/handoffs?{urlencode({'run': 'after', name: value, 'limit': 2000})}")["handoffs"])
    assert 0 < expected < len(AFTER)
    words = f"{expected} handoffs" if expected > 1 else "1 handoff"
    expect(tab.get_by_role("status").first).to_have_text(words if expected < 100 else re.compile("handoffs"))
    tab.reload()
    expect(tab.get_by_role("combobox", name=label)).to_have_value(value)
    expect(tab.get_by_role("status").first).to_have_text(words if expected < 100 else re.compile("handoffs"))


@pytest.mark.parametrize(
    ("label", "typed", "expected"),
    [
        ("Search", "q10", sum("q10" in record for record in AFTER)),
        ("Record", "rounds", 1),
        ("Object", "doc180", 1),
        ("Search", "no such thing", 0),
    ],
)
def test_each_search_is_asked_of_the_monitor(tab: Page, served: Served, label: str, typed: str, expected: int) -> None:
    """What is typed is looked for in the store; where nothing matches, the filters can be removed."""
    opened(tab, served, "handoffs?run=after")
    tab.get_by_role("searchbox", name=label).fill(typed)
    expect(tab.get_by_role("status").first).to_have_text(f"{expected} handoff{'' if expected == 1 else 's'}")
    if not expected:
        expect(tab.locator(".nothing")).to_contain_text("No handoff matches these filters")
        tab.get_by_role("link", name="Remove all filters").click()
        expect(tab.locator(".handoffs tbody tr")).to_have_count(100)


def test_older_handoffs_are_loaded(tab: Page, served: Served) -> None:
    """The newest come first; the next page asks for older ones, until there are no more."""
    opened(tab, served, "handoffs")
    seen = []
    for number in range(ALL // 100 + 1):
        expect(tab.locator(".pages")).to_contain_text(f"Page {number + 1}")
        seen += tab.locator(".row-link").evaluate_all("all => all.map(each => each.getAttribute('href'))")
        if number < ALL // 100:
            tab.get_by_role("link", name="Older").click()
    assert len(set(seen)) == ALL
    expect(tab.get_by_role("status").first).to_have_text(f"{ALL} handoffs")
    expect(tab.get_by_role("link", name="Older")).to_have_count(0)


def test_an_order_goes_over_what_is_loaded(tab: Page, served: Served) -> None:
    """The page sorts what it has loaded."""
    opened(tab, served, "handoffs?run=after&verdict=PASS")
    tab.get_by_role("columnheader", name="Rank").get_by_role("link").click()
    expect(tab).to_have_url(re.compile("sort=rank"))
    expect(tab.get_by_role("columnheader", name="Rank")).to_have_attribute("aria-sort", "ascending")
    cells = tab.locator(".handoffs tbody tr td:nth-child(5)").all_inner_texts()
    ranks = [int(cell) for cell in cells if cell.isdigit()]
    assert ranks == sorted(ranks)
    assert len(ranks) > 3


def test_one_handoff_is_opened_by_its_id(tab: Page, served: Served, pictures: Path) -> None:
    """An address with an ID is all that is needed; the rest leads on from there."""
    lost = next(each for each in AFTER.values() if each.drop_cause == "silent_cut")
    [row] = served.get(f"/api/handoffs?run=after&record={lost.record_id}")["handoffs"]
    opened(tab, served, f"handoff/{row['handoff_id']}")
    expect(tab.locator("h1")).to_have_text(lost.record_id or "")
    expect(tab.locator(".story .says")).to_contain_text("lost on the way to 'mmr'")
    expect(tab.locator(".column.loss .stage")).to_have_text("mmr")
    tab.screenshot(path=pictures / "live-handoff.png", full_page=True)
    link = tab.get_by_role("link", name="more like this")
    others = int(link.inner_text().split()[0])
    alike = [
        each
        for each in (*BEFORE.values(), *AFTER.values())
        if (each.dropped_at, each.drop_cause) == ("mmr", "silent_cut")
    ]
    assert others == len(alike) - 1
    link.click()
    assert status(tab) == others + 1


def test_one_leads_to_the_next(tab: Page, served: Served) -> None:
    """A handoff opened from a filter leads to the others of that filter, and back."""
    opened(tab, served, "handoffs?run=after&name=" + OTHER_NAME)
    tab.get_by_role("link", name="rounds").click()
    expect(tab.locator("h1")).to_have_text("rounds")
    expect(tab.locator(".steps")).to_contain_text(f"of {len(SPECIAL)} in this filter")
    tab.locator(".steps").get_by_role("link", name="Older").click()
    expect(tab.locator("h1")).not_to_have_text("rounds")
    tab.get_by_role("link", name="in this filter").click()
    assert status(tab) == len(SPECIAL)


def test_two_runs_are_compared(tab: Page, served: Served, pictures: Path) -> None:
    """Two filters of one store; each record that both have is in one of four fields, and leads to both handoffs."""
    opened(tab, served, "compare")
    expect(tab.locator("main")).to_contain_text("A and B are the same handoffs")
    opened(tab, served, "compare?a.run=before&b.run=after")
    fates = Counter(
        f"{each.verdict} {AFTER[record].verdict}" for record, each in BEFORE.items() if each.record_id is not None
    )
    expected = [str(fates[each]) for each in ("PASS PASS", "PASS FAIL", "FAIL PASS", "FAIL FAIL")]
    expect(tab.locator(".matrix .fate b")).to_have_text(expected)
    tab.screenshot(path=pictures / "live-compare.png", full_page=True)
    tab.locator(".matrix .lost a").click()
    rows = tab.locator("#records").locator("xpath=../..").locator("tbody tr")
    expect(rows).to_have_count(int(expected[1]))
    record = rows.first.locator("th").inner_text()
    rows.first.locator("td:nth-child(4) a").click()
    expect(tab.locator("h1")).to_have_text(record)
    expect(tab.locator(".title .verdict")).to_have_text("FAIL")


def test_before_and_after_a_moment_are_compared(tab: Page, served: Served) -> None:
    """The moment of a change divides one store in two."""
    opened(tab, served, "compare")
    tab.get_by_role("search", name="Filters of A").get_by_label("Until").fill("2020-01-01T10:00")
    expect(tab.locator(".chips")).to_contain_text("Until: 2020-01-01 10:00:00 UTC")
    assert "a.until=2020-01-01T10%3A00%3A00Z" in tab.url
    expect(tab.locator("main")).to_contain_text("No record is in both")


def test_runs_are_listed(tab: Page, served: Served, pictures: Path) -> None:
    """Each run with its records and verdicts, and the way to its handoffs."""
    opened(tab, served, "runs")
    expect(tab.locator(".handoffs tbody tr")).to_have_count(2)
    row = tab.locator(".handoffs tbody tr", has=tab.get_by_role("link", name="after", exact=True))
    named = sum(each.record_id is not None for each in AFTER.values())
    expect(row).to_contain_text(f"{named} records")
    tab.screenshot(path=pictures / "live-runs.png", full_page=True)
    row.get_by_role("link", name="after", exact=True).click()
    expect(tab.locator("h1")).to_have_text("Run after")
    expect(tab.locator("main")).to_contain_text("this monitor has no declaration of the run")
    tab.locator(".verdict-link", has_text="UNVERIFIABLE").click()
    assert status(tab) == sum(each.verdict == "UNVERIFIABLE" for each in AFTER.values())


def test_what_does_not_exist_is_said(context: BrowserContext, served: Served) -> None:
    """An ID that the monitor does not keep, a run that nobody names, a filter of no meaning, a view of nothing."""
    tab = context.new_page()
    for view, words in (
        ("handoff/unheard-of", "keeps no handoff unheard-of"),
        ("run/unheard-of", "No handoff names this run"),
        ("handoffs?verdict=NO", "The monitor answers: "),
        ("handoffs?selected=nothing:9&page=77&sort=constructor", "No handoff matches these filters"),
    ):
        opened(tab, served, view)
        expect(tab.locator("main")).to_contain_text(words)
    opened(tab, served, "nowhere/%E0%A4%A")
    expect(tab.locator("h1")).to_have_text("Live")


def test_a_declared_run_shows_its_progress(
    context: BrowserContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pictures: Path
) -> None:
    """Under the monitor's declaration a run has a plan: how far it is, what is missing, and its report."""
    records = today(of_run([ordinary(number) for number in range(4)], "nightly", 5000))
    ids = {
        each
        for record in records
        for one in record.stages
        for each in (*(one.returned or ()), *(record.selected or ()))
    }
    (tmp_path / "map.csv").write_text("chunk,object\n" + "".join(f"{each},{each}\n" for each in sorted(ids)))
    (tmp_path / "ids.txt").write_text("".join(f"q{number:03d}\n" for number in range(6)))
    monkeypatch.chdir(tmp_path)
    assert run("declare", "sealed", *DECISIONS, *TABLE, "--population", "ids.txt")[0] == 0
    with Served(tmp_path / "kept.db", "--declaration", DECLARATION, quiet=0.2) as served:
        send(served, records)
        page = context.new_page()
        opened(page, served, "runs")
        expect(page.locator(".handoffs tbody tr")).to_contain_text("4 of 6 planned records")
        page.get_by_role("link", name="nightly", exact=True).click()
        expect(page.locator(".headline")).to_contain_text("4 of 6 planned records")
        expect(page.locator(".ids li")).to_have_text(["q004", "q005"])
        report = served.get("/api/runs/nightly")["report"]
        expect(page.locator("#report").locator("xpath=../..")).to_contain_text(str(report["run_status"]))
        page.screenshot(path=pictures / "live-run-declared.png", full_page=True)
