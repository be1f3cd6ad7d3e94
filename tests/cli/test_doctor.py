"""What ``rop-otel doctor`` says of recorded spans."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from rop_otel import semconv
from rop_otel.spans.otlp_writer import write
from tests.cli.sealed import run
from tests.spans.trace import handoff, span, stage


@pytest.fixture
def spans(tmp_path: Path) -> Path:
    """Return a file of two names of handoffs: one is watched well, the other returns chunks of what is selected."""
    stream = io.BytesIO()
    write(
        [
            handoff(1, "a"),
            stage(2, "vector", "a", "b", parent=1),
            stage(3, "packing", "a", parent=1),
            handoff(10, "guide.md", given={semconv.HANDOFF_NAME: "chunks"}),
            stage(11, "vector", "guide.md#1", "guide.md#2", parent=10),
            stage(12, "packing", "guide.md#1", parent=10),
            handoff(20, "guide.md", given={semconv.HANDOFF_NAME: "chunks"}),
            stage(21, "vector", "guide.md", parent=20),
            stage(22, "packing", "guide.md", parent=20),
            span(30, attributes={semconv.STAGE: "vector"}),
        ],
        stream,
    )
    file = tmp_path / "spans.jsonl"
    file.write_bytes(stream.getvalue())
    return file


def test_it_says_what_looks_wrong_and_what_to_change(spans: Path) -> None:
    """Each name has what is watched, its verdicts, and each symptom with its advice."""
    code, text = run("doctor", str(spans))
    assert code == 1
    assert "watching vector, packing; IDs such as 'guide.md#1'" in text
    assert "chunks: 2 handoffs, 1 FAIL, 1 PASS" in text
    flat = " ".join(text.split())
    assert (
        "1 of 2: stage vector returns IDs such as 'guide.md#1', but the selection is 'guide.md'. Give a resolver"
        in flat
    )
    assert "✓ nothing looks wrong" in text
    assert "Stages that belong to no handoff: 1." in flat


@pytest.mark.parametrize(("selections", "code"), [(["a", None], 0), ([None, None], 1)])
def test_a_selection_that_is_missing(tmp_path: Path, selections: list[str | None], code: int) -> None:
    """Now and then it may be: the selector picked nothing. Where it always is, no verdict means anything."""
    file = tmp_path / "spans.jsonl"
    spans = []
    for number, selected in enumerate(selections):
        first = 10 * number + 1
        given: dict[str, object] = {} if selected else {semconv.SELECTED_IDS: []}
        spans += [handoff(first, "a", given=given), stage(first + 1, "packing", "a", parent=first)]
    with file.open("wb") as stream:
        write(spans, stream)
    found, text = run("doctor", str(file))
    assert (found, "a selection was due and none came" in " ".join(text.split())) == (code, True)


def test_json_has_the_same(spans: Path) -> None:
    """A program reads codes, counts and advice."""
    code, text = run("doctor", str(spans), "--format", "json")
    assert code == 1
    found = json.loads(text)
    by_name = {each["handoff_name"]: each for each in found["handoffs"]}
    assert [each["code"] for each in by_name["chunks"]["symptoms"]] == ["chunks"]
    assert by_name["chunks"]["symptoms"][0]["handoffs"] == 1
    assert by_name["chunks"]["verdicts"] == {"FAIL": 1, "PASS": 1}
    assert len(found["remarks"]) == 1


def test_a_resolver_mends_it(spans: Path, tmp_path: Path) -> None:
    """What it advises makes it content."""
    objects = {"guide.md": {"members": ["guide.md#1", "guide.md#2"]}, "a": {"members": ["a"]}}
    (tmp_path / "resolver.json").write_text(json.dumps({"resolver_version": "1", "objects": objects}))
    code, text = run("doctor", str(spans), "--resolver", str(tmp_path / "resolver.json"))
    assert code == 0
    assert "The verdicts mean what they say." in text


def test_nothing_is_watched(tmp_path: Path) -> None:
    """A file without a handoff is not well."""
    (tmp_path / "spans.json").write_text('{"resourceSpans": []}')
    code, text = run("doctor", str(tmp_path / "spans.json"))
    assert code == 1
    assert "Nothing is watched." in text
