"""The page as ``rop-otel replay`` and ``rop-otel demo`` write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_demo import files as files
from tests.cli.test_demo import run as run_demo
from tests.cli.test_replay import recorded, refused, run
from tests.page.shapes import check
from tests.page.unpacked import blocks, details
from tests.spans.trace import handoff, pipeline, stage


def test_replay_writes_a_page(tmp_path: Path) -> None:
    """The page holds what was replayed; the report and the exit code stay what they are."""
    spans, page = recorded(tmp_path, pipeline()), tmp_path / "page.html"
    plain, drawn = run("replay", spans), run("replay", spans, "--html", page)
    assert (drawn.returncode, drawn.stdout, drawn.stderr) == (plain.returncode, plain.stdout, b"")
    found = blocks(page.read_bytes())
    check(found, details(found))
    assert [each["name"] for each in found["head"]["sets"]] == ["traces.jsonl"]
    assert [each["verdict"] for each in found["set-0-rows"]] == ["FAIL"]


def test_several_files_are_one_set_and_compared_ones_another(tmp_path: Path) -> None:
    """Files together are one set; those of --compare are a second one, which changes no exit code."""
    whole = [handoff(1, "a"), stage(2, "packing", "a", parent=1)]
    one = recorded(tmp_path, whole, "one.jsonl")
    other = recorded(tmp_path, pipeline(), "other.jsonl")
    page = tmp_path / "page.html"
    assert run("replay", one, "--html", page, "--compare", other, "--compare", one).returncode == 0
    found = blocks(page.read_bytes())
    check(found, details(found, 1), 1)
    assert [(each["name"], each["handoffs"]) for each in found["head"]["sets"]] == [
        ("one.jsonl", 1),
        ("other.jsonl and 1 more", 1),
    ]


def test_no_handoffs(tmp_path: Path) -> None:
    """A file without handoffs gives a page without any."""
    spans, page = recorded(tmp_path, []), tmp_path / "page.html"
    assert run("replay", spans, "--html", page).returncode == 0
    check(blocks(page.read_bytes()), [])


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    """One sentence that names the file, and exit code 2; a file that is read is not written over."""
    spans = recorded(tmp_path, pipeline())
    missing = tmp_path / "nowhere" / "page.html"
    assert refused("replay", spans, "--html", missing) == (
        f"rop-otel: {missing}: cannot be written: No such file or directory"
    )
    assert refused("replay", spans, "--html", tmp_path) == f"rop-otel: {tmp_path}: cannot be written: Is a directory"
    assert refused("replay", spans, "--html", "/dev/full").startswith("rop-otel: /dev/full: cannot be written: ")
    before = spans.read_bytes()
    assert "would be written over" in refused("replay", spans, "--html", spans)
    assert spans.read_bytes() == before


@pytest.mark.parametrize("option", [["--compare", "x.jsonl"], ["--text"], ["--trace-url", "https://x/{trace_id}"]])
def test_options_of_the_page_need_one(tmp_path: Path, option: list[str]) -> None:
    """What is to be on a page needs a page."""
    assert "give --html too" in refused("replay", recorded(tmp_path, pipeline()), *option)


@pytest.mark.parametrize("address", ["javascript:{trace_id}", "https://x/", "x/{trace_id}", ""])
def test_an_address_of_traces(tmp_path: Path, address: str) -> None:
    """It is http or https and has a place for the ID; anything else is refused before a page is written."""
    page = tmp_path / "page.html"
    found = refused("replay", recorded(tmp_path, pipeline()), "--html", page, "--trace-url", address)
    assert "is no address of traces" in found
    assert not page.exists()


def test_the_demo_writes_a_page(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The demo ends by naming the page, on which are its handoffs."""
    page = tmp_path / "demo.html"
    code, out, _ = run_demo(monkeypatch, capsys, "demo", *files, "--html", str(page))
    assert code == 0
    assert out.rstrip().splitlines()[-1].split() == [
        "Page",
        str(page),
        *"draws every handoff: open it in a browser".split(),
    ]
    found = blocks(page.read_bytes())
    check(found, details(found))
    assert [each["record_id"] for each in found["set-0-rows"]] == ["q1", "q2", "q3"]
    assert "3 handoffs: 2 PASS, 1 SELECTOR_ERROR" in out
    assert found["head"]["sets"][0]["summary"]["verdicts"] == {"SELECTOR_ERROR": 1, "PASS": 2}


def test_a_page_that_the_demo_cannot_write(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused before anything slow begins."""
    code, out, errors = run_demo(monkeypatch, capsys, "demo", *files, "--html", str(tmp_path / "no" / "page.html"))
    assert (code, "Asking" in out, errors.count("\n")) == (2, False, 1)
    assert "cannot be written" in errors
