"""What users' own tests are given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rop_otel as rop
from rop_otel import testing
from rop_otel.errors import ConfigurationError
from rop_otel.testing import Captured, assert_labels_consistent, assert_selected_reaches_reader, capture
from rop_otel.tracing.running import runtime
from tests.page.shapes import check as check_shape
from tests.page.unpacked import blocks, details
from tests.tracing.watched import Watched, retrieve


@pytest.fixture(autouse=True)
def _overruled(watched: Watched) -> Iterator[None]:
    """Be monitored as an application in production is, and see that nothing still overrules that afterwards."""
    yield
    assert runtime.overrule(None) is None


@pytest.fixture
def captured() -> Iterator[Captured]:
    """What a user's fixture would be."""
    with capture() as captured:
        yield captured


def answer(
    *packed: str, labels: tuple[str, ...] = ("S1",), text: str = "It is so [S1].", selected: object = "a"
) -> None:
    """Be an application that answers one question."""
    with rop.handoff("docs-qa", selected=selected) as handoff:
        with rop.using_stage("vector") as stage:
            stage.returned(["a", "b", "c"])
        with rop.using_stage("packing", input=["a", "b", "c"]) as stage:
            stage.returned(list(packed), labels=list(labels))
        handoff.answered(text, sources=list(packed))


def refused(check: Callable[[Captured], None], captured: Captured) -> list[str]:
    """Return the lines of the assertion's message."""
    with pytest.raises(AssertionError) as raised:
        check(captured)
    return str(raised.value).split("\n")


def test_handoffs_are_captured(captured: Captured) -> None:
    """Each handoff is there with its assessment and its record."""
    answer("a")
    answer("b")
    assert [each.verdict for each in captured.assessments] == [rop.Verdict.PASS, rop.Verdict.FAIL]
    assert [[stage.kind for stage in record.stages] for record in captured.records] == [
        ["vector", "packing", "reader"],
        ["vector", "packing", "reader"],
    ]


def test_ids_and_times_are_fixed(captured: Captured) -> None:
    """Two runs are equal: traces and spans are numbered, and times are counted."""
    answer("a")
    answer("a")
    with capture() as again:
        answer("a")
        answer("a")
    assert again == captured
    first, second = captured.records
    assert first.handoff_id == f"{1:032x}-{1:016x}"
    assert (second.trace_id, second.span_id) == (f"{2:032x}", f"{1:016x}")
    assert [stage.span_id for stage in first.stages] == [f"{number:016x}" for number in (2, 3, 4)]
    assert [stage.trace_id for stage in first.stages] == [first.trace_id] * 3
    assert (first.end_ns - first.start_ns) / 1e6 == 7
    assert first.start_ns == second.start_ns


def test_nothing_else_hears(watched: Watched) -> None:
    """What monitors the process hears nothing of what is captured, and everything afterwards."""
    with capture() as captured:
        answer("a")
    answer("a")
    assert len(captured.assessments) == len(watched.heard.assessments) == 1


