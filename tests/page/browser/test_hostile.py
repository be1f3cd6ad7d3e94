"""Whatever a span carries is shown as text: no markup, no script, no sign that hides or turns what stands beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rop_otel import semconv
from rop_otel.core.handoff import assess
from rop_otel.page import AssessedSet, Carried, write_page
from rop_otel.spans import Span
from tests.core.build import handoff, stage

FORMS = {
    "element": "<img class=hostile src=x onerror=window.hit=1>{}",
    "script": "</script><script class=hostile>window.hit=1</script>{}",
    "attribute": "\" class=hostile onmouseover=window.hit=1 '{}",
    "address": "javascript:window.hit=1//{}",
    "template": "${{window.hit=1}}{}{{{{constructor}}}}",
    "terminal": "\x1b[2J\x07{}\x9b2J",
    "direction": "\u202e{}\u2066\u200f",
    "invisible": "\u200b{}\u00ad\ufeff\x00",
    "key": "__proto__{}",
    "place": "<!--{{data}}-->/*{{style}}*/{}",
    "half a pair": "\ud800{}",
}
ESCAPED = {
    "half a pair": "\\u{d800}%s",
    "terminal": "\\u{1b}[2J\\u{7}%s\\u{9b}2J",
    "direction": "\\u{202e}%s\\u{2066}\\u{200f}",
    "invisible": "\\u{200b}%s\\u{ad}\\u{feff}\\u{0}",
}


def hostile_page(path: Path, form: str) -> str:
    """Write a page of one handoff, in which every text is hostile and says which field it is of; return its address."""

    def text(field: str) -> str:
        return FORMS[form].format(field)

    kept, lost = text("shown-id"), text("lost-id")
    vector = stage(text("kind"), "", source=True, name=text("stage-name"), implementation=text("implementation"),
                   query_form=text("query-form"), scores=(2.0, 1.0))  # fmt: skip
    vector = replace(vector, returned=(kept, lost), scopes=(text("other-scope"), text("scope")))
    packing = replace(
        stage("packing", "", span_id="00000000000000bb"), returned=(kept,), input=(kept,), labels=(text("label"),)
    )
    reader = replace(
        stage("reader", ""), returned=(lost,), labels=(text("label"),), citations=(text("label"), text("cited"))
    )
    record = handoff(
        vector, packing, reader, selected=None, name=text("name"), handoff_id=text("handoff-id"), trace_id="a" * 32,
        span_id="c" * 16, record_id=text("record"), run_id=text("run"), scope_id=text("scope"),
        expected=(text("expected"),),
    )  # fmt: skip
    record = replace(record, selected=(lost,), judged=(text("judged"),))
    record = replace(record, stages=tuple(replace(each, trace_id="a" * 32) for each in record.stages))
    carried = Carried(text=True)
    query = {semconv.GEN_AI_QUERY_TEXT: text("question")}
    carried.add(Span(trace_id="a" * 32, span_id="c" * 16, service=text("service"), attributes=query))
    shown = AssessedSet(
        name=text("set"), records=(record,), assessments=(assess(record),), carried=carried, orphan_stages=1,
        incomplete=(text("incomplete"),), duplicates=(text("duplicate"),), absent_resolvers=(text("resolver"),),
    )  # fmt: skip
    with path.open("wb") as stream:
        write_page([shown], stream, title=text("title"), made_at=text("made"))
    return path.as_uri()


def as_shown(form: str, field: str) -> str:
    """Return how a hostile text is read on the page."""
    return ESCAPED[form] % field if form in ESCAPED else FORMS[form].format(field)


@pytest.mark.parametrize("form", FORMS)
def test_every_text_is_shown_as_text(page: Page, tmp_path: Path, form: str) -> None:
    """Every field in every view is read as it was written, and nothing in it does anything."""
    page.goto(hostile_page(tmp_path / "hostile.html", form))
    expect(page.locator(".headline")).to_be_visible()
    seen = page.locator("body").inner_text()
    page.get_by_role("link", name="Handoffs", exact=True).click()
    seen += page.locator("main").inner_text()
    page.get_by_role("searchbox", name="Search").fill("record")
    page.locator(".row-link").click()  # at once: what was typed must not lead back
    expect(page.locator(".ranks")).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    for button in page.locator("[aria-pressed=false]").all():
        button.click()
    page.mouse.wheel(0, 400)
    page.locator(".chart-scroll").hover(position={"x": 80, "y": 100})
    seen += page.locator("main").inner_text()
    page.get_by_role("link", name="Compare", exact=True).click()
    seen += page.locator("main").inner_text()
    fields = """
        shown-id lost-id kind stage-name implementation query-form other-scope scope label cited name handoff-id record
        run expected judged service question set incomplete duplicate resolver title made""".split()
    assert [field for field in fields if as_shown(form, field) not in seen] == []
    assert page.locator(".hostile").count() == 0
    assert page.evaluate("window.hit") is None
    assert not any(ord(char) in (0x1B, 0x9B, 0x7, 0x202E, 0x2066, 0x200B) for char in seen)


def test_a_text_of_a_megabyte_is_cut(page: Page, tmp_path: Path) -> None:
    """An ID of a megabyte neither slows nor stretches the page; its length is said."""
    long = "x" * 1_000_000
    record = replace(handoff(stage("vector", long), stage("packing", long), selected=long), record_id=long)
    with (tmp_path / "long.html").open("wb") as stream:
        write_page([AssessedSet(name=long, records=(record,), assessments=(assess(record),))], stream, title=long)
    page.goto(f"{(tmp_path / 'long.html').as_uri()}#/handoffs")
    expect(page.locator(".handoffs")).to_contain_text("(1,000,000 characters)")
    page.locator(".row-link").click()
    expect(page.locator(".ranks")).to_be_visible()
    assert page.locator("body").evaluate("all => all.innerText.length") < 100_000
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
