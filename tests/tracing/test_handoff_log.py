"""What the application's log says about handoffs that went wrong."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

import rop_otel as rop
from tests.conftest import ROOT
from tests.tracing.watched import Watched, retrieve

PROGRAM = """
import logging
import rop_otel as rop
logging.basicConfig(level=logging.INFO)
with rop.handoff("docs-qa", selected="timeouts"):
    with rop.using_stage("vector") as stage:
        stage.returned(["timeouts", "queues"])
    with rop.using_stage("rerank") as stage:
        stage.returned(["queues"])
"""


class Broken(logging.Handler):
    """A handler that raises."""

    def handle(self, record: logging.LogRecord) -> bool:
        """Raise."""
        raise OSError("the disk is full")


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """What was logged at INFO, but for what is watched."""
    with caplog.at_level(logging.INFO, "rop_otel"):
        yield lambda: [line for line in caplog.messages if ": watching " not in line]


def test_a_lost_object_is_named_with_stage_and_cause(watched: Watched, lines: Callable[[], list[str]]) -> None:
    """A FAIL is one line: the sentence of the assessment, and what was selected."""
    with rop.handoff("docs-qa", selected="a"):
        retrieve("a", "b", packed=("b",))
    assert lines() == [f"{watched.assessment}; selected: 'a'"]
    assert "lost at packing: packing left it out" in lines()[0]


def test_a_selector_that_found_nothing_is_told(watched: Watched, lines: Callable[[], list[str]]) -> None:
    """A SELECTOR_ERROR is a line too."""
    with rop.handoff("docs-qa", selected=None):
        retrieve("a", packed=("a",))
    assert lines() == [str(watched.assessment)]
    assert "SELECTOR_ERROR" in lines()[0]


def test_a_finding_that_is_an_error_is_told(watched: Watched, lines: Callable[[], list[str]]) -> None:
    """A handoff that loses nothing, or has nothing to lose, is a line where one of its findings is an error."""
    with rop.handoff("docs-qa", scope="ours", selected="a"), rop.using_stage("vector") as stage:
        stage.returned(["a"], scopes=["theirs"])
    with rop.handoff("docs-qa", scope="ours"), rop.using_stage("vector") as stage:
        stage.returned(["a"], scopes=["theirs"])
    passed, not_due = watched.heard.assessments
    assert (passed.verdict, not_due.verdict) == ("PASS", "NOT_APPLICABLE")
    assert lines() == [f"{passed}; selected: 'a'", str(not_due)]
    assert "scope_leak at vector" in lines()[1]


def test_a_finding_that_is_a_warning_is_not_told(watched: Watched, lines: Callable[[], list[str]]) -> None:
    """What deserves a look and no more is in metrics and spans alone."""
    with rop.handoff("docs-qa", selected="a", expected=["vector", "rerank"]):
        retrieve("a", packed=("a",))
    assert [finding.severity for finding in watched.assessment.findings] == ["warning"]
    assert lines() == []


def test_what_arrives_is_not_told(watched: Watched, lines: Callable[[], list[str]]) -> None:
    """A PASS, and a handoff in which nothing was selected, are no news."""
    with rop.handoff("docs-qa", selected="a"):
        retrieve("a", packed=("a",))
    with rop.handoff("docs-qa"):
        retrieve("a", packed=("a",))
    assert len(watched.heard.assessments) == 2
    assert lines() == []


def test_many_alternatives_are_counted(watched: Watched, lines: Callable[[], list[str]]) -> None:
    """A line names a few alternatives, on one line whatever is in them."""
    with rop.handoff("docs-qa", selected=["a\tb", "c", "d", "e", "f"]):
        retrieve("x", packed=("x",))
    assert lines()[0].endswith(r"; selected: 'a\tb', 'c', 'd' and 2 more")


def test_a_line_says_no_more_than_the_span(watch: Callable[..., Watched], lines: Callable[[], list[str]]) -> None:
    """Where IDs are hashed, the log has the hash."""
    watched = watch(hash_key=b"secret")
    with rop.handoff("docs-qa", selected="timeouts"):
        retrieve("queues", packed=("queues",))
    (record,) = watched.heard.records
    assert record.selected is not None
    assert "timeouts" not in lines()[0]
    assert record.selected[0] in lines()[0]


def test_the_handoff_is_found_again(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """The log record carries the handoff's ID, for logs that are searched."""
    with caplog.at_level(logging.INFO, "rop_otel.handoffs"), rop.handoff("docs-qa", selected="a") as handoff:
        retrieve("b", packed=("b",))
    assert vars(caplog.records[-1])["rop_handoff_id"] == handoff.id


