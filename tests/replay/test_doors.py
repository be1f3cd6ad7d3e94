"""What the live door says of a pipeline, replay of its exported spans says byte for byte."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rop_otel as rop
from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.handoff import Assessment, RankingFinding, Sink
from rop_otel.core.profile import Resolver
from rop_otel.replay import replay_files
from rop_otel.spans import from_sdk
from rop_otel.spans.otlp_writer import write
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.runtime import Runtime

RESOLVER = Resolver({"A": ["a", "b"], "C": ["c"]}, aliases={"A": ["alpha"]})
KINDS = ["vector", "lexical", "fusion", "rerank", "mmr", "expansion", "packing", "rescue", "reader", "dedupe"]
IDS = st.lists(st.sampled_from(["a", "b", "c", "alpha", "x", 7, None, "é"]), max_size=5)
SOME = st.none() | st.lists(st.sampled_from(["a", "A", "c", "x"]), max_size=3)


class Exported:
    """The spans of a runtime of its own, and the assessments of its handoffs."""

    def __init__(self, resolver: Resolver | None, *, max_ids: int = 1000, sinks: Sequence[Sink] = ()) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        config = Config(resolver=resolver, max_ids=max_ids)
        self.runtime = Runtime(config, tracer=provider.get_tracer(semconv.SCOPE_NAME), sinks=sinks)

    def write(self, file: Path) -> None:
        stream = io.BytesIO()
        write(map(from_sdk, self._exporter.get_finished_spans()), stream)
        file.write_bytes(stream.getvalue())


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    """Put the process's runtime back."""
    before = runtime.install(None)
    yield
    runtime.install(before)


def aligned(draw: st.DrawFn, ids: list[Any], values: st.SearchStrategy[Any]) -> list[Any] | None:
    return draw(st.none() | st.lists(values, min_size=len(ids), max_size=len(ids)))


@st.composite
def stages(draw: st.DrawFn) -> dict[str, Any]:
    """Return what one stage is told, and what runs within it."""
    ids = draw(IDS)
    told = {
        "scores": aligned(draw, ids, st.sampled_from([0.5, 1, 2.25])),
        "scopes": aligned(draw, ids, st.sampled_from(["lib", "other", ""])),
        "labels": aligned(draw, ids, st.sampled_from(["S1", "S2", "S3"])),
        "id_tokens": aligned(draw, ids, st.sampled_from([0, 10])),
        "tokens": draw(st.none() | st.just(5)),
        "token_budget": draw(st.none() | st.sampled_from([10, 100])),
    }
    return {
        "kind": draw(st.sampled_from(KINDS)),
        "name": draw(st.none() | st.sampled_from(["first", "second"])),
        "round": draw(st.none() | st.integers(1, 2)),
        "input": draw(st.none() | IDS),
        "returned": draw(st.none() | st.just((ids, told))),
        "fails": draw(st.integers(0, 9)) == 0,
        "within": draw(st.lists(stages(), max_size=1)) if draw(st.booleans()) else [],
    }


PIPELINES = st.fixed_dictionaries(
    {
        "handoff": st.fixed_dictionaries(
            {},
            optional={
                "cutoff": st.sampled_from([0, 1, 2, 5]),
                "rule": st.sampled_from(["any", "all", "most"]),
                "mode": st.sampled_from(["hard", "soft", "open", "other"]),
                "judged": st.lists(st.sampled_from(["a", "c", "alpha", 7]), max_size=3),
                "grades": st.lists(st.integers(-1, 3), max_size=3),
                "record_id": st.sampled_from(["r1", "r2"]),
                "scope": st.just("lib"),
                "expected": st.lists(st.sampled_from(KINDS), max_size=3, unique=True),
                "starved_ratio": st.sampled_from([0.1, 0.5]),
            },
        ),
        "selected": st.just(...) | SOME,
        "stages": st.lists(stages(), max_size=5),
        "answer": st.none() | st.sampled_from(["", "see [S1]", "see [S3] and [S1]"]),
        "sources": SOME,
    }
)


def run_stage(told: dict[str, Any]) -> None:
    with ExitStack() as stack:
        if told["round"]:
            stack.enter_context(rop.using_round(told["round"]))
        stage = stack.enter_context(rop.using_stage(told["kind"], name=told["name"], input=told["input"]))
        for within in told["within"]:
            run_stage(within)
        if told["returned"]:
            ids, more = told["returned"]
            stage.returned(ids, **more)
        if told["fails"]:
            raise LookupError


