"""Asynchronous runs, streams and generators."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import haystack
import pytest
from haystack import Document, component
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from rop_otel_haystack.patching import _Following

import rop_otel as rop
from rop_otel.instrumenting import AsyncSteps

AsyncPipeline = getattr(haystack, "AsyncPipeline", haystack.Pipeline)  # one class since version 3
KINDS = ["lexical", "vector", "fusion", "reorder", "Cut", "packing"]


def kinds(assessment: rop.Assessment) -> list[str]:
    """Return the kinds of the stages, in order, without the reader."""
    return [stage.stage for stage in assessment.stages if stage.stage != "reader"]


async def test_components_that_are_awaited_are_stages(selecting: Any, parts: Any) -> None:
    """What has ``run_async`` is watched there, what has not in the thread that it is run in; each once."""
    watch = selecting("timeouts")
    await parts.build(pipeline=AsyncPipeline).run_async(parts.question())
    assert sorted(kinds(watch.only)) == sorted(KINDS)
    assert watch.only.verdict is rop.Verdict.PASS


async def test_runs_at_the_same_time_do_not_mix(selecting: Any, parts: Any) -> None:
    """Each of several runs of one pipeline is a handoff of its own."""
    watch = selecting("timeouts")
    pipeline = parts.build(pipeline=AsyncPipeline)
    await asyncio.gather(*[pipeline.run_async(parts.question()) for _ in range(4)])
    assert [sorted(kinds(assessment)) for assessment in watch.all] == [sorted(KINDS)] * 4


def test_a_synchronous_run_of_an_asynchronous_pipeline_is_one_handoff(selecting: Any, parts: Any) -> None:
    """One run that is made of another counts once."""
    watch = selecting("timeouts")
    parts.build(pipeline=AsyncPipeline).run(parts.question())
    assert sorted(kinds(watch.only)) == sorted(KINDS)


async def test_a_generator_is_one_handoff_that_does_not_leak(selecting: Any, parts: Any) -> None:
    """A run that yields as it goes is a handoff from its first step to its last, and never its consumer's."""
    watch = selecting("timeouts")
    steps = parts.build(pipeline=AsyncPipeline).run_async_generator(parts.question())
    seen = [rop.current_handoff().id async for _ in steps]
    assert seen
    assert set(seen) == {""}
    assert sorted(kinds(watch.only)) == sorted(KINDS)


async def test_a_generator_that_is_left_ends_its_handoff(selecting: Any, parts: Any) -> None:
    """What ran until the consumer left is assessed, and the tasks that still ran are Haystack's to cancel."""
    watch = selecting("timeouts")
    async with aclosing(parts.build(pipeline=AsyncPipeline).run_async_generator(parts.question())) as steps:
        async for _ in steps:
            break
    assert kinds(watch.only)
    assert rop.current_handoff().id == ""


async def test_a_generator_that_raises_ends_its_handoff(selecting: Any, parts: Any) -> None:
    """The pipeline's own exception reaches the consumer."""
    watch = selecting("timeouts")
    inputs = parts.question() | {"embeddings": {"query_embedding": "no vector"}}
    with pytest.raises(Exception, match="embeddings") as caught:
        async for _ in parts.build(pipeline=AsyncPipeline).run_async_generator(inputs):
            pass
    assert "rop_otel" not in type(caught.value).__module__
    assert len(watch.all) == 1


async def test_leaving_a_generator_closes_the_pipelines_own() -> None:
    """What the pipeline does at its end is done when the consumer leaves, not when Python collects it."""

    class Block:
        def __enter__(self) -> None:
            """Enter."""

        def __exit__(self, *error: object) -> None:
            """Leave."""
            left.append("handoff")

    async def steps() -> AsyncGenerator[int, None]:
        try:
            yield 1
            yield 2
        finally:
            left.append("pipeline")

    left: list[str] = []
    own = steps()
    async with aclosing(AsyncSteps(own, _Following(Block()))) as handed_on:  # type: ignore[arg-type]
        async for _ in handed_on:
            break
    assert left == ["pipeline", "handoff"]


@pytest.mark.skipif(not hasattr(AsyncPipeline, "stream"), reason="pipelines stream since version 3")
async def test_a_stream_is_one_handoff(selecting: Any, parts: Any) -> None:
    """A run whose chunks are streamed is a handoff like another."""
    watch = selecting("timeouts")
    handle = parts.build(pipeline=AsyncPipeline).stream(parts.question())
    async for _ in handle:
        pass
    assert handle.result["answer"]["answers"]
    assert sorted(kinds(watch.only)) == sorted(KINDS)


async def test_methods_stay_what_they_are(selecting: Any, parts: Any) -> None:
    """Coroutine functions stay such, and signatures stay."""
    before = inspect.signature(InMemoryBM25Retriever.run), inspect.signature(AsyncPipeline.run_async)
    watch = selecting("timeouts")
    await parts.build(pipeline=AsyncPipeline).run_async(parts.question())
    assert watch.all
    assert inspect.iscoroutinefunction(InMemoryBM25Retriever.run_async)
    assert inspect.iscoroutinefunction(AsyncPipeline.run_async)
    assert (inspect.signature(InMemoryBM25Retriever.run), inspect.signature(AsyncPipeline.run_async)) == before
    InMemoryBM25Retriever(parts.notes())  # Haystack compares the signatures of run and run_async here


async def test_a_component_that_awaits_another_run_of_itself_counts_once(selecting: Any, parts: Any) -> None:
    """A ``run_async`` that calls ``run`` is one stage."""

    @component
    class EchoRanker:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"documents": documents}

        @component.output_types(documents=list[Document])
        async def run_async(self, documents: list[Document]) -> dict[str, Any]:
            return {"documents": self.run(documents=documents)["documents"][::-1]}

    watch = selecting("timeouts")
    pipeline = AsyncPipeline(connection_type_validation=False)
    pipeline.add_component("bm25", InMemoryBM25Retriever(parts.notes(), top_k=3))
    pipeline.add_component("echo", EchoRanker())
    pipeline.add_component("middle", LostInTheMiddleRanker())
    pipeline.connect("bm25", "echo")
    pipeline.connect("echo", "middle")
    await pipeline.run_async({"bm25": {"query": parts.QUERY}})
    assert kinds(watch.only) == ["lexical", "rerank", "reorder"]