def test_a_handler_that_raises_harms_nothing(watched: Watched, lines: Callable[[], list[str]]) -> None:
    """What the application's logging raises is counted, and the assessment goes where it should."""
    logger, broken = logging.getLogger("rop_otel.handoffs"), Broken()
    logger.addHandler(broken)
    try:
        with rop.handoff("docs-qa", selected="a"):
            retrieve("b", packed=("b",))
    finally:
        logger.removeHandler(broken)
    assert watched.assessment.verdict is rop.Verdict.FAIL
    assert watched.errors("sink") == 1


def test_no_set_up_is_needed() -> None:
    """An application that logs at INFO, and configured no monitoring, reads it on its terminal."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    watching, lost = run.stderr.splitlines(keepends=True)
    assert watching.startswith("INFO:rop_otel.handoffs:docs-qa: watching vector, rerank; IDs such as 'timeouts'")
    assert lost == (
        "INFO:rop_otel.handoffs:docs-qa: FAIL, the selected object was lost at rerank: the reranker put it too low; "
        "selected: 'timeouts'\n"
    )


def test_the_first_handoff_of_a_name_says_what_is_watched(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """One line for each name, with stages, an ID, scores, labels and the selection, and what looks wrong."""
    with caplog.at_level(logging.INFO, "rop_otel"):
        for name in ("docs-qa", "docs-qa", "other"):
            with rop.handoff(name, selected="a"):
                retrieve("a", "b", packed=("a",))
        with rop.handoff("nothing"):
            pass
    watching = [line for line in caplog.messages if ": watching " in line]
    said = "docs-qa: watching vector, packing; IDs such as 'a'; no scores; no labels; selected 'a'"
    assert watching[0].partition("; IDs are read")[0] == said
    assert [line.partition(":")[0] for line in watching] == ["docs-qa", "other", "nothing"]
    assert "no stage ran in the handoff (decorate" in watching[2]
    assert "nothing is selected" in watching[2]


def test_it_says_where_ids_come_from(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """The place in the application's own objects is written as Python writes it."""
    document = SimpleNamespace(metadata={"source": "a"}, page_content="text")
    with caplog.at_level(logging.INFO, "rop_otel"), rop.handoff("docs-qa", selected="a"):
        with rop.using_stage("vector", id="metadata.source") as stage:
            stage.returned([document])
        with rop.using_stage("packing", id=lambda hit: hit["key"]) as stage:
            stage.returned([{"key": "a"}])
    assert "; IDs are read from SimpleNamespace.metadata['source'], dict by " in caplog.messages[0]


def test_handoffs_without_a_verdict_are_counted(
    watched: Watched, lines: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one without a verdict is a line; later ones are counted in one line a minute."""
    now = 1000.0
    monkeypatch.setattr("rop_otel.tracing.running.handoff_log.monotonic", lambda: now)
    for seconds in (0, 10, 20, 61, 62, 200):
        now = 1000.0 + seconds
        with rop.handoff("docs-qa", selected=None):
            retrieve("a", packed=("a",))
    assert len(lines()) == 3
    assert "more like it" not in lines()[0]
    assert lines()[1].endswith("; 2 more like it since the last line")
    assert lines()[2].endswith("; 1 more like it since the last line")


def test_many_names_do_not_fill_the_log(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """A name that is another one for each handoff is logged a hundred times."""
    with caplog.at_level(logging.INFO, "rop_otel"):
        for number in range(150):
            with rop.handoff(f"q{number}", selected=None):
                retrieve("a", packed=("a",))
    assert len(caplog.messages) == 200