def run_pipeline(pipeline: dict[str, Any]) -> Assessment:
    with rop.handoff("qa", **pipeline["handoff"]) as handoff:
        if pipeline["selected"] is not ...:
            handoff.select(pipeline["selected"])
        for told in pipeline["stages"]:
            with suppress(LookupError):
                run_stage(told)
        if pipeline["answer"] is not None:
            handoff.answered(pipeline["answer"], sources=pipeline["sources"])
    return handoff.assessment


@pytest.mark.filterwarnings("ignore")
@given(st.lists(PIPELINES, min_size=1, max_size=2), st.sampled_from([None, RESOLVER]))
def test_live_is_replay(
    tmp_path_factory: pytest.TempPathFactory, pipelines: list[dict[str, Any]], resolver: Resolver | None
) -> None:
    """Whatever a pipeline does and is told, both doors come to the same assessments."""
    exported = Exported(resolver)
    runtime.install(exported.runtime)
    live = [run_pipeline(pipeline) for pipeline in pipelines]
    folder = tmp_path_factory.mktemp("doors")
    exported.write(folder / "traces.json")
    given = None
    if resolver is not None:
        given = str(folder / "resolver.json")
        Path(given).write_bytes(resolver.to_bytes())
    report = replay_files([str(folder / "traces.json")], resolver=given)
    assert [json.dumps(found.as_dict()) for found in report.assessments] == [
        json.dumps(found.as_dict()) for found in live
    ]
    assert (report.orphan_stages, report.incomplete, report.duplicates) == (0, (), ())


def test_cut_lists(tmp_path: Path) -> None:
    """Lists longer than what is kept of them are cut alike at both doors."""
    exported = Exported(None, max_ids=3)
    runtime.install(exported.runtime)
    with rop.handoff("qa", selected="5", cutoff=2) as handoff:
        with rop.using_stage("vector") as stage:
            stage.returned(range(9))
        with rop.using_stage("packing", input=range(9)) as stage:
            stage.returned(range(4))
    exported.write(tmp_path / "traces.json")
    [found] = replay_files([str(tmp_path / "traces.json")]).assessments
    assert found.as_dict() == handoff.assessment.as_dict()
    assert [stage.returned for stage in found.stages] == [9, 4]


def test_scores_decide_alike(tmp_path: Path) -> None:
    """A cut that only the scores of an earlier stage reveal is found at both doors."""
    exported = Exported(None)
    runtime.install(exported.runtime)
    with rop.handoff("qa", selected="b") as handoff:
        with rop.using_stage("rerank") as stage:
            stage.returned(["a", "b"], scores=[2.5, 1])
        with rop.using_stage("packing", input=["b", "a"]) as stage:
            stage.returned(["b"])
    exported.write(tmp_path / "traces.json")
    [found] = replay_files([str(tmp_path / "traces.json")]).assessments
    assert found.as_dict() == handoff.assessment.as_dict()
    assert [finding.code for finding in found.findings] == [RankingFinding.TOP_RANKED_CUT]


def test_packing_that_goes_on_after_its_handoff(tmp_path: Path) -> None:
    """A packing that nobody waited for leaves open what was shown, at both doors."""
    exported = Exported(None)
    runtime.install(exported.runtime)
    packed, over = Event(), Event()

    def pack() -> None:
        with rop.using_stage("packing", input=["a", "b"]) as packing:
            packing.returned(["b"])
            packed.set()
            over.wait()

    with rop.handoff("qa", selected="a") as handoff:
        with rop.using_stage("vector") as stage:
            stage.returned(["a", "b"])
        thread = Thread(target=rop.carry_context(pack))
        thread.start()
        packed.wait()
    over.set()
    thread.join()
    exported.write(tmp_path / "traces.json")
    [found] = replay_files([str(tmp_path / "traces.json")]).assessments
    assert found.as_dict() == handoff.assessment.as_dict()
    assert (found.verdict, str(found.note)) == (
        "UNVERIFIABLE",
        "its packing ended after the handoff, so what the reader was given is not known",
    )
