"""What a study looks like."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from rop_otel.study.rule_transitions import transitions
from rop_otel.study.study_report import Kind, tables_report, transitions_report
from rop_otel.study.tables.every_table import chosen
from rop_otel.study.views import plots
from tests.study.test_tables import different, simple, two_selectors
from tests.study.toy import context, freeze, question, ranked

HOSTILE = "<script>alert(1)</script>|*\x1b[2J\u202e"
VOID = frozenset({"meta", "br"})
KINDS: list[Kind] = ["text", "json", "markdown", "html"]


class Page(HTMLParser):
    """Collects the elements of a page, and checks that each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def hostile(folder: Path) -> str:
    questions = [question(f"{name}{HOSTILE}", HOSTILE, ["g"], selector=HOSTILE) for name in "ab"]
    lists = {row["id"]: ["f"] * 6 for row in questions}
    rankings = {("title", HOSTILE.replace("/", "")): ranked(questions, "title", HOSTILE.replace("/", ""), lists)}
    return freeze(folder, questions, rankings)


@pytest.mark.parametrize("make", [simple, different, two_selectors])
def test_a_page_has_plots_with_tables_beside_them(tmp_path: Path, make: Callable[[Path], str]) -> None:
    """Each plot is named for those who cannot see it, and needs no script and nothing from elsewhere."""
    found = Page(tables_report(context(make(tmp_path)), chosen([]), kind="html"))
    assert found.count("svg") >= 2
    assert found.count("figure") == found.count("svg")
    assert found.count("table") >= found.count("svg")
    assert not {tag for tag, _ in found.tags} & {"script", "img", "link", "iframe"}
    names = {attributes["id"] for tag, attributes in found.tags if tag == "title" and "id" in attributes}
    for tag, attributes in found.tags:
        if tag == "svg":
            assert attributes["role"] == "img"
            assert attributes["aria-labelledby"] in names
        assert not any(name.startswith("on") or name in {"src", "href"} for name in attributes)


def test_a_lost_row_stays_in_the_bar(tmp_path: Path) -> None:
    """What cannot be judged is a part of the transitions' whole, under a name of its own."""
    questions = [question(name, "u") for name in "ab"]
    rankings = {
        ("title", "x"): ranked(questions, "title", "x", {"a": ["f"], "b": ["f"]}),
        ("title", "y"): ranked(questions, "title", "y", {"a": ["u"], "b": "rule_failed: E"}),
    }
    found = Page(tables_report(context(freeze(tmp_path, questions, rankings)), chosen([5]), kind="html"))
    assert {"y, recovered: 1", "y, unverifiable: 1", "y, missed by both: 0"} <= set(found.texts)


def test_a_page_is_for_light_and_dark_screens(tmp_path: Path) -> None:
    """Every colour is set for both."""
    text = tables_report(context(simple(tmp_path)), chosen([5]), kind="html")
    assert "color-scheme:light dark" in text
    light, dark = text.partition("prefers-color-scheme:dark")[::2]
    for number in range(plots.SERIES):
        [colour] = re.findall(rf"\.text-{number}\{{fill:var\((--c\d+)\)", text)
        assert f"{colour}:" in light
        assert f"{colour}:" in dark
    looks = re.findall(r"\.line-\d+(\{.*?\})", text)
    assert len(set(looks)) == plots.SERIES


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_from_files_is_no_markup_and_no_control(tmp_path: Path, kind: Kind) -> None:
    """Selectors, questions and titles are shown as they are written."""
    here = context(hostile(tmp_path))
    moves = transitions(here, before=None, after=None)
    for text in (tables_report(here, chosen([]), kind=kind), transitions_report(moves, kind=kind)):
        assert "\x1b" not in text
        assert "\u202e" not in text
        if kind in ("html", "markdown"):
            assert "<script" not in text.replace("\\<script", "")
    if kind == "html":
        assert "<script>alert(1)</script>|*\\x1b[2J\\u202e" in Page(tables_report(here, chosen([5]), kind=kind)).texts


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_run_has_the_same_bytes(tmp_path: Path, kind: Kind) -> None:
    """Whatever the form."""
    folder = two_selectors(tmp_path)
    first, second = (tables_report(context(folder), chosen([]), kind=kind, compare=True) for _ in range(2))
    assert first == second


def test_text_says_what_intervals_are_of(tmp_path: Path) -> None:
    """That clusters are single rows is said where they are, and not where they are not."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    single = tables_report(context(simple(tmp_path / "one")), chosen([5]), kind="text")
    double = tables_report(context(two_selectors(tmp_path / "two"), row_level=True), chosen([5]), kind="text")
    assert "Every question has one row, so that a bootstrap over questions is one over rows." in single
    assert "Every question has one row, so" not in double
    assert "(rows: [" in double


def test_markdown_tables_have_equally_many_cells(tmp_path: Path) -> None:
    """In each row of a table."""
    text = tables_report(context(different(tmp_path)), chosen([]), kind="markdown", compare=True)
    widths: set[int] = set()
    for line in text.split("\n"):
        if line.startswith("|"):
            widths.add(line.replace("\\|", "").count("|"))
            assert len(widths) == 1
        else:
            widths = set()
    assert "## Table 8." in text


def test_json_is_json(tmp_path: Path) -> None:
    """It holds the tables, and the choices that they were made under."""
    found = json.loads(tables_report(context(simple(tmp_path), seed=3), chosen([5, 8]), kind="json"))
    assert list(found["tables"]) == ["5", "8"]
    assert (found["cutoffs"], found["depth"], found["intervals"]["seed"]) == ([1, 5, 20], 20, 3)


def test_labels_of_a_survival_plot_never_overlap() -> None:
    """However close the lines end, each name has a line of its own within the plot."""
    drawn = ET.fromstring(plots.survival({f"rule {n}": [0.1, 0.2 + n / 1000] for n in range(10)}, title="t", name="n"))
    places = sorted(float(text.attrib["y"]) for text in drawn.iter("text") if "series" in text.attrib["class"])
    assert all(after - before > 14 for before, after in pairwise(places))
    assert places[-1] < float(drawn.attrib["viewBox"].split()[3]) - 30


def test_bars_of_transitions_fill_the_row() -> None:
    """Their widths add up to the whole, and a row without counts has none."""
    drawn = ET.fromstring(plots.stacks({"x": {"kept": 3, "lost": 1}, "y": {"kept": 0, "lost": 0}}, title="t", name="n"))
    widths = [float(bar.attrib["width"]) for bar in drawn.iter("rect")]
    assert widths == [pytest.approx(3 * widths[1], abs=0.2), widths[1], 0, 0]


@pytest.mark.parametrize(("high", "last"), [(0.01, "0.05"), (0.21, "0.25"), (0.82, "1.00"), (1.0, "1.00")])
def test_the_scale_of_losses_reaches_the_longest_interval(high: float, last: str) -> None:
    """And never beyond a share of 1."""
    row = plots.Loss(name="x", text="t", rate=high / 2, interval=(0, high))
    drawn = ET.fromstring(plots.losses([row], title="t", name="n"))
    assert [text.text for text in drawn.iter("text") if text.attrib["class"] == "tick"][-1] == last