def test_the_applications_configuration_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Monitoring that the environment or the application switches off is captured all the same."""
    monkeypatch.setenv("ROP_OTEL_DISABLED", "true")
    with capture() as captured:
        rop.configure(enabled=False)
        answer("a")
        rop.shutdown()
        answer("a")
    assert len(captured.assessments) == 2


def test_captures_nest(captured: Captured) -> None:
    """The inner one captures; afterwards the outer one goes on."""
    answer("a")
    with capture() as inner:
        answer("a")
    answer("a")
    assert (len(captured.assessments), len(inner.assessments)) == (2, 1)


def test_an_error_ends_the_capture(watched: Watched) -> None:
    """A test that fails leaves nothing behind."""
    with pytest.raises(ZeroDivisionError), capture():
        raise ZeroDivisionError
    answer("a")
    assert len(watched.heard.assessments) == 1


def test_misuse_raises(captured: Captured) -> None:
    """A test sees what would only be counted in production."""
    with pytest.raises(rop.RopError, match="cutoff"):
        rop.handoff("docs-qa", cutoff=0)


def test_misuse_may_be_let_through() -> None:
    """Unless it is asked for as it is in production."""
    with capture(strict=False) as captured, rop.handoff("docs-qa", cutoff=0):
        pass
    assert captured.assessments[0].verdict is rop.Verdict.DECLARATION_INVALID


def test_settings_are_those_of_configure() -> None:
    """A resolver decides what stands for the selected object, a key hashes, and a limit cuts."""
    with capture(resolver=rop.Resolver({"a": ["a", "b"]}), hash_key="k", max_ids=1) as captured:
        answer("b")
    assert captured.assessments[0].verdict is rop.Verdict.PASS
    assert captured.records[0].stages[0].returned_count == 3
    assert captured.records[0].selected != ("a",)
    with pytest.raises(ConfigurationError, match="citation_pattern"), capture(citation_pattern="("):
        pass


def test_spans_of_the_application_are_left_alone(captured: Captured) -> None:
    """The application's own spans are recorded below ours as in production."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with rop.handoff("docs-qa", selected="a"), provider.get_tracer("mine").start_as_current_span("mine"):
        retrieve("a", packed=("a",))
    (span,) = exporter.get_finished_spans()
    assert span.context is not None
    assert span.context.trace_id == 1
    assert [stage.kind for stage in captured.records[0].stages] == ["vector", "packing"]


def test_threads_are_captured(captured: Captured) -> None:
    """Handoffs of any thread are captured, each assessment beside its record."""
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: answer("a"), range(20)))
    assert [each.handoff_id for each in captured.assessments] == [each.handoff_id for each in captured.records]
    assert len({record.handoff_id for record in captured.records}) == 20


def test_what_arrives_is_asserted(captured: Captured) -> None:
    """A selected object that the reader was shown, under one label, passes both assertions."""
    answer("a")
    answer("a", selected=["a", "x"])
    with rop.handoff("unselected"):
        retrieve("a", packed=("a",))
    assert_selected_reaches_reader(captured)
    assert_labels_consistent(captured)


def test_a_loss_is_told_with_its_way(captured: Captured) -> None:
    """The message names the stage and the cause, then what each stage returned."""
    answer("a")
    answer("b")
    assert refused(assert_selected_reaches_reader, captured) == [
        "1 of 2 selected objects did not reach the reader",
        "docs-qa: FAIL, the selected object was lost at packing: packing left it out",
        "  selected: 'a'",
        "  vector returned 'a', 'b', 'c'",
        "  packing returned 'b'",
        "  reader returned 'b'",
    ]


def test_long_lists_and_rounds_are_told_briefly() -> None:
    """A long list is cut, a stage is named with its name and round, and what could not be read is said."""
    with capture(strict=False) as captured, rop.handoff("docs-qa", selected="x"):
        with rop.using_round(2), rop.using_stage("vector", name="de") as stage:
            stage.returned([str(number) for number in range(30)])
        with rop.using_stage("rerank") as stage:
            stage.returned([])
        with rop.using_stage("packing"):
            pass
    lines = refused(assert_selected_reaches_reader, captured)
    assert lines[3:] == [
        "  vector 'de', round 2, returned '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' and 20 more",
        "  rerank returned nothing",
        "  packing returned no readable IDs",
    ]


@pytest.mark.parametrize(
    ("selected", "words"),
    [(None, "SELECTOR_ERROR, a selection was due"), ("missing", "FAIL, the selected object was lost")],
)
def test_what_is_no_pass_fails(captured: Captured, selected: object, words: str) -> None:
    """A selection that did not come is no success either."""
    answer("a", selected=selected)
    assert words in refused(assert_selected_reaches_reader, captured)[1]


