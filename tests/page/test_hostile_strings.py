"""Nothing that a span carries gets out of the data blocks, whatever it is."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from rop_otel.core.handoff import HandoffRecord, StageRecord, assess
from rop_otel.core.profile import Resolver
from rop_otel.page import AssessedSet, Carried, write_page
from rop_otel.spans import Span
from tests.page.shapes import check
from tests.page.unpacked import blocks, details

MARK = "h0stile"
HOSTILE = {
    "script": f"{MARK}</script><script>alert(1)</script>",
    "comment": f"{MARK}<!--<script>-->",
    "block": f'{MARK}</script><script type="application/json" data-block="head">{{}}</script>',
    "markup": f"{MARK}<img src=x onerror=alert(1)>&lt;\"'`",
    "lines": f"{MARK}\u2028\u2029\n\r\v\f\x85",
    "bidi": f"{MARK}\u202e\u2066\u200f",
    "terminal": f"{MARK}\x1b[2J\x1b]0;x\x07\x9b2J\x00",
    "surrogates": f"{MARK}\ud800 \udfff",
    "python": f'{MARK}"""\'\\" + __import__("os").abort() #',
    "placeholders": f"{MARK}<!--{{data}}-->/*{{script}}*/",
    "javascript": f"{MARK}__proto__ $ {{}} `${{alert(1)}}`",
    "long": MARK + "x" * 1_000_000,
    "astral": f"{MARK}\U0001f600\U000e0041",
}


class Tags(HTMLParser):
    """The tags of a page, and the text of its scripts and of everything else."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.text += data


def parsed(page: bytes) -> Tags:
    found = Tags()
    found.feed(page.decode())
    found.close()
    return found


def written(text: str) -> tuple[bytes, AssessedSet]:
    """Return a page on which every string is this text."""
    common: dict[str, Any] = {"trace_id": "a" * 32, "implementation": text, "query_form": text, "scopes": (text, text)}
    packed = StageRecord(
        kind="packing", name=text, span_id="b" * 16, start_ns=1, end_ns=2, returned=(text, "x"), labels=(text, text),
        input=("y", text), fed_by=(text,), basis=text, **common,
    )  # fmt: skip
    other = replace(packed, kind=text, span_id="c" * 16, start_ns=2, end_ns=3)
    reader = replace(packed, kind="reader", span_id="d" * 16, end_ns=4, citations=(text, "S9"), attaches=text)
    record = HandoffRecord(
        name=text, handoff_id=text, trace_id="a" * 32, span_id="e" * 16, record_id=text, run_id=text,
        declaration_id=text, mode="hard", selected=(text, "z"), need="every", judged=(text,), scope_id=text,
        expected=(text, "nowhere"), label_scope=text, stages=(packed, other, reader), start_ns=1, end_ns=9,
    )  # fmt: skip
    resolver = None if "\ud800" in text else Resolver({text: ["x"], "z": ["zz"]})
    carried = Carried(text=True)
    for stage in record.stages:
        carried.add(
            Span(trace_id=stage.trace_id, span_id=stage.span_id, service=text, attributes={"input.value": text})
        )
    shown = AssessedSet(
        name=text,
        records=(record,),
        assessments=(assess(record, resolver=resolver),),
        resolver=resolver,
        carried=carried,
        incomplete=(text,),
        duplicates=(text,),
        absent_resolvers=(text,),
        run={"name": text},
    )
    stream = io.BytesIO()
    write_page([shown], stream, title=text)
    return stream.getvalue(), shown


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_string_gets_out(text: str) -> None:
    """The page has the tags that it has with harmless strings, and its text says nothing of the string."""
    page, _ = written(text)
    found, harmless = parsed(page), parsed(written("harmless")[0])
    assert found.tags == harmless.tags
    assert MARK not in found.text


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_every_string_arrives_as_it_was(text: str) -> None:
    """The blocks are read, and hold the string unchanged."""
    page, shown = written(text)
    found = blocks(page)
    (detail,) = details(found)
    check(found, [detail])
    assert found["head"]["title"] == found["head"]["sets"][0]["name"] == text
    assert found["set-0-rows"][0]["record_id"] == detail["handoff_name"] == text
    assert [each["ids"][0] for each in detail["stages"]] == [text] * len(shown.records[0].stages)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_copied_test_is_what_it_says(text: str) -> None:
    """A string in a copied test is a string: nothing of it runs, or stands in the code as it is where it hides."""
    page, shown = written(text)
    (detail,) = details(blocks(page))
    assert detail["test"].isascii()
    space: dict[str, Any] = {}
    exec(compile(detail["test"], "<copied>", "exec"), space)
    assert [name for name in space if name.startswith("test_")]
    (test,) = [value for name, value in space.items() if name.startswith("test_")]
    with pytest.raises(AssertionError):
        test()
    assert shown.assessments[0].verdict == "FAIL"


def test_the_policy_allows_just_what_is_there() -> None:
    """Style and script have the hashes that the policy names; it allows nothing else."""
    text = written("harmless")[0].decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    for tag in ("style", "script"):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in inside]
        assert rules[f"{tag}-src"].split() == hashes
    assert "unsafe" not in policy[1]
