"""Both instrumentors at once, in a process of their own: a tracer provider cannot be taken back."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("openinference.instrumentation.haystack")

PROGRAM = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exported = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exported))
trace.set_tracer_provider(provider)

from openinference.instrumentation.haystack import HaystackInstrumentor as OpenInference
from rop_otel_haystack import HaystackInstrumentor as Ours
import rop_otel as rop

both = [Ours(), OpenInference()]
for instrumentor in both if sys.argv[1] == "ours first" else reversed(both):
    instrumentor.instrument()

from typing import Any
from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.components.rankers import MetaFieldRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tools import Tool

store = InMemoryDocumentStore()
store.write_documents([Document(id=name, content="a task", meta={"votes": 1}) for name in "ab"])
pipeline = Pipeline()
pipeline.add_component("search", InMemoryBM25Retriever(store))
pipeline.add_component("popular", MetaFieldRanker(meta_field="votes", top_k=1))
pipeline.connect("search", "popular")

@component
class Asking:
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None):
        calls = [ToolCall(tool_name="notes", arguments={"query": "task"})] if len(messages) < 5 else None
        return {"replies": [ChatMessage.from_assistant(None if calls else "Cancel it.", tool_calls=calls)]}

def find(query):
    return pipeline.run({"search": {"query": query}})["popular"]["documents"][0].content

asked = {"type": "object", "properties": {"query": {"type": "string"}}}
notes = Tool(name="notes", description="finds notes", parameters=asked, function=find)
agent = Agent(chat_generator=Asking(), tools=[notes])
agent.warm_up()
inputs = {"search": {"query": "task"}}
with rop.handoff("mine", selected="b") as handoff:
    pipeline.run(inputs)
print(handoff.assessment, [stage.stage for stage in handoff.assessment.stages])
pipeline.run(inputs)
agent.run(messages=[ChatMessage.from_user("?")])
spans = exported.get_finished_spans()
print([span.name for span in spans if "rop.verdict" in span.attributes])
def by(scope):  # Haystack 2 makes spans of its own, too
    return [span.name for span in exported.get_finished_spans() if scope in span.instrumentation_scope.name]

print(by("openinference").count("InMemoryBM25Retriever.run"))
exported.clear()
for instrumentor in both if sys.argv[2] == "ours first" else reversed(both):
    instrumentor.uninstrument()
pipeline.run(inputs)
print(by("openinference"), by("rop_otel"))
"""
EXPECTED = """\
mine: FAIL, the selected object was lost at rerank: the reranker put it too low ['lexical', 'rerank']
['handoff mine', 'handoff Pipeline', 'handoff Agent']
4
[] []
"""


@pytest.mark.parametrize("off", ["ours first", "theirs first"])
@pytest.mark.parametrize("on", ["ours first", "theirs first"])
def test_each_stage_counts_once(on: str, off: str) -> None:
    """Whichever is switched on first, a stage and a handoff count once; off again, neither leaves anything behind."""
    finished = subprocess.run([sys.executable, "-c", PROGRAM, on, off], capture_output=True, text=True, check=False)
    assert finished.stderr == ""
    assert finished.stdout == EXPECTED
