"""Odd handoffs: long names, IDs that occur again, times that go backwards, very short and very long pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rop_otel.core.handoff import HandoffRecord
from tests.core.build import stage
from tests.page.browser.cases import ordinary, shown, timed, written

LONG = "a" * 70
HUGE = "x" * 1_000_000
DOTTED = "library.module.submodule.function#3"
STAGES = 300


def backwards(record: HandoffRecord, by: int = 0) -> HandoffRecord:
    """Return a handoff of which everything ends before it starts."""
    stages = tuple(replace(each, start_ns=(each.end_ns or 0) - by, end_ns=each.start_ns - by) for each in record.stages)
    return replace(record, start_ns=record.end_ns, end_ns=record.start_ns, stages=stages)


def _many() -> HandoffRecord:
    lists = [[f"d{(place * 7 + at) % 40}" for at in range(10)] for place in range(STAGES)]
    return timed(
        *(stage("rerank" if place else "vector", " ".join(ids), name=f"s{place}") for place, ids in enumerate(lists)),
        number=5, selected="d3", record_id="many",
    )  # fmt: skip


def _odd() -> dict[str, HandoffRecord]:
    usual = timed(stage("vector", "a b c d"), stage("packing", "b c"), number=3, selected="a", record_id="back")
    return {
        "never": timed(stage("vector", "b c d"), stage("packing", "b c"), number=1, selected="zz", record_id=None),
        "cut": timed(
            stage("vector", "a b c d"), stage("packing", "b c", given="b c"), number=2, selected="a", record_id=None
        ),
        "dropped": timed(
            stage("vector", f"{DOTTED} b"), stage("packing", "b"), number=4, selected=DOTTED, record_id=None
        ),
        "alone": timed(stage("vector", "b a"), number=8, selected="a", cutoff=1, record_id="alone"),
        "back": backwards(usual),
        "long ago": backwards(replace(usual, handoff_id="long-ago", record_id="long ago"), by=10**15),
        "many": _many(),
        "huge": timed(
            stage(HUGE, f"{HUGE} b"), stage("packing", "b", name=HUGE), number=6, selected=HUGE, record_id=HUGE,
            name=HUGE, run_id=HUGE,
        ),
        "long": timed(
            stage(LONG, f"{LONG} b", name=LONG, implementation=LONG), stage("packing", "b", labels=LONG),
            stage("reader", "b", labels=LONG, citations=(LONG,)), number=7, selected=LONG, judged=LONG, record_id=None,
            name=LONG, run_id=LONG, scope_id=LONG,
        ),
    }  # fmt: skip


ODD = _odd()
VIEWS = {"overview": "#/", "handoffs": "#/handoffs", "compare": "#/compare?fate=missed"} | {
    name: f"#/handoff/{record.handoff_id}" for name, record in ODD.items()
}
TEXTS = ".ranks text:not(.unseen)"


@pytest.fixture(scope="module")
def odd_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of them."""
    return written(tmp_path_factory.mktemp("odd") / "odd.html", shown("odd.jsonl", tuple(ODD.values())))


