"""One handoff: the rank chart and its tables, the lists, labels, findings, times, and what can be taken away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from rop_otel.core.handoff import assess
from tests.page.browser.cases import SPECIAL, shown, usual, written

LOST = next(record for record in usual(fault=True) if assess(record).drop_cause == "silent_cut")


def opened(page: Page, address: str, name: str) -> None:
    """Open one of the special handoffs."""
    page.goto(f"{address}#/handoff/{SPECIAL[name].handoff_id}")
    expect(page.locator(".ranks")).to_be_visible()


def trail(page: Page) -> list[str]:
    """Return the ranks below the chart of the first document."""
    return [text.split("\n")[0] for text in page.locator(".trail tbody").first.locator("td").all_inner_texts()[1:]]


def test_the_loss_is_seen_in_the_chart_and_beside_it(page: Page, usual_page: str, pictures: Path) -> None:
    """Stage, cause and the documents that went missing are on the first screen and in the lists below."""
    page.goto(f"{usual_page}#/handoff/{LOST.handoff_id}")
    expect(page.locator(".story .says")).to_contain_text("lost on the way to 'mmr'. Code between two stages cut")
    expect(page.locator(".story .try")).to_contain_text("Find the slice")
    expect(page.locator(".column.loss .stage")).to_have_text("mmr")
    expect(page.locator(".labels .selected .why")).to_contain_text("Code between two stages cut the list")
    missing = set(LOST.stages[4].returned or ()) - set(LOST.stages[5].input or ())
    cut = page.get_by_role("article", name="Stage mmr").locator(".group.cut li .id")
    assert set(cut.all_inner_texts()) == missing
    assert page.locator(".way .alarm .cross").count() >= len(missing)
    page.screenshot(path=pictures / "handoff.png", full_page=True)


def test_the_trace_is_a_link(page: Page, tmp_path: Path) -> None:
    """The trace ID leads to where traces are seen, if that is given."""
    traces = "http://localhost:16686/trace/{trace_id}"
    page.goto(f"{written(tmp_path / 'page.html', shown('s', [LOST]), trace_url=traces)}#/handoff/{LOST.handoff_id}")
    link = page.locator("dl.about").get_by_role("link", name=LOST.trace_id)
    expect(link).to_have_attribute("href", traces.replace("{trace_id}", LOST.trace_id))


def test_more_like_this(page: Page, usual_page: str) -> None:
    """One click leads to all that were lost at the same place for the same cause."""
    page.goto(f"{usual_page}#/handoff/{LOST.handoff_id}")
    link = page.get_by_role("link", name="more like this")
    others = int(link.inner_text().split()[0])
    link.click()
    expect(page.get_by_role("status").first).to_have_text(f"{others + 1} of 147 handoffs")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nested", ["4", "2", "2", "1", "1", "1"]),
        ("rounds", ["3", "2", "1", "✕ dropped", "✕ dropped", "·"]),
        ("failed", ["1", "not known", "1", "1"]),
        ("cutoff", ["4", "4", "4"]),
        ("thousand", ["4", "✕ dropped", "·", "·"]),
    ],
)
def test_ranks_of_the_selected_document(page: Page, usual_page: str, name: str, expected: list[str]) -> None:
    """Below each column stands the rank there, or what became of the document."""
    opened(page, usual_page, name)
    assert trail(page) == expected


@pytest.mark.parametrize(
    ("name", "selector", "words"),
    [
        ("nested", ".bracket.nest", "inside hybrid"),
        ("nested", ".bracket.arms", "in parallel"),
        ("rounds", ".bracket.round", "round 2"),
        ("cut", ".column .size", "100 of 250"),
        ("cut", ".trail", "is in no list"),
        ("cutoff", ".cutoff-words", "cutoff 3"),
        ("failed", ".column.failed .reason", "it raised"),
        ("unreadable", ".column.unreadable .reason", "no ID can be read"),
        ("late", ".column.late .reason", "ended after its handoff"),
        ("hollow", ".legend", "shown without text, or in part"),
        ("unselected", ".story", "no usable one came"),
        ("unseen", ".story", "prompt"),
        ("retrieved_never", ".story", "Compare the IDs first"),
        ("unnamed", ".list", "unreadable"),
        ("scope", ".list .bad-text", "of ruby"),
    ],
)
def test_what_else_a_chart_says(page: Page, usual_page: str, name: str, selector: str, words: str) -> None:
    """Blocks, rounds, cut lists, the cutoff, failures and passages shown in part have their sign and their word."""
    opened(page, usual_page, name)
    expect(page.locator(selector).filter(has_text=words).first).to_be_attached()


def test_a_passage_shown_in_part_ends_hollow(page: Page, usual_page: str) -> None:
    """The last point of a passage of which the prompt holds a part is hollow."""
    opened(page, usual_page, "hollow")
    assert page.locator(".way.selected circle.hollow").count() == 1
    expect(page.get_by_role("article", name="Stage packing")).to_contain_text("40 % of its text")


def test_of_a_thousand_documents_those_that_matter_are_drawn(page: Page, usual_page: str) -> None:
    """The others are counted, and drawn when asked for; the table has them all."""
    opened(page, usual_page, "thousand")
    assert page.locator(".way").count() < 60
    page.get_by_role("button", name="Show the other 9").click()
    expect(page.locator(".ranks .way")).to_have_count(1000)
    page.get_by_text("The same as a table").click()
    expect(page.locator(".grid tbody tr").first).to_contain_text("doc3")
    page.get_by_role("button", name="Show 800 more").click()
    expect(page.locator(".grid tbody tr")).to_have_count(1000)


def test_another_document_is_followed_by_pointer_and_by_keys(page: Page, usual_page: str) -> None:
    """Its line stands out, and its ranks stand below the columns and are said to a screen reader."""
    opened(page, usual_page, "nested")
    chart = page.locator(".chart-scroll")
    box = page.locator(".ranks").bounding_box()
    last = page.locator(".labels text", has_text="d1").bounding_box()
    assert box is not None
    assert last is not None
    page.mouse.move(last["x"] + 5, last["y"] + 6)
    expect(page.locator(".trail tbody.on .id")).to_have_text("d1")
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    expect(page.locator(".trail tbody.on")).to_have_count(0)
    chart.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".live")).to_contain_text("a, selected: vector 4, lexical 2, hybrid 2, rerank 1")
    page.keyboard.press("ArrowDown")
    assert page.locator(".live").inner_text() != ""
    page.keyboard.press("Escape")
    expect(page.locator(".trail tbody.on")).to_have_count(0)


def test_all_lists_side_by_side(page: Page, usual_page: str) -> None:
    """Around the loss at first, every stage at a click."""
    page.goto(f"{usual_page}#/handoff/{LOST.handoff_id}")
    expect(page.locator(".lists article")).to_have_count(3)
    page.get_by_role("button", name="All 8 stages").click()
    expect(page.locator(".lists article")).to_have_count(9)
    expect(page.get_by_role("article", name="Stage candidates").locator(".group.left h4")).to_contain_text(
        "Dropped here"
    )


def test_wrong_labels_are_marked(page: Page, usual_page: str) -> None:
    """A label that leads to another passage, and one that nobody showed, have their word."""
    opened(page, usual_page, "misattributed")
    rows = page.locator("table.labels tbody tr")
    expect(rows.nth(0)).to_contain_text("misattributed")
    expect(rows.nth(2)).to_contain_text("not cited")
    expect(rows.nth(3)).to_contain_text("nobody showed it")
    expect(rows.nth(3)).to_contain_text("unresolved")
    expect(page.locator(".findings .error").first).to_contain_text("Try:")


def test_every_stage_has_its_time(page: Page, usual_page: str) -> None:
    """The waterfall has a row for each stage, with start and duration."""
    opened(page, usual_page, "nested")
    rows = page.locator(".waterfall tbody tr")
    expect(rows).to_have_count(5)
    expect(rows.nth(1)).to_contain_text("11 ms")
    assert page.locator(".waterfall .deep-1").count() == 2


def test_the_test_is_copied_and_the_spans_are_saved(page: Page, context: BrowserContext, usual_page: str) -> None:
    """A test that can be pasted, and OTLP JSON that replay reads."""
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{usual_page}#/handoff/{LOST.handoff_id}")
    page.get_by_role("button", name="Copy as test").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "def test_" in copied
    with page.expect_download() as saving:
        page.get_by_role("button", name="Download spans").click()
    assert saving.value.suggested_filename == f"{LOST.record_id}.json"
    spans = json.loads(Path(saving.value.path()).read_text(encoding="utf-8"))
    assert spans["resourceSpans"]


@pytest.mark.parametrize("name", SPECIAL)
def test_every_special_handoff_is_drawn(page: Page, usual_page: str, pictures: Path, name: str) -> None:
    """Nothing that a handoff can be makes the page stumble."""
    opened(page, usual_page, name)
    page.screenshot(path=pictures / f"handoff-{name}.png", full_page=True)
