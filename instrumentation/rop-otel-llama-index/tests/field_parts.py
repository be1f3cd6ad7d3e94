"""What the tests of faults from the field share."""

from collections.abc import Iterator
from typing import Any

from llama_index.core import (
    PromptTemplate,
    QueryBundle,
)
from llama_index.core.llms import CompletionResponse
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index_parts import Found, Model, Watch

ASKING = [
    ResponseMode.ACCUMULATE,
    ResponseMode.COMPACT,
    ResponseMode.COMPACT_ACCUMULATE,
    ResponseMode.REFINE,
    ResponseMode.SIMPLE_SUMMARIZE,
    ResponseMode.TREE_SUMMARIZE,
]
LOST = PromptTemplate("Answer from the context.\n\nContext:\n\nQuestion: {query_str}")


class Scripted(Model):
    """A model that answers with one text after the other, the last one again and again."""

    script: list[str]

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer."""
        return CompletionResponse(text=self.script.pop(0) if len(self.script) > 1 else self.script[0])


def text(raw: str) -> str:
    """Return the text of a passage."""
    return f"This is the passage called {raw}, with details about the subject {raw}."


def nodes(*ids: str, **metadata: Any) -> list[NodeWithScore]:
    """Return passages with scores that fall."""
    return [
        NodeWithScore(node=TextNode(id_=raw, text=text(raw), metadata=dict(metadata)), score=1 - place / 10)
        for place, raw in enumerate(ids)
    ]


def found(*ids: str, **metadata: Any) -> Found:
    """Return a retriever of passages."""
    return Found(found=nodes(*ids, **metadata))


class InTurn(BaseRetriever):
    """Finds one list after the other."""

    def __init__(self, *lists: list[NodeWithScore]) -> None:
        super().__init__()
        self.lists: Iterator[list[NodeWithScore]] = iter(lists)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return next(self.lists)


def codes(watch: Watch) -> list[str]:
    """Return the codes of the findings of the only handoff."""
    return [finding.code.value for finding in watch.only.findings]


def loss(watch: Watch) -> tuple[str, str | None, str | None]:
    """Return the verdict, and where and why the selected object was lost."""
    only = watch.only
    return str(only.verdict), only.dropped_at, None if only.drop_cause is None else only.drop_cause.value