def test_what_cannot_be_told_fails(captured: Captured) -> None:
    """A handoff whose lists were not seen is not taken for a success."""
    with rop.handoff("docs-qa", selected="a"):
        pass
    assert "UNVERIFIABLE" in refused(assert_selected_reaches_reader, captured)[1]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"packed": ("a", "b"), "labels": ("S1", "S1")}, "label_duplicate at packing"),
        ({"packed": ("a",), "text": "It is so [S2]."}, "citation_unresolved at reader"),
        ({"packed": ("a", "b"), "labels": ("S1",)}, "labels_malformed at packing"),
    ],
)
def test_labels_that_disagree_are_told(captured: Captured, told: dict[str, tuple[str, ...]], words: str) -> None:
    """The message names the handoff, the finding and the stage."""
    packed = told.pop("packed")
    answer(*packed, **told)  # type: ignore[arg-type]
    lines = refused(assert_labels_consistent, captured)
    assert lines[0] == "labels and passages do not agree"
    assert re.match(f"docs-qa, {words}: ", lines[1])


@pytest.mark.parametrize("check", [assert_selected_reaches_reader, assert_labels_consistent])
def test_an_empty_capture_is_no_success(captured: Captured, check: Callable[[Captured], None]) -> None:
    """A test that captured nothing would pass for ever."""
    assert "no handoff was captured" in refused(check, captured)[0]


def test_a_capture_without_selection_is_no_success(captured: Captured) -> None:
    """Nor would one that selected nothing."""
    with rop.handoff("docs-qa"):
        retrieve("a", packed=("a",))
    assert "nothing was selected" in refused(assert_selected_reaches_reader, captured)[0]
    assert "no captured stage showed labels" in refused(assert_labels_consistent, captured)[0]


def test_what_goes_on_after_the_block_is_not_captured() -> None:
    """A handoff that a thread or task ends later changes no capture that was looked at, nor the next one."""
    with capture() as first:
        left_open = rop.start_handoff("docs-qa", selected="a")
    with capture() as second:
        left_open.close()
    assert (first.assessments, second.assessments) == ([], [])


def test_every_helper_is_public() -> None:
    """What stands in the module's list is there and explained."""
    assert all(getattr(testing, name).__doc__ for name in testing.__all__)


def test_a_page_of_captured_handoffs(captured: Captured, tmp_path: Path) -> None:
    """What was captured is drawn, with the resolver in force."""
    answer("a")
    answer("b")
    testing.write_page(captured, tmp_path / "page.html")
    found = blocks((tmp_path / "page.html").read_bytes())
    check_shape(found, details(found))
    assert [each["verdict"] for each in found["set-0-rows"]] == ["PASS", "FAIL"]


def test_healthy_handoffs(captured: Captured) -> None:
    """What arrives with the right labels is healthy; a handoff without a selection is, too."""
    answer("a")
    with rop.handoff("docs-qa"), rop.using_stage("vector") as stage:
        stage.returned(["a"])
    testing.assert_healthy(captured)


def test_what_is_not_healthy(captured: Captured) -> None:
    """A loss, a label that leads elsewhere and a selection that did not come are each named."""
    answer("b")
    answer("a", text="It is so [S2].")
    answer("a", selected=None)
    lines = refused(testing.assert_healthy, captured)
    assert lines[0] == "3 of 3 handoffs are not healthy"
    assert "docs-qa: FAIL, the selected object was lost at packing: packing left it out" in lines
    assert "  error: citation_unresolved at reader: the answer cites 'S2', which was not shown" in lines
    assert any(line.startswith("docs-qa: SELECTOR_ERROR") for line in lines)


def test_recorded_handoffs() -> None:
    """A handoff is assessed from what was recorded of it, without running anything."""
    found = testing.recorded(
        "docs-qa",
        testing.recorded_stage("vector", returned=["a#1", "b"]),
        testing.recorded_stage("packing", returned=["b"], input=["a#1", "b"]),
        testing.recorded_stage("rescue", returned=["a#1"], late=True),
        selected=["a"],
        resolver=rop.Resolver({"a": ["a#1"]}),
    )
    (assessment,) = found.assessments
    assert (assessment.verdict, assessment.dropped_at) == ("FAIL", "packing")
    assert [finding.code.value for finding in assessment.findings] == ["stage_late"]
    with pytest.raises(TypeError, match="'retuned' is no fact of a record"):
        testing.recorded_stage("vector", retuned=["a"])