@pytest.fixture(params=[375, 1280, 1920])
def wide(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A tab of some width."""
    with browser.new_context(viewport={"width": request.param, "height": 900}, reduced_motion="reduce") as window:
        yield window.new_page()


@pytest.mark.parametrize("view", VIEWS)
def test_no_view_goes_sideways(wide: Page, odd_page: str, pictures: Path, view: str) -> None:
    """Names without a place to break them, and IDs where a record is usual, stay within the page."""
    wide.goto(odd_page + VIEWS[view])
    expect(wide.locator("h1")).to_be_visible()
    expect(wide.locator("main")).not_to_contain_text("Reading")
    width = wide.evaluate("innerWidth")
    wide.screenshot(path=pictures / f"odd-{view.replace(' ', '-')}-{width}.png")
    assert wide.evaluate("document.documentElement.scrollWidth") <= width
    beyond = wide.locator("table.handoffs td, table.handoffs th, .list h3, .list p").evaluate_all(
        "all => all.filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent.slice(0, 80))"
    )
    assert beyond == []


@pytest.mark.parametrize("name", [name for name in ODD if name != "many"])
def test_every_text_of_a_chart_lies_in_it(wide: Page, odd_page: str, name: str) -> None:
    """Labels, reasons and titles of few stages are not cut off by the edge of the picture."""
    wide.goto(odd_page + VIEWS[name])
    expect(wide.locator(".ranks")).to_be_visible()
    outside = wide.locator(TEXTS).evaluate_all(
        """all => all.filter(each => {
             const box = each.getBoundingClientRect(), whole = each.closest('svg').getBoundingClientRect();
             return box.left < whole.left - 1 || box.right > whole.right + 1
               || box.top < whole.top - 1 || box.bottom > whole.bottom + 1;
           }).map(each => each.textContent)"""
    )
    assert outside == []


def test_a_reason_does_not_cover_the_name_of_its_stage(page: Page, odd_page: str) -> None:
    """A stage that is left out has its name above the hatched column and the reason within it."""
    page.goto(odd_page + VIEWS["back"])
    column = page.locator(".column.late").first
    reason, title = column.locator(".reason").bounding_box(), column.locator(".stage").bounding_box()
    assert reason is not None
    assert title is not None
    assert title["y"] + title["height"] <= reason["y"]


@pytest.mark.parametrize("name", ["back", "long ago"])
def test_times_that_go_backwards_are_said_to(page: Page, odd_page: str, name: str) -> None:
    """No negative duration is shown, and the words of the axis do not cover each other."""
    page.goto(odd_page + VIEWS[name])
    expect(page.locator(".waterfall tbody tr")).to_have_count(2)
    expect(page.locator(".waterfall")).to_contain_text("ends before it starts")
    expect(page.locator(".lists")).to_contain_text("ends before it starts")
    boxes = [each.bounding_box() for each in page.locator(".waterfall .axis text").all()]
    places = [(box["x"], box["x"] + box["width"]) for box in boxes if box is not None]
    assert 1 < len(places) < 8
    assert all(end <= start for (_, end), (start, _) in pairwise(places))


def test_of_many_stages_the_one_at_fault_is_in_sight(page: Page, odd_page: str, pictures: Path) -> None:
    """The chart of 300 stages begins where the object was lost; what is long is shown in part first."""
    page.goto(odd_page + VIEWS["many"])
    place = page.locator(".column.loss .stage").bounding_box()
    assert place is not None
    assert 0 < place["x"] < 1440
    expect(page.locator(".findings > li")).to_have_count(30)
    page.get_by_role("button", name="more finding").click()
    assert page.locator(".findings > li").count() > 100
    page.screenshot(path=pictures / "odd-many.png")
    page.goto(odd_page)
    expect(page.locator(".survival tbody .hit").first).to_be_visible()
    assert page.locator(".survival tbody tr").count() < 80
    page.get_by_role("button", name="more stage").first.click()
    assert page.locator(".survival tbody tr").count() > 150


def test_ids_that_occur_again_are_handoffs_of_their_own(page: Page, tmp_path: Path) -> None:
    """Each of three handoffs of one ID is listed, opened and passed by."""
    again = [replace(ordinary(number), handoff_id="again", record_id=f"r{number}") for number in range(3)]
    address = written(tmp_path / "again.html", shown("again.jsonl", again))
    page.goto(f"{address}#/handoffs")
    expect(page.locator(".row-link")).to_have_text(["r0", "r1", "r2"])
    page.get_by_role("link", name="r1").click()
    expect(page.locator("h1")).to_have_text("r1")
    page.get_by_role("link", name="Next").click()
    expect(page.locator("h1")).to_have_text("r2")
    expect(page.locator(".steps")).to_contain_text("3 of 3")
    page.reload()
    expect(page.locator("h1")).to_have_text("r2")
    page.goto(f"{address}#/handoff/again")
    expect(page.locator("h1")).to_have_text("r0")
